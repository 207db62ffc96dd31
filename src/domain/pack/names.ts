import type { Kind } from '../kind'
import type { PackEntry } from './candidate'

/** What is said once and then said anew: of two with one name the later probably holds. Sessions and notes may share a name. */
const SAID_ANEW: ReadonlySet<Kind> = new Set<Kind>(['decision', 'plan', 'rule', 'convention', 'guide', 'claim'])
/** Entries that are compared; names of more are rare. */
const MOST = 400

const holdsAll = (words: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
  for (const word of others) if (!words.has(word)) return false
  return true
}

/**
 * Entries of the same kind and project as a later one whose name has all the words of theirs: their id, and the later one's.
 * They are not superseded, since nobody said so; they only count less.
 */
export function outdatedByName(
  entries: readonly PackEntry[],
  wordsOf: (title: string) => ReadonlySet<string>,
): Map<number, number> {
  const named = entries
    .filter(({ kind, title, superseded }) => SAID_ANEW.has(kind) && title !== null && !superseded)
    .slice(0, MOST)
    .map((entry) => ({ entry, words: wordsOf(entry.title as string) }))
    .filter(({ words }) => words.size > 0)
  const later = new Map<number, number>()
  for (const older of named)
    for (const newer of named) {
      const { entry } = newer
      if (entry.createdAt <= older.entry.createdAt || entry.id === older.entry.id) continue
      if (entry.kind !== older.entry.kind || entry.project !== older.entry.project) continue
      if (holdsAll(newer.words, older.words) && entry.id > (later.get(older.entry.id) ?? 0))
        later.set(older.entry.id, entry.id)
    }
  return later
}
