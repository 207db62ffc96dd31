/** What a word adds to a vector when it occurs once. */
interface WordFeatures {
  /** Dimensions, which may repeat. */
  readonly places: Uint16Array
  /** As many, with their signs. */
  readonly weights: Float32Array
}

/** Of the word as a whole, beside 1 for all its runs of characters together. */
const WHOLE = 0.5

/** Length of a run. Runs of 3 bring too much that is alike by chance, runs of 5 too little. */
const RUN = 4

/** Words without content, so that a text of such words alone has a vector too. */
const STOP_WEIGHT = 0.2
const COMMON_WEIGHT = 0.65

/** Words whose features are remembered. Bounded, because an isolate lives long and texts are other people's. */
const REMEMBERED = 20_000

/** Starting values of the hash: different ones, so that a word of four letters and an equal run are two features. */
const OF_WORD = 0x811c9dc5
const OF_RUN = 0x050c5d1f

/** 32 bits of a stretch of text: FNV-1a, then the last steps of MurmurHash3, since FNV alone leaves its top bits weak. */
function hash(text: string, start: number, end: number, seed: number): number {
  let value = seed
  for (let i = start; i < end; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/**
 * @param common terms that say little
 * @returns features of a term, the same on every machine and in every year
 */
export function createFeatures(
  common: ReadonlySet<string>,
  dimensions: number,
): (term: string, isStopWord: boolean) => WordFeatures {
  const known = new Map<string, WordFeatures>()

  const make = (term: string, isStopWord: boolean): WordFeatures => {
    const marked = `<${term}>`
    const runs = Math.max(1, marked.length - RUN + 1)
    const places = new Uint16Array(1 + runs)
    const weights = new Float32Array(1 + runs)
    const weight = isStopWord ? STOP_WEIGHT : common.has(term) ? COMMON_WEIGHT : 1
    const put = (at: number, value: number, hashed: number): void => {
      places[at] = hashed % dimensions
      weights[at] = hashed >>> 31 === 0 ? value : -value
    }
    put(0, weight * WHOLE, hash(term, 0, term.length, OF_WORD))
    for (let i = 0; i < runs; i++)
      put(1 + i, weight / Math.sqrt(runs), hash(marked, i, Math.min(i + RUN, marked.length), OF_RUN))
    return { places, weights }
  }

  return (term, isStopWord) => {
    // A word can be a stop word in one place and the stem of another word in the next.
    const key = isStopWord ? `-${term}` : term
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= REMEMBERED) known.clear()
    const made = make(term, isStopWord)
    known.set(key, made)
    return made
  }
}
