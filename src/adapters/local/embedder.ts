import { normalize } from '../../domain/meaning/vector'
import { STEP, type Steps, scheduler } from '../../domain/scheduler'
import type { Analyzer } from '../../domain/search/analysis'
import { COMMON_WORDS } from '../../domain/search/common-words'
import { foreignFunctionWords } from '../../domain/search/language'
import { stopWordsMark } from '../../domain/search/stop-words'
import type { Embedder } from '../../ports/models'

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

const NONE: ReadonlySet<string> = new Set()
const MODEL = 'hashed-features-v1'
/** Any change of the features, the weights, the words or the stemmers makes other vectors: raise it. The name is the contract's. */
const REVISION = '2'
const LANGUAGE = 'english'

/** Words at the very beginning, where titles, names and the gist stand, count up to 1 + LEAD times. */
const LEAD = 3
/** Content words after which that bonus has fallen to a third. */
const LEAD_WORDS = 15

/**
 * Code points of a piece, since a vector of features is their sum: a sentence of ten words has a cosine of 0.2 with a text of 1,500
 * characters, which a line of three words reaches by one that both hold. How many in a hundred sentences of entries of 1,400 and 6,000
 * characters stand before all 1,451 lines of chats (LoCoMo), by size of the pieces; recall@10 of BEAM, Cranfield and CACM by meaning
 * alone; pieces of an entry of 6,000:
 *
 * | pieces | 1,400 | 6,000 | BEAM | Cranfield | CACM | of 6,000 |
 * |---|---|---|---|---|---|---|
 * | 1,500, overlap 150 | 80.8 | 79.6 | 38.8 | 35.1 | 15.3 | 5.1 |
 * | 1,000: this one | 89.7 | 85.9 | 41.0 | 33.6 | 15.4 | 7.3 |
 * | 800 | 93.2 | 91.5 | 39.9 | 33.8 | 17.5 | 9.3 |
 * | 600; an overlap of 60 is worth 1 | 92.5 | 91.5 | 41.1 | 32.4 | 17.2 | 12.6 |
 * | 500 | 95.9 | 96.5 | 38.5 | 31.5 | 16.9 | 15.3 |
 *
 * The finer, the less is found for questions that ask for a whole text (of 355 on twenty other chats, BEAM 100K, 50.1 with 800 and 46.8
 * with 500), and the more passes for an answer that is none: of 640 questions about something else 70.9 % bring nothing with 1,000 and
 * 69.7 with 800, of which the fabric contract asks 70 (`bench/retrieval/recall.mjs`); hybrid search of BEAM loses 0.6 points to words,
 * with 800 1.2.
 */
const FINEST = 1_000

/** The parts of an identifier are words: `writeBoolean`, `HTTPServer`. Parts between `_` and `-` are anyway. */
const HUMP = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

/** A text in pieces of about a step, cut at spaces where there are any. */
function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const space = text.lastIndexOf(' ', from + STEP)
    const end = from + STEP >= text.length ? text.length : space > from ? space : from + STEP
    yield text.slice(from, end)
    from = end
  }
}

/** More of a word says more, but ever less: 1, 1.7, 2.1, 2.4 … */
const damped = (count: number): number => 1 + Math.log(count)

/**
 * Vectors without a model and without a network: each word and each of its runs of four characters is a feature, hashed
 * to one of the dimensions with a sign. It finds what shares words or parts of words (forms, compounds, typing errors,
 * identifiers), not what shares a meaning. Hashing alone gives unrelated texts a cosine of 0 ± 0.04 at 512 dimensions.
 *
 * Measured as exact cosine, mean nDCG@10 over three to five hash functions, between which it varies by ± 1. Dev: questions
 * about code, and titles and last sentences of abstracts that look for their abstract. Test: Cranfield, CACM, memories of
 * developers. Weights were chosen on dev alone.
 *
 * | variant, 512 dimensions | dev | test |
 * |---|---|---|
 * | words without stop words, 1 + ln(count); √count is the same, presence alone 37.3 and 36.6 | 45.3 | 44.3 |
 * | and runs of four characters; of three to five 49.0 and 44.8, bigrams of words 45.1 and 43.0 | 49.4 | 44.3 |
 * | and less weight for common words and stop words (which at full weight cost 4 and 7) | 51.4 | 46.9 |
 * | and more weight for the beginning: this one; with int8 values 0.1 less | 55.3 | 47.7 |
 * | this one with 256, 768, 1,024, 1,536 dimensions: dev 50.8, 56.6, 57.3, 58.2; test 44.3, 49.1, 49.5, 50.4 | | |
 *
 * A word alone in one dimension makes few, violent collisions; its runs spread it out, which is worth as much as what
 * they match. Synonyms of developers' words, weights by word length and squeezed sums (x^0.8) gained nothing.
 *
 * @param analyzer decides what a word is. With another language than English the vectors differ, and so does the model's
 *   name, so that vectors of both are never compared
 * @param dimensions EMBEDDING_DIM
 */
export function createLocalEmbedder(analyzer: Analyzer, dimensions = 512): Embedder {
  const common = new Set(analyzer.tokenize(COMMON_WORDS).map(({ term }) => term))
  const featuresOf = createFeatures(common, dimensions)

  /** @param empty words that count as stop words beside the analyzer's, folded */
  function* embed(text: string, empty: ReadonlySet<string>): Steps<Float32Array> {
    const counts = new Map<string, number>()
    const stops = new Set<string>()
    let position = 0
    for (const piece of pieces(text)) {
      analyzer.eachWord(piece.replace(HUMP, ' '), ({ term, word, isStopWord }) => {
        counts.set(term, (counts.get(term) ?? 0) + 1 + LEAD * Math.exp(-position / LEAD_WORDS))
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
        // Stored vectors stay as they are: in a product the words weigh little that do so on one side.
        const empty = purpose === 'query' ? foreignFunctionWords(text, analyzer.language) : NONE
        vectors.push(await scheduler.run(embed(text, empty)))
      }
      return vectors
    },
  }
}
