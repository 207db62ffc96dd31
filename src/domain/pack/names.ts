import type { Kind } from '../kind'
import type { PackEntry } from './candidate'

/** What is said once and then said anew: of two with one name the later probably holds. Sessions and notes may share a name. */
const SAID_ANEW: ReadonlySet<Kind> = new Set<Kind>(['decision', 'plan', 'rule', 'convention', 'guide', 'claim'])
/** Entries that are compared; names of more are rare. */
const MOST = 400

/** Words that name no subject: `Node version` and `Node 24 everywhere` are about the same. */
const NO_SUBJECT =
  'version versions rule rules policy plan plans decision decisions guide convention new old current supported default ' +
  'final draft second third revised everywhere now'
const NUMBER = /^\d+$/
/** Words that the later name may have beside the subject of the earlier one. */
const BESIDE = 1

const isLater = (a: PackEntry, b: PackEntry): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id > b.id)

const holdsAll = (words: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
  for (const word of others) if (!words.has(word)) return false
  return true
}

/**
 * Entries of the same kind and project as a later one whose name has all the words of theirs, or the same subject: their id, and the
 * later one's. They are not superseded, since nobody said so; they count less, and leave a pack to the later one where that has a place.
 */
export function outdatedByName(
  entries: readonly PackEntry[],
  wordsOf: (title: string) => ReadonlySet<string>,
): Map<number, number> {
  const noSubject = wordsOf(NO_SUBJECT)
  const named = entries
    .filter(({ kind, title, superseded }) => SAID_ANEW.has(kind) && title !== null && !superseded)
    .slice(0, MOST)
    .map((entry) => {
      const words = wordsOf(entry.title as string)
      const subject = new Set([...words].filter((one) => !noSubject.has(one) && !NUMBER.test(one)))
      return { entry, words, subject }
    })
    .filter(({ words }) => words.size > 0)
  const later = new Map<number, number>()
  for (const older of named)
    for (const newer of named) {
      const { entry } = newer
      if (!isLater(entry, older.entry)) continue
      if (entry.kind !== older.entry.kind || entry.project !== older.entry.project) continue
      const sameSubject =
        older.subject.size > 0 &&
        newer.subject.size <= older.subject.size + BESIDE &&
        holdsAll(newer.subject, older.subject)
      if ((sameSubject || holdsAll(newer.words, older.words)) && entry.id > (later.get(older.entry.id) ?? 0))
        later.set(older.entry.id, entry.id)
    }
  return later
}
