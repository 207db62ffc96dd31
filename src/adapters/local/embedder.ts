import { normalize } from '../../domain/meaning/vector'
import { STEP, type Steps, scheduler } from '../../domain/scheduler'
import type { Analyzer } from '../../domain/search/analysis'
import { COMMON_WORDS } from '../../domain/search/common-words'
import { foreignFunctionWords } from '../../domain/search/language'
import { stopWordsMark } from '../../domain/search/stop-words'
import type { Embedder } from '../../ports/models'

/** Features that one occurrence of a word adds to a vector. */
interface WordFeatures {
  /** Dimensions, possibly repeated. */
  readonly places: Uint16Array
  /** The signed weight of each feature. */
  readonly weights: Float32Array
}

/** Weight of the word itself, relative to 1 for all its character runs together. */
const WHOLE = 0.5

/** Length of a character run. */
const RUN = 4

/** Weight of stop words, so that a text of stop words only still has a vector. */
const STOP_WEIGHT = 0.2
const COMMON_WEIGHT = 0.65

/** Maximum number of words whose features are cached: an isolate lives long, and texts are untrusted. */
const REMEMBERED = 20_000

/** Initial values of the hash; different, so that a word of four letters and an equal run are two features. */
const OF_WORD = 0x811c9dc5
const OF_RUN = 0x050c5d1f

/** Returns a 32-bit hash of a text range: FNV-1a, then the final mixing of MurmurHash3 to improve the top bits. */
function hash(text: string, start: number, end: number, seed: number): number {
  let value = seed
  for (let i = start; i < end; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/**
 * Creates a function that returns the features of a term.
 *
 * @param common terms with little weight
 * @returns features that are the same on every machine and in every release
 */
function createFeatures(
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

const NONE: ReadonlySet<string> = new Set()
const MODEL = 'hashed-features-v1'
/**
 * Version of the vectors: raise it with any change of features, weights, words or stemmers. The contract defines the model's name.
 */
const REVISION = '2'
const LANGUAGE = 'english'

/** Extra weight of words at the start of a text, where titles, names and the gist are: up to 1 + LEAD times. */
const START_BONUS = 3
/** Number of content words after which the extra weight has fallen to a third. */
const START_WORDS = 15

/**
 * Code points of a chunk. A vector is the sum of its features, so long chunks hide a matching sentence, and short ones find less for
 * questions about a complete text. `bench/retrieval/recall.mjs` measures the choice.
 */
const FINEST = 1_000

/** Splits identifiers into words: `writeBoolean`, `HTTPServer`. `_` and `-` split words anyway. */
const HUMP = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

/** Yields a text in pieces of about a step, cut at spaces if there are any. */
function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const space = text.lastIndexOf(' ', from + STEP)
    const end = from + STEP >= text.length ? text.length : space > from ? space : from + STEP
    yield text.slice(from, end)
    from = end
  }
}

/** Each repetition of a word adds less: 1, 1.7, 2.1, 2.4 … */
const damped = (count: number): number => 1 + Math.log(count)

/**
 * Creates an embedder without a model and without a network. Each word, and each of its runs of four characters, is a feature that is
 * hashed
 * to a dimension with a sign. It finds texts that share words or parts of words (forms, compounds, typing errors, identifiers), not texts
 * that
 * share a meaning. The weights were chosen by measurement (`bench/retrieval`).
 *
 * @param analyzer splits texts into words. Its language is part of the model's name, so that vectors of two languages are never compared
 * @param dimensions EMBEDDING_DIM
 */
export function createLocalEmbedder(analyzer: Analyzer, dimensions = 512): Embedder {
  const common = new Set(analyzer.tokenize(COMMON_WORDS).map(({ term }) => term))
  const featuresOf = createFeatures(common, dimensions)

  /** Embeds one text. @param empty additional stop words, folded */
  function* embed(text: string, empty: ReadonlySet<string>): Steps<Float32Array> {
    const counts = new Map<string, number>()
    const stops = new Set<string>()
    let position = 0
    for (const piece of pieces(text)) {
      analyzer.eachWord(piece.replace(HUMP, ' '), ({ term, word, isStopWord }) => {
        counts.set(term, (counts.get(term) ?? 0) + 1 + START_BONUS * Math.exp(-position / START_WORDS))
        if (isStopWord || empty.has(word)) stops.add(term)
        else position++
      })
      yield piece.length
    }
    const sums = new Float32Array(dimensions)
    for (const [term, count] of counts) {
      const strength = damped(count)
      const { places, weights } = featuresOf(term, stops.has(term))
      for (let i = 0; i < places.length; i++) {
        const place = places[i] as number
        sums[place] = (sums[place] as number) + strength * (weights[i] as number)
      }
    }
    return normalize(sums)
  }

  return {
    provider: 'local',
    model: analyzer.language === LANGUAGE ? MODEL : `${MODEL}-${analyzer.language}`,
    revision: `${REVISION}${stopWordsMark(analyzer.language)}`,
    dimensions,
    finest: FINEST,
    embed: async (texts, purpose) => {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        // Only the query changes; stored vectors need not: in a product it is enough that one side has a low weight.
        const empty = purpose === 'query' ? foreignFunctionWords(text, analyzer.language) : NONE
        vectors.push(await scheduler.run(embed(text, empty)))
      }
      return vectors
    },
  }
}
