import { type Content, contentMark } from '../../domain/currency/pair'
import type { Scope } from '../../domain/identity/scope'
import type { MemoryPairs } from '../../ports/memory-pairs'

/** A memory that is shown. */
type Shown = Content & { readonly id: number }

/** IDs of the later memories that a model judged to say otherwise, by the ID of the earlier one. */
export type Disagreements = ReadonlyMap<number, readonly number[]>

/** Reads what a model judged of these memories; then, of those that are shown, which disagree. */
export type FindDisagreements = (
  scope: Scope,
  ids: readonly number[],
) => Promise<(shown: readonly Shown[]) => Disagreements>

/** Verdicts on contents that have changed since do not count. One bounded read. */
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

/** Where no model judges. */
export const WITHOUT_DISAGREEMENTS: FindDisagreements = async () => () => new Map()
