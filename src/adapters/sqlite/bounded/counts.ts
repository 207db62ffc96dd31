import { COMMON, COUNTED_ALL, ENOUGH, isSampled, SAMPLE } from '../../../domain/search/candidate-rules'
import type { TermCount } from '../../sql/tables/search/candidates'

/** In how many entries does a term stand? Added up over the parts of a search. */

/** Counts entries with a term up to a cap, in the order of ids. */
export function createCount(cap: number) {
  let [counted, reached]: TermCount = [0, null]
  return {
    add(ids: readonly number[]): void {
      const last = ids[Math.min(ids.length, cap - counted) - 1]
      if (last !== undefined) reached = last
      counted = Math.min(cap, counted + ids.length)
    },
    isFull: () => counted >= cap,
    value: (): TermCount => [counted, reached],
  }
}

/** The same up to `COMMON`, of many by a sample. */
export function createSampledCount() {
  const [few, sampled] = [createCount(COUNTED_ALL), createCount(COMMON / SAMPLE)]
  return {
    add(ids: readonly number[]): void {
      few.add(ids)
      sampled.add(ids.filter(isSampled))
    },
    value(): TermCount {
      const [[n, last], [inSample, reached]] = [few.value(), sampled.value()]
      return inSample < ENOUGH ? [n, last] : [SAMPLE * inSample, reached]
    },
  }
}
