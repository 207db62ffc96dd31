import { type Content, contentMark } from '../../domain/currency/pair'
import type { Scope } from '../../domain/identity/scope'
import type { MemoryPairs } from '../../ports/memory-pairs'

/** A listed memory. */
type Shown = Content & { readonly id: number }

/** IDs of later memories that a model judged to contradict, by the ID of the earlier one. */
export type Disagreements = ReadonlyMap<number, readonly number[]>

/** Reads the verdicts of a model about memories. Returns a function that filters them for the listed ones. */
export type FindDisagreements = (
  scope: Scope,
  ids: readonly number[],
) => Promise<(shown: readonly Shown[]) => Disagreements>

/** Reads verdicts with one bounded query. Verdicts on contents that have changed do not count. */
export const createFindDisagreements =
  ({ pairs }: { readonly pairs: Pick<MemoryPairs, 'disagreeing'> }): FindDisagreements =>
  async (scope, ids) => {
    const judged = await pairs.disagreeing(scope, ids)
    return (shown) => {
      const byId = new Map(shown.map((one) => [one.id, one]))
      const found = new Map<number, number[]>()
      for (const { later, earlier, judged: mark } of judged) {
        const [one, other] = [byId.get(later), byId.get(earlier)]
        if (one === undefined || other === undefined || mark !== contentMark(one, other)) continue
        found.set(earlier, [...(found.get(earlier) ?? []), later])
      }
      return found
    }
  }

/** Returns no disagreements, for a server without a judging model. */
export const WITHOUT_DISAGREEMENTS: FindDisagreements = async () => () => new Map()
