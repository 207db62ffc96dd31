import type { Embedder, LanguageModel, Reranker } from '../../ports/models'
import {
  createJsonClient,
  type ErrorAnswer,
  type Explanation,
  type HttpOptions,
  type JsonClient,
  list,
  member,
  parseAddress,
  parseJson,
} from '../http-json/client'
import { createBatchEmbedder, type EmbedderSettings, termsOf } from '../http-json/embedding'
import { QUICK_CHECK, remembered } from '../http-json/health'
import { createReranker, rerankRequest } from '../http-json/reranking'
import { ONE_TRY, ProviderProblem, type Reason } from '../http-json/retry'

export interface OllamaSettings {
  /** OLLAMA_HOST: a URL, with or without scheme, path and credentials. */
  readonly host: string
  readonly model: string
}

export const NAME = 'Ollama'

const TOO_LONG = /context length|input length|too (long|large)/i
const MISSING_MODEL = /model .*not found|try pulling/i

/** Creates the client. @throws Problem unavailable when the host is not a URL */
function createOllamaClient({ host, model }: OllamaSettings, options: HttpOptions): JsonClient {
  return createJsonClient(
    {
      name: NAME,
      address: parseAddress(host, 'OLLAMA_HOST'),
      addressVariable: 'OLLAMA_HOST',
      whenUnreachable: 'start Ollama (ollama serve) or set OLLAMA_HOST',
      explain: (answer) => explain(answer, model),
    },
    options,
  )
}

/** Explains errors, which are `{"error": "…"}`; an unknown path is a plain-text 404. */
function explain({ status, text }: ErrorAnswer, model: string): Explanation | null {
  const error = String(member(parseJson(text), 'error') ?? '')
  const final = (message: string, reason: Reason = 'status') => ({ message, reason, retry: false })
  if (status === 404 && MISSING_MODEL.test(error))
    return final(`Ollama does not have the model ${model}; run: ollama pull ${model}`)
  if ((status === 400 || status === 500) && TOO_LONG.test(error))
    return final(
      `Ollama refused a text longer than ${model} can read; set a smaller CHUNK_SIZE or a model with a longer context`,
      'too_long',
    )
  if (status === 400 && /does not support/i.test(error))
    return final(`Ollama reports that ${model} does not support this; choose a model of the right kind`)
  return null
}

/**
 * Limits of a request. The first one measures the speed of the machine. One request at a time, since Ollama processes them in sequence.
 */
const LIMITS = { texts: 16, characters: 30_000, first: 6_000, parallel: 1 }

/**
 * Creates an embedder for an Ollama server: `POST /api/embed {model, input: [text], truncate}` returns `{embeddings: [[number]]}`.
 */
export function createOllamaEmbedder(settings: OllamaSettings & EmbedderSettings, options: HttpOptions = {}): Embedder {
  const terms = termsOf(settings, options)
  const client = createOllamaClient(settings, { ...options, ...terms.patience, timeoutVariable: 'EMBEDDING_TIMEOUT_S' })
  const { model, dimensions } = settings
  return createBatchEmbedder({
    provider: 'ollama',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (texts, deadline) =>
      list(member(await client.post('/api/embed', { model, input: texts, truncate: true }, deadline), 'embeddings')),
  })
}

/**
 * Paths at which a server behind an Ollama address may offer reranking. No release of Ollama reranks (issue 3368, pull request 11389).
 * Builds of such pull requests offer `/api/rerank`; llama.cpp's server and gateways in front of Ollama offer `/v1/rerank`. Both use the
 * Jina format, so both are tried and the one that exists is remembered. A plain Ollama results in an error that names the setting to use.
 */
const PATHS = ['/api/rerank', '/v1/rerank'] as const

/** Creates a reranker. @param settings the name of the model is required */
export function createOllamaReranker(settings: OllamaSettings, options: HttpOptions = {}): Reranker {
  const client = createOllamaClient(settings, { ...ONE_TRY, ...options })
  const { model } = settings
  let path: string = PATHS[0]
  return createReranker({
    provider: 'ollama',
    name: NAME,
    model,
    async request(query, passages) {
      const body = rerankRequest(model, query, passages)
      const deadline = client.deadline()
      for (const candidate of new Set([path, ...PATHS])) {
        try {
          const answer = await client.post(candidate, body, deadline)
          path = candidate
          return member(answer, 'results')
        } catch (error) {
          if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
        }
      }
      throw new ProviderProblem({
        message:
          'This Ollama has no rerank endpoint; set RERANKING_PROVIDER=openai with an OPENAI_API_BASE that serves ' +
          '/rerank (llama.cpp, vLLM, Jina), or RERANKING_PROVIDER=none',
        reason: 'no_route',
        retry: false,
      })
    },
  })
}

/**
 * Tokens reserved for instructions and text (SUMMARISED_LENGTH code points). Sent with each request, because Ollama's default is smaller
 * and it truncates longer prompts silently; always the same, because a change reloads the model.
 */
const PROMPT_TOKENS = 10_240

/** Low, so that a summary follows the text. */
const TEMPERATURE = 0.2

/**
 * Creates a language model for an Ollama server: `POST /api/chat` without streaming. `think: false` turns off reasoning; models that cannot
 * reason accept it too.
 */
export function createOllamaLanguageModel(
  settings: OllamaSettings & { /** SUMMARY_MAX_TOKENS */ readonly maxTokens: number },
  options: HttpOptions = {},
): LanguageModel {
  const client = createOllamaClient(settings, { ...ONE_TRY, ...options })
  const { model, maxTokens } = settings
  return {
    provider: 'ollama',
    model,
    title: NAME,
    async answer({ system, user }) {
      const answer = await client.post('/api/chat', {
        model,
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        stream: false,
        think: false,
        options: { num_predict: maxTokens, num_ctx: PROMPT_TOKENS + maxTokens, temperature: TEMPERATURE },
      })
      return member(member(answer, 'message'), 'content')
    },
  }
}

/** Returns a health check by `POST /api/show`, which costs no tokens and reports a missing model. */
export function ollamaPing(settings: OllamaSettings, options: HttpOptions = {}): () => Promise<void> {
  const client = createOllamaClient(settings, { ...QUICK_CHECK, ...options })
  const { host, model } = settings
  return remembered(`ollama ${host} ${model}`, () => client.post('/api/show', { model }), options)
}
