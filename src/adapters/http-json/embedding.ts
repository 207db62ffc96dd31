import { Problem } from '../../domain/errors'
import { unitVectors } from '../../domain/meaning/vector'
import { codePointLength, firstCodePoints, trim } from '../../domain/text'
import type { Millis } from '../../domain/time'
import type { Embedder, EmbeddingPurpose, PartlyEmbedded } from '../../ports/models'
import {
  createPacing,
  type ModelSpeed,
  PATIENT,
  type Patience,
  ProviderProblem,
  patienceOf,
  SYSTEM_TIMING,
  type Timing,
  tooMuch,
} from './retry'

/**
 * Embedding models that were trained with prefixes for queries or documents lose recall without them. The prefixes are those of the model
 * cards; an unlisted model (bge-m3, text-embedding-3, all-minilm …) gets plain text.
 */
interface Prefixes {
  readonly models: RegExp
  readonly query: string
  readonly document: string
}

const ASK = 'Given a search query, retrieve relevant passages that answer the query'
const SENTENCE = 'Represent this sentence for searching relevant passages: '

/** The first pattern that matches the lower-case model name applies. */
const PREFIXES: readonly Prefixes[] = [
  { models: /qwen3-embedding|e5-.*instruct/, query: `Instruct: ${ASK}\nQuery: `, document: '' },
  { models: /nomic-embed/, query: 'search_query: ', document: 'search_document: ' },
  { models: /embeddinggemma/, query: 'task: search result | query: ', document: 'title: none | text: ' },
  { models: /(^|[/-])e5-/, query: 'query: ', document: 'passage: ' },
  { models: /arctic-embed-?(2|[lm]-v2)/, query: 'query: ', document: '' },
  { models: /arctic-embed|mxbai-embed|bge-(small|base|large)-en/, query: SENTENCE, document: '' },
]

const PLAIN = { query: '', document: '' }

/** Returns the prefixes of a model, by the purpose of a text. */
export function retrievalPrefixes(model: string): { readonly query: string; readonly document: string } {
  const name = model.toLowerCase()
  return PREFIXES.find(({ models }) => models.test(name)) ?? PLAIN
}

/** Splits texts into requests, and shortens a text that a model refuses as too long. */

/** Limits of one request. A single longer text still gets a request of its own. */
export interface BatchLimits {
  readonly texts: number
  /** UTF-16 code units, as an approximation of tokens. */
  readonly characters: number
  /** Characters of the first request, before the speed of the model is known; by default `characters`. */
  readonly first?: number
  /** Concurrent requests. A Worker may hold six connections. */
  readonly parallel: number
}

/** Minimum length of a shortened text: a shorter one is refused for another reason. */
const SHORTEST_CUT = 256

/** Returns how many of these texts to send together, from the first: at least one. */
export function batchFrom(texts: readonly string[], most: Pick<BatchLimits, 'texts' | 'characters'>): number {
  let remaining = most.characters - (texts[0]?.length ?? 0)
  let count = 1
  while (count < Math.min(texts.length, most.texts) && (texts[count]?.length ?? 0) <= remaining)
    remaining -= texts[count++]?.length ?? 0
  return count
}

/**
 * Embeds texts, halving the longest until the model accepts them. Some servers refuse texts beyond the model's context even when asked to
 * truncate (Ollama since 0.13.5), or cannot truncate (OpenAI).
 */
export async function fitting(
  texts: readonly string[],
  request: (texts: readonly string[]) => Promise<readonly unknown[]>,
): Promise<readonly unknown[]> {
  let length = Math.max(...texts.map(codePointLength))
  for (let sent = texts; ; sent = texts.map((text) => firstCodePoints(text, length))) {
    try {
      return await request(sent)
    } catch (error) {
      length = Math.floor(length / 2)
      if (!(error instanceof ProviderProblem) || error.reason !== 'too_long' || length < SHORTEST_CUT) throw error
    }
  }
}

export interface BatchEmbedder {
  readonly provider: string
  /** Display name, such as `Ollama`. */
  readonly name: string
  readonly model: string
  readonly dimensions: number
  /** Prefixes of texts; by default those of the model card. */
  readonly prefixes?: Readonly<Record<EmbeddingPurpose, string>>
  readonly limits: BatchLimits
  readonly patience: Patience
  /** Speed of this model, remembered between calls. */
  readonly speed: ModelSpeed
  /** Milliseconds. */
  readonly now: () => Millis
  /**
   * Sends one request. A timeout must not be retried here.
   *
   * @returns one untrusted vector for each text, in order; after a ProviderProblem `too_long` shorter texts are sent, after `timeout` fewer
   */
  readonly request: (
    texts: readonly string[],
    deadline: number,
    purpose: EmbeddingPurpose,
  ) => Promise<readonly unknown[]>
}

/** A text without a vector yet, with its position in the call. */
interface Waiting {
  readonly index: number
  readonly text: string
  /** Number of timeouts of requests with this text only. */
  timeouts: number
}

/**
 * Creates an embedder for any provider that accepts several texts in a request. Blank texts are not sent: their vectors are zeros.
 */
export function createBatchEmbedder(over: BatchEmbedder): Embedder {
  const { provider, name, model, dimensions, limits, request, now } = over
  const marks = over.prefixes ?? retrievalPrefixes(model)
  const pacing = createPacing(over.speed, limits, over.patience.tryMs)

  /**
   * Embeds texts in requests as large as the model manages, several at once. After a failure no further request begins.
   *
   * @returns null for each missing vector, and the reason
   */
  async function make(texts: readonly string[], purpose: EmbeddingPurpose, terms: Terms): Promise<PartlyEmbedded> {
    const { deadline, isPartial, onProgress } = terms
    const vectors = texts.map((text): Float32Array | null => (trim(text) === '' ? new Float32Array(dimensions) : null))
    const waiting = texts
      .map((text, index): Waiting => ({ index, text: marks[purpose] + text, timeouts: 0 }))
      .filter(({ index }) => vectors[index] === null)
    let problem: Problem | null = null
    let asked = false

    /** Returns the next texts to send; null when they would not be answered in time. */
    const next = (): Waiting[] | null => {
      const most = isPartial && asked ? pacing.within(deadline - now()) : Number.POSITIVE_INFINITY
      const first = waiting.slice(0, limits.texts).map(({ text }) => text)
      if ((first[0]?.length ?? 0) > most) return null
      asked = true
      const characters = Math.min(pacing.capacity(), most)
      return waiting.splice(0, batchFrom(first, { texts: limits.texts, characters }))
    }

    const ask = async (batch: readonly Waiting[]): Promise<void> => {
      const units = batch.reduce((sum, { text }) => sum + text.length, 0)
      const begun = now()
      try {
        const rows = await fitting(
          batch.map(({ text }) => text),
          (fitted) => request(fitted, deadline, purpose),
        )
        const made = unitVectors(rows, { provider: name, model, dimensions, count: batch.length })
        pacing.answered(units, now() - begun)
        for (const [i, { index }] of batch.entries()) vectors[index] = made[i] ?? null
      } catch (error) {
        if (!(error instanceof ProviderProblem) || error.reason !== 'timeout') throw error
        if (now() > begun) pacing.timedOut(units, now() - begun)
        const [only] = batch
        if (batch.length === 1 && only !== undefined && ++only.timeouts >= over.patience.tries) throw error
        if (now() >= deadline) throw error
        waiting.unshift(...batch)
      }
      await onProgress?.()
    }

    const worker = async (): Promise<void> => {
      while (waiting.length > 0 && problem === null) {
        const batch = next()
        if (batch === null) {
          problem = tooMuch(name, over.patience.tryMs)
          return
        }
        try {
          await ask(batch)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          problem = error
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(limits.parallel, waiting.length) }, worker))
    return { vectors, problem }
  }

  const whole = async (texts: readonly string[], purpose: EmbeddingPurpose, terms: Terms): Promise<Float32Array[]> => {
    const { vectors, problem } = await make(texts, purpose, terms)
    if (problem !== null) throw problem
    return vectors.map((vector) => vector ?? new Float32Array(dimensions))
  }

  return {
    provider,
    model,
    dimensions,
    capacity: () => pacing.capacity(),
    embed: (texts, purpose) => whole(texts, purpose, { deadline: now() + over.patience.totalMs }),
    embedInTime: (texts) => make(texts, 'document', { deadline: now() + over.patience.tryMs, isPartial: true }),
    embedPatiently: (texts, onProgress) => whole(texts, 'document', { deadline: Number.POSITIVE_INFINITY, onProgress }),
  }
}

/** Time limit of a call, and what happens at the limit. */
interface Terms {
  readonly deadline: number
  readonly isPartial?: true
  readonly onProgress?: () => Promise<void>
}

/** Settings of every embedder over HTTP. */
export interface EmbedderSettings {
  readonly dimensions: number
  /** EMBEDDING_TIMEOUT_S in milliseconds; 10 s by default. */
  readonly timeoutMs?: Millis
  /** Speed of this model, remembered between calls. */
  readonly speed?: ModelSpeed
}

/** Timeouts of an embedder, and the learned speed of its model. */
type EmbedderTerms = Pick<BatchEmbedder, 'patience' | 'speed' | 'now'>

export function termsOf(
  { timeoutMs, speed = { capacity: null } }: EmbedderSettings,
  options: Partial<Patience> & Partial<Pick<Timing, 'now'>>,
): EmbedderTerms {
  const { tries, tryMs, totalMs } = timeoutMs === undefined ? PATIENT : patienceOf(timeoutMs)
  const patience = { tries, tryMs, totalMs, ...options, retriesTimeouts: false }
  return { patience, speed, now: options.now ?? SYSTEM_TIMING.now }
}
