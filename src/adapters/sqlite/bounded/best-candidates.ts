import { brevityOf, COMMON } from '../../../domain/search/candidate-rules'

/** The candidates with the highest keys, chosen as the statement of a whole search chooses them, but entry by entry. */

export interface Candidate {
  readonly id: number
  /** Content words of the whole text. */
  readonly words: number
  /** Units of the query that it holds. */
  readonly held: number
  /** Which terms it holds. */
  readonly places: readonly number[]
}

export type Best = Pick<Candidate, 'id' | 'held'>

/** The shortest first, then the newest. */
const byBrevity = (a: Candidate, b: Candidate): number => brevityOf(b.words) - brevityOf(a.words) || b.id - a.id

/**
 * Of entries that hold the same terms and as many units only the shortest can be chosen, whatever terms will turn out to weigh: that needs
 * the counts of all entries. So no more are kept.
 */
export function createBest({
  rare,
  alike,
  most,
}: {
  readonly rare: number | undefined
  /** Terms weigh nothing. */
  readonly alike: boolean
  readonly most: number
}) {
  const groups = new Map<string, Candidate[]>()
  const cut = (group: Candidate[]): void => {
    group.sort(byBrevity)
    group.length = Math.min(group.length, most)
  }
  return {
    add(candidate: Candidate): void {
      const key = alike ? '' : `${candidate.held}:${candidate.places.join(' ')}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [candidate])
      else {
        group.push(candidate)
        if (group.length >= 2 * most + 1) cut(group)
      }
    },

    /** @param counts in how many entries each term stands */
    chosen(counts: readonly number[]): Best[] {
      const isWeighed = (n: number | undefined): n is number => n !== undefined && n > 0 && n <= (rare ?? COMMON)
      const highest = Math.max(...counts.filter(isWeighed), 0)
      const weights = counts.map((n) => (isWeighed(n) ? Math.round(1e6 * Math.log(1 + (10 * highest) / n)) : null))
      const keyed: { readonly candidate: Candidate; readonly key: number }[] = []
      for (const group of groups.values()) {
        cut(group)
        for (const candidate of group) {
          const own = candidate.places.flatMap((place) => weights[place] ?? [])
          // Only rare terms lead anywhere.
          if (rare !== undefined && own.length === 0) continue
          const weight = own.reduce((sum, one) => sum + one, 0)
          const evidence = weight * brevityOf(candidate.words)
          const key = alike ? brevityOf(candidate.words) : own.length === 0 ? -1 : evidence
          keyed.push({ candidate, key })
        }
      }
      keyed.sort((a, b) => b.key - a.key || b.candidate.id - a.candidate.id)
      return keyed.slice(0, most).map(({ candidate: { id, held } }) => ({ id, held }))
    },
  }
}
