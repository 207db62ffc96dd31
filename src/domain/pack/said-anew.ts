import type { Kind } from '../entry/kind'
import { firstCodePoints } from '../text'
import { isLater, type PackEntry } from './candidate'
import { isNearlySame, type Shape } from './likeness'
import { isReplaced, type Replaced, replacedIn } from './replaced'
import { NO_SUBJECT } from './sayings'
import { WEIGHTS, type Weights } from './weights'

/** What is said once and then said anew. Sessions and notes may share a name. */
const SAID_ANEW: ReadonlySet<Kind> = new Set<Kind>(['decision', 'plan', 'rule', 'convention', 'guide', 'claim'])
/** What one of these says another may have changed: nobody can tell whether it did. */
const AGREED: ReadonlySet<Kind> = new Set<Kind>(['decision', 'rule', 'convention', 'guide'])

const NUMBER = /^\d+$/
const NUMBERS = /\d+/g

const holdsAll = (words: ReadonlySet<string>, others: ReadonlySet<string>): boolean => {
  for (const word of others) if (!words.has(word)) return false
  return true
}

/** The later of two that are about the same. */
export interface Later {
  readonly id: number
  /**
   * It says that it takes the place of the earlier one, or nearly the same with other numbers: then that one ranks below. Otherwise it
   * only comes after it, and nothing is known of which of them holds.
   */
  readonly holds: boolean
  /** What it says of the goal. */
  readonly says?: string
}

interface Said {
  readonly entry: PackEntry
  /** Of the name. */
  readonly words: ReadonlySet<string>
  readonly subject: ReadonlySet<string>
  /** Of the name and the text. */
  readonly content: ReadonlySet<string>
  /** What it says it takes the place of. */
  readonly replaced: readonly Replaced[]
  /** The text without its numbers. */
  readonly shape: Shape
}

/** Whether the names of two have one subject: "Postgres backups" is another than "Postgres". */
const hasSameSubject = (older: Said, newer: Said): boolean =>
  older.subject.size > 0 && newer.subject.size === older.subject.size && holdsAll(newer.subject, older.subject)

/** Whether a later entry is about what an earlier one says. */
function saysAnew(older: Said, newer: Said, rarity: (word: string) => number, { anew }: Weights): boolean {
  let [said, all, shared] = [0, 0, 0]
  for (const word of older.content) {
    if (NUMBER.test(word)) continue
    const weight = rarity(word)
    all += weight
    if (!newer.content.has(word)) continue
    said += weight
    shared++
  }
  return shared >= anew.words && said >= anew.says * all
}

/**
 * Entries after which a later one of the same kind and project, or a decision, rule or guide, speaks of the same: their ids, and the
 * later one. They are not superseded, since nobody said so, and none of them leaves a pack for it.
 *
 * @param entries those first that have most to do with the goal
 * @param by the words of a text that carry content, and how it is compared with others
 */
export function saidAnew(
  entries: readonly PackEntry[],
  by: { readonly wordsOf: (text: string) => ReadonlySet<string>; readonly shapeOf: (text: string) => Shape },
  weights: Weights = WEIGHTS,
): Map<number, Later> {
  const { anew } = weights
  const { wordsOf } = by
  const noSubject = wordsOf(NO_SUBJECT)
  const said = entries
    .filter(({ kind, superseded }) => SAID_ANEW.has(kind) && !superseded)
    .slice(0, anew.compared)
    .map((entry): Said => {
      const words = wordsOf(entry.title ?? '')
      const subject = new Set([...words].filter((one) => !noSubject.has(one) && !NUMBER.test(one)))
      const text = firstCodePoints(entry.beginning, anew.codePoints)
      let shape: Shape | null = null
      return {
        ...{ entry, words, subject, content: wordsOf(`${entry.title ?? ''}\n${text}`) },
        replaced: replacedIn(entry, wordsOf),
        // Most pairs are told apart by their words.
        get shape() {
          shape ??= by.shapeOf(text.replace(NUMBERS, ' '))
          return shape
        },
      }
    })
  const held = new Map<string, number>()
  for (const { content } of said) for (const word of content) held.set(word, (held.get(word) ?? 0) + 1)
  const count = Math.max(anew.fewest, said.length)
  const rarity = (word: string): number => Math.log(1 + (count + 0.5) / ((held.get(word) ?? 0) + 0.5))
  const pairs: {
    readonly older: PackEntry
    readonly newer: PackEntry
    readonly now: Later
    readonly isExplicit: boolean
  }[] = []
  const alike = new Map<number, number>()
  for (const older of said)
    for (const newer of said) {
      const { entry } = newer
      if (!isLater(entry, older.entry) || entry.project !== older.entry.project) continue
      const sameKind = entry.kind === older.entry.kind
      if (!sameKind && !(AGREED.has(entry.kind) && AGREED.has(older.entry.kind))) continue
      const replaced = isReplaced(newer.replaced, older.entry.id, older.words)
      const speaks = saysAnew(older, newer, rarity, weights)
      if (!replaced && !speaks && !(sameKind && hasSameSubject(older, newer))) continue
      const holds = replaced || (sameKind && speaks && isNearlySame(older.shape, newer.shape))
      pairs.push({ older: older.entry, newer: entry, now: { id: entry.id, holds }, isExplicit: replaced || !sameKind })
      if (sameKind && !replaced) for (const { id } of [older.entry, entry]) alike.set(id, (alike.get(id) ?? 0) + 1)
    }
  const later = new Map<number, Later>()
  for (const { older, newer, now, isExplicit } of pairs) {
    if (!isExplicit && Math.max(alike.get(older.id) ?? 0, alike.get(newer.id) ?? 0) >= anew.series) continue
    const known = later.get(older.id)
    if (known === undefined || Number(now.holds) - Number(known.holds) > 0) later.set(older.id, now)
    else if (now.holds === known.holds && now.id > known.id) later.set(older.id, now)
  }
  return later
}
