import type { Kind } from '../entry/kind'
import { firstCodePoints } from '../text'
import { isLater, type PackEntry } from './candidate'

/** What is said once and then said anew: of two with one name the later probably holds. Sessions and notes may share a name. */
const SAID_ANEW: ReadonlySet<Kind> = new Set<Kind>(['decision', 'plan', 'rule', 'convention', 'guide', 'claim'])
/** What one of these says another may have changed: nobody can tell whether it did. */
const AGREED: ReadonlySet<Kind> = new Set<Kind>(['decision', 'rule', 'convention', 'guide'])
/** Entries that are compared, each with each. */
const MOST = 120

/** Words that name no subject: `Node version` and `Node 24 everywhere` are about the same. */
const NO_SUBJECT =
  'version versions rule rules policy plan plans decision decisions guide convention new old current supported default ' +
  'final draft second third revised everywhere now'
const NUMBER = /^\d+$/
/** Words that the later name may have beside the subject of the earlier one. */
const BESIDE = 1

const holdsAll = (words: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
  for (const word of others) if (!words.has(word)) return false
  return true
}

/** Code points of a text that are compared. */
const COMPARED = 400
/** Of what the earlier text says, by how rare its words are, the later one says this much; so many words besides common ones. */
const SAYS = 0.4
const WORDS = 2
/** What is like so many others is one of a series (a port for each service), of which all hold; a subject is seldom decided so often. */
const SERIES = 3
/** Entries that a store is taken to have at least, so that rarity means something among few. */
const FEWEST = 20

/** The later of two that are about the same. */
export interface Later {
  readonly id: number
  /** It has the name of the earlier one, or says other numbers of the same things: then only one of them can hold. */
  readonly holds: boolean
  /** It only comes after it, about what the goal asks: nothing is known of which of them holds. */
  readonly after?: true
  /** What it says of the goal. */
  readonly says?: string
}

const tells = ({ holds, after }: Later): number => (holds ? 2 : after ? 0 : 1)

interface Said {
  readonly entry: PackEntry
  /** Of the name. */
  readonly words: ReadonlySet<string>
  readonly subject: ReadonlySet<string>
  /** Of the name and the text. */
  readonly content: ReadonlySet<string>
}

/** Whether a later entry has all the words of an earlier one's name, or the same subject in it. */
function isNamedAlike(older: Said, newer: Said): boolean {
  if (older.words.size === 0 || newer.words.size === 0) return false
  const sameSubject =
    older.subject.size > 0 &&
    newer.subject.size <= older.subject.size + BESIDE &&
    holdsAll(newer.subject, older.subject)
  return sameSubject || holdsAll(newer.words, older.words)
}

const numbersIn = (words: ReadonlySet<string>): string[] => [...words].filter((word) => NUMBER.test(word))

/** Whether a later entry is about what an earlier one says, and whether it says other numbers of it. */
function saysAnew(older: Said, newer: Said, rarity: (word: string) => number): 'no' | 'yes' | 'otherwise' {
  let [said, all, shared] = [0, 0, 0]
  for (const word of older.content) {
    if (NUMBER.test(word)) continue
    const weight = rarity(word)
    all += weight
    if (!newer.content.has(word)) continue
    said += weight
    shared++
  }
  if (shared < WORDS || said < SAYS * all) return 'no'
  const [before, after] = [numbersIn(older.content), numbersIn(newer.content)]
  return before.length > 0 && after.length > 0 && !before.every((word) => after.includes(word)) ? 'otherwise' : 'yes'
}

/**
 * Entries that a later one of the same kind and project probably says anew: their ids, and the later one. They are not superseded, since
 * nobody said so; they count less, and leave a pack to the later one where that holds and has a place.
 *
 * @param entries those first that have most to do with the goal
 * @param wordsOf words of a text that carry content
 */
export function saidAnew(
  entries: readonly PackEntry[],
  wordsOf: (text: string) => ReadonlySet<string>,
): Map<number, Later> {
  const noSubject = wordsOf(NO_SUBJECT)
  const said = entries
    .filter(({ kind, superseded }) => SAID_ANEW.has(kind) && !superseded)
    .slice(0, MOST)
    .map((entry): Said => {
      const words = wordsOf(entry.title ?? '')
      const subject = new Set([...words].filter((one) => !noSubject.has(one) && !NUMBER.test(one)))
      const content = wordsOf(`${entry.title ?? ''}\n${firstCodePoints(entry.beginning, COMPARED)}`)
      return { entry, words, subject, content }
    })
  const held = new Map<string, number>()
  for (const { content } of said) for (const word of content) held.set(word, (held.get(word) ?? 0) + 1)
  const count = Math.max(FEWEST, said.length)
  const rarity = (word: string): number => Math.log(1 + (count + 0.5) / ((held.get(word) ?? 0) + 0.5))
  const pairs: { readonly older: PackEntry; readonly newer: PackEntry; readonly now: Later }[] = []
  const alike = new Map<number, number>()
  for (const older of said)
    for (const newer of said) {
      const { entry } = newer
      if (!isLater(entry, older.entry)) continue
      if (entry.project !== older.entry.project) continue
      const sameKind = entry.kind === older.entry.kind
      if (!sameKind && !(AGREED.has(entry.kind) && AGREED.has(older.entry.kind))) continue
      const anew = sameKind && isNamedAlike(older, newer) ? 'otherwise' : saysAnew(older, newer, rarity)
      if (anew === 'no') continue
      const now: Later = sameKind
        ? { id: entry.id, holds: anew === 'otherwise' }
        : { id: entry.id, holds: false, after: true }
      pairs.push({ older: older.entry, newer: entry, now })
      if (sameKind) for (const { id } of [older.entry, entry]) alike.set(id, (alike.get(id) ?? 0) + 1)
    }
  const later = new Map<number, Later>()
  for (const { older, newer, now } of pairs) {
    if (!now.after && Math.max(alike.get(older.id) ?? 0, alike.get(newer.id) ?? 0) >= SERIES) continue
    const known = later.get(older.id)
    if (known === undefined || (tells(now) - tells(known) || now.id - known.id) > 0) later.set(older.id, now)
  }
  return later
}
