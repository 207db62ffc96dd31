import { retrievalMarks } from '../../domain/meaning/retrieval-prompt'
import { unitVectors } from '../../domain/meaning/vector'
import { codePointLength, firstCodePoints, trim } from '../../domain/text'
import type { Embedder } from '../../ports/embedder'
import { ProviderProblem } from './retry'

/** What one request may hold. A single longer text still makes a request of its own. */
export interface BatchLimits {
  readonly texts: number
  /** UTF-16 code units, as a cheap stand-in for tokens. */
  readonly characters: number
  /** Requests under way at once. A Worker may hold six connections in all. */
  readonly parallel: number
}

export interface BatchEmbedder {
  readonly provider: string
  /** As callers know the provider: `Ollama`. */
  readonly name: string
  readonly model: string
  readonly dimensions: number
  readonly limits: BatchLimits
  readonly deadline: () => number
  /** @returns one untrusted vector a text, in order; a ProviderProblem `too_long` makes it try with shorter texts */
  readonly request: (texts: readonly string[], deadline: number) => Promise<readonly unknown[]>
}

/** Shorter texts than this are refused for another reason than their length. */
const SHORTEST_CUT = 256

export function batchesOf(texts: readonly string[], limits: Pick<BatchLimits, 'texts' | 'characters'>): string[][] {
  const batches: string[][] = []
  let room = 0
  for (const text of texts) {
    const last = batches.at(-1)
    if (last !== undefined && last.length < limits.texts && text.length <= room) {
      last.push(text)
      room -= text.length
    } else {
      batches.push([text])
      room = limits.characters - text.length
    }
  }
  return batches
}

/** Results in order, at most `parallel` at work at once; after a failure nothing new is begun. */
async function inParallel<T, R>(items: readonly T[], parallel: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let failed = false
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++
      try {
        results[index] = await work(items[index] as T)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker))
  return results
}

/**
 * Some servers refuse a text beyond the model's context although they were told to truncate it (Ollama since 0.13.5) or
 * have no such switch (OpenAI). The texts of such a batch are cut to half of the longest, and again, until they fit.
 */
async function fitting(
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

/** An Embedder over any provider that takes several texts in a request. Blank texts are never sent: they are zeros. */
export function createBatchEmbedder(over: BatchEmbedder): Embedder {
  const { provider, name, model, dimensions, limits, request } = over
  const marks = retrievalMarks(model)
  return {
    provider,
    model,
    dimensions,
    async embed(texts, purpose) {
      const sent = texts.flatMap((text) => (trim(text) === '' ? [] : [marks[purpose] + text]))
      const deadline = over.deadline()
      const vectors = await inParallel(batchesOf(sent, limits), limits.parallel, async (batch) => {
        const rows = await fitting(batch, (fitted) => request(fitted, deadline))
        return unitVectors(rows, { provider: name, model, dimensions, count: batch.length })
      })
      const inOrder = vectors.flat().values()
      return texts.map((text) =>
        trim(text) === '' ? new Float32Array(dimensions) : (inOrder.next().value as Float32Array),
      )
    },
  }
}
