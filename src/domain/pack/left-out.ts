import type { Weighed } from './evidence'
import { itemOf } from './item'
import type { LeftOut, LeftOutWhy } from './pack'

/** Of each cause the best so many are told. */
const MOST_TOLD = 20

/** What of the entries that were found stands in no pack, the best first. */
export const leftOut = (why: LeftOutWhy, some: readonly Weighed[]): LeftOut[] =>
  [...some]
    .sort((a, b) => b.score - a.score || b.entry.id - a.entry.id)
    .slice(0, MOST_TOLD)
    .map((one) => {
      const { name, type, score } = itemOf(one)
      return { why, id: one.entry.id, name, type, score }
    })
