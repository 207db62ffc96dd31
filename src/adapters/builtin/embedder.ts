import type { HostedModel, ModelState } from '../../domain/meaning/hosted-model'
import type { Embedder } from '../../ports/models'
import { member, parseJson } from '../http-json/client'
import { createBatchEmbedder, type EmbedderSettings, termsOf } from '../http-json/embedding'
import { type Patience, ProviderProblem, TimedOut, type Timing, withTimeout } from '../http-json/retry'

/** Service binding to the process that runs a built-in model. Only `npm start` and similar Node servers have one. */
export type ModelService = Pick<Fetcher, 'fetch'>

/** Returns the reported state of the model; `unavailable` when the process does not respond. */
export async function modelState(service: ModelService): Promise<ModelState> {
  try {
    const response = await service.fetch('http://model/state')
    return (await response.json()) as ModelState
  } catch (error) {
    return { state: 'unavailable', name: '', problem: `The model process does not respond (${String(error)})` }
  }
}

const NAME = 'The built-in model'

/** The model embeds one text after the other: larger requests gain little and delay others. */
const LIMITS = { texts: 16, characters: 16_000, parallel: 1 }

/** No prefixes: the process that runs the model adds them. */
const PLAIN = { query: '', document: '' }

const failed = (message: string, reason: 'unreachable' | 'timeout' | 'bad_answer'): ProviderProblem =>
  new ProviderProblem({ message: `${NAME} ${message}`, reason, retry: false })

/**
 * Creates an embedder for the model in the process next to the Worker: texts as JSON, vectors as float32 numbers in one body.
 */
export function createBuiltinEmbedder(
  settings: Omit<EmbedderSettings, 'dimensions'> & { readonly service: ModelService; readonly hosted: HostedModel },
  options: Partial<Patience> & Partial<Pick<Timing, 'now'>> = {},
): Embedder {
  const { service, hosted } = settings
  const { name: model, revision, dimensions, reads } = hosted
  const terms = termsOf({ ...settings, dimensions }, options)

  async function ask(texts: readonly string[], kind: 'query' | 'passage', signal: AbortSignal): Promise<number[][]> {
    const response = await service.fetch('http://model/embed', {
      method: 'POST',
      body: JSON.stringify({ kind, texts }),
      signal,
    })
    if (!response.ok) {
      const message = member(parseJson(await response.text()), 'message')
      throw failed(`failed: ${typeof message === 'string' ? message : `status ${response.status}`}`, 'unreachable')
    }
    const numbers = [...new Float32Array(await response.arrayBuffer())]
    if (numbers.length !== texts.length * dimensions)
      throw failed(`answered ${numbers.length} numbers for ${texts.length} texts of ${dimensions}`, 'bad_answer')
    return texts.map((_, i) => numbers.slice(i * dimensions, (i + 1) * dimensions))
  }

  const embedder = createBatchEmbedder({
    provider: 'builtin',
    name: NAME,
    model,
    dimensions,
    prefixes: PLAIN,
    limits: LIMITS,
    ...terms,
    request: async (texts, deadline, purpose) => {
      const ms = Math.max(1, Math.min(terms.patience.tryMs, deadline - terms.now()))
      try {
        return await withTimeout(ms, (signal) => ask(texts, purpose === 'query' ? 'query' : 'passage', signal))
      } catch (error) {
        if (error instanceof ProviderProblem) throw error
        if (error instanceof TimedOut) throw failed(`did not answer within ${Math.round(ms / 1000)} s`, 'timeout')
        throw failed(`cannot be reached: ${String(error)}`, 'unreachable')
      }
    },
  })
  return { ...embedder, revision, ...(reads !== undefined && { reads }) }
}
