import type { Kind } from '../entry/kind'
import type { Analyzer } from '../search/analysis'
import { firstCodePoints } from '../text'

/**
 * Compares memories by their weighted words, to find those on the same subject. One rule for writes and reads. It finds
 * the subject and the later memory; a reader decides whether the later one replaces the earlier one.
 */
export const SUBJECT = {
  /** Minimum cosine for an earlier memory to be reported when a later one is written. */
  named: 0.18,
  /**
   * Thresholds for two memories in one list of which each is the most similar to the other. `alike`: minimum cosine for
   * the same subject. `scoredAlike`: minimum cosine for two of one kind where the lower score is at least `share` of
   * the higher one. `nearlySame`: cosine from which it is enough that one of them is not more similar to a third.
   */
  shown: { alike: 0.25, scoredAlike: 0.1, share: 0.55, nearlySame: 0.5 },
  /** Maximum number of earlier memories in the answer to a write. */
  most: 3,
  /** Code points of a text that are compared. */
  codePoints: 1_500,
  /** Minimum number of memories for term rarity, so that the words of a few memories are not all common. */
  smallestSet: 40,
} as const

/** Kinds of memories that a later memory can replace; a note counts where it has a title. */
export const REPLACEABLE: ReadonlySet<Kind> = new Set<Kind>([
  ...(['decision', 'rule', 'convention', 'guide', 'gotcha', 'procedure'] as const),
  ...(['claim', 'note'] as const),
])

/** Whether a memory has a subject. A note without a title, such as a message of a conversation, has none. */
export const hasSubject = ({ kind, title }: { readonly kind: Kind; readonly title: string | null }): boolean =>
  (title ?? '').trim() !== '' || (kind !== 'note' && kind !== 'claim' && kind !== 'session' && kind !== 'episode')

/** The words of a memory that carry content, each with a weight that grows with how often it occurs. */
export type Subject = ReadonlyMap<string, number>

export function subjectOf(title: string | null, text: string, analyzer: Analyzer): Subject {
  const counts = new Map<string, number>()
  const compared = `${title ?? ''}\n${firstCodePoints(text, SUBJECT.codePoints)}`
  analyzer.eachWord(compared, ({ term, isStopWord }) => {
    if (!isStopWord) counts.set(term, (counts.get(term) ?? 0) + 1)
  })
  for (const [term, count] of counts) counts.set(term, 1 + Math.log(count))
  return counts
}

/**
 * Compares memories of one set by their words, the rarer in the set the heavier.
 *
 * @returns the cosine of two of them by their places, 0 to 1
 */
export function similarityIn(subjects: readonly Subject[]): (a: number, b: number) => number {
  const holding = new Map<string, number>()
  for (const subject of subjects) for (const term of subject.keys()) holding.set(term, (holding.get(term) ?? 0) + 1)
  const size = Math.max(SUBJECT.smallestSet, subjects.length)
  const rarity = (term: string): number => {
    const held = holding.get(term) as number
    return Math.log(1 + (size - held + 0.5) / (held + 0.5))
  }
  const weighted = subjects.map(
    (subject) => new Map([...subject].map(([term, weight]) => [term, weight * rarity(term)])),
  )
  const lengths = weighted.map((words) => Math.sqrt([...words.values()].reduce((sum, w) => sum + w * w, 0)))
  return (a, b) => {
    const [one, other] = [weighted[a] as Subject, weighted[b] as Subject]
    const [small, large] = one.size < other.size ? [one, other] : [other, one]
    let product = 0
    for (const [term, weight] of small) product += weight * (large.get(term) ?? 0)
    const length = (lengths[a] as number) * (lengths[b] as number)
    return length === 0 ? 0 : product / length
  }
}
