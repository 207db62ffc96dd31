import { Problem } from '../../domain/errors'
import { retrievalMarks } from '../../domain/meaning/retrieval-prompt'
import { unitVectors } from '../../domain/meaning/vector'
import { trim } from '../../domain/text'
import type { Millis } from '../../domain/time'
import type { Embedder, EmbeddingPurpose, PartlyEmbedded } from '../../ports/embedder'
import { type BatchLimits, batchFrom, fitting } from './fitting'
import { createPacing, type ModelSpeed } from './pacing'
import { type Patience, ProviderProblem, tooMuch } from './retry'

export interface BatchEmbedder {
  readonly provider: string
  /** As callers know the provider: `Ollama`. */
  readonly name: string
  readonly model: string
  readonly dimensions: number
  /** Prefixes of texts; by default those of the model's card. */
  readonly marks?: Readonly<Record<EmbeddingPurpose, string>>
  readonly limits: BatchLimits
  readonly patience: Patience
  /** Of this model, kept from call to call. */
  readonly speed: ModelSpeed
  /** Milliseconds. */
  readonly now: () => Millis
  /**
   * Sends one request, which is not to be tried again after a time-out.
   *
   * @returns one untrusted vector a text, in order; a ProviderProblem `too_long` makes it try with shorter texts, `timeout` with fewer
   */
  readonly request: (
    texts: readonly string[],
    deadline: number,
    purpose: EmbeddingPurpose,
  ) => Promise<readonly unknown[]>
}

/** Texts that are left when a model does not answer, with its place in the call. */
interface Waiting {
  readonly index: number
  readonly text: string
  /** Requests for it alone that were not answered in time. */
  timeouts: number
}

/** An Embedder over any provider that takes several texts in a request. Blank texts are never sent: they are zeros. */
export function createBatchEmbedder(over: BatchEmbedder): Embedder {
  const { provider, name, model, dimensions, limits, request, now } = over
  const marks = over.marks ?? retrievalMarks(model)
  const pacing = createPacing(over.speed, limits, over.patience.tryMs)

  /**
   * Makes vectors in requests as large as the model manages, several at once; after a failure nothing new is begun.
   *
   * @returns null for what was not made, and why
   */
  async function make(texts: readonly string[], purpose: EmbeddingPurpose, terms: Terms): Promise<PartlyEmbedded> {
    const { deadline, isPartial, onProgress } = terms
    const vectors = texts.map((text): Float32Array | null => (trim(text) === '' ? new Float32Array(dimensions) : null))
    const waiting = texts
      .map((text, index): Waiting => ({ index, text: marks[purpose] + text, timeouts: 0 }))
      .filter(({ index }) => vectors[index] === null)
    let problem: Problem | null = null
    let asked = false

    /** What is sent next; null where it would not be answered in time. */
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

/** How long a call of the embedder may take, and what it does then. */
interface Terms {
  readonly deadline: number
  readonly isPartial?: true
  readonly onProgress?: () => Promise<void>
}
