import { Problem } from '../../domain/errors'
import { fromBase64 } from '../../domain/meaning/vector'
import type { VectorChanges } from '../../ports/vector-index'
import type { PlacedVector } from './scan'
import type { Part } from './storage'

/** Which object is told what of changes? */

/** Objects beside the first: a search asks each of them. */
const MOST_PARTS = 31

export interface Planned {
  /** As it is afterwards. */
  part: Part
  isTouched: boolean
  /** It is opened by this. */
  readonly begins: boolean
  /** What it was told up to now. */
  readonly after: number
  readonly added: PlacedVector[]
  readonly removed: number[]
}

const planned = (part: Part, begins: boolean): Planned => ({
  ...{ part, begins, after: part.told, isTouched: begins, added: [], removed: [] },
})

const placed = ({ data, ...vector }: VectorChanges['added'][number]): PlacedVector => ({
  ...vector,
  values: fromBase64(data).values,
})

/**
 * What is new goes to the last object until that is full, and then to the next, which is opened; what goes, goes where its id is.
 *
 * @param parts in order of ids, with the first object before them, which was told what all were told
 * @param capacity vectors that one object may have
 * @throws Problem limit_exceeded when there would be too many objects
 */
export function planFor(
  { added, removed }: Pick<VectorChanges, 'added' | 'removed'>,
  [own, ...parts]: readonly [Part, ...Part[]],
  capacity: number,
): [Planned, ...Planned[]] {
  const plan: [Planned, ...Planned[]] = [planned(own, false), ...parts.map((part) => planned(part, false))]
  let last: Planned = plan[plan.length - 1] ?? plan[0]
  // What it was told before is there, or gone.
  for (const vector of added.filter(({ id }) => id > own.told).map(placed)) {
    if (last.part.held >= capacity) {
      if (plan.length > MOST_PARTS)
        throw new Problem(
          'limit_exceeded',
          'This org has more vectors than its Durable Objects may hold; set VECTOR_BACKEND=vectorize, or use PostgreSQL',
        )
      const n = Math.max(...plan.map(({ part }) => part.n)) + 1
      last = planned({ n, first: vector.id, told: 0, held: 0 }, true)
      plan.push(last)
    }
    last.added.push(vector)
    last.isTouched = true
    last.part = { ...last.part, told: vector.id, held: last.part.held + 1 }
  }
  for (const id of removed) {
    const of = plan.findLast(({ part }) => part.first <= id) ?? plan[0]
    of.removed.push(id)
    of.isTouched = true
  }
  return plan
}
