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

export interface OpenAiSettings {
  /** OPENAI_API_BASE: the URL of which `/embeddings` is a subpath, so it usually ends in `/v1`. */
  readonly base: string
  /** OPENAI_API_KEY; null for a server that needs none. */
  readonly apiKey: string | null
  readonly model: string
}

/** Display name of any server at OPENAI_API_BASE. */
export const NAME = 'The OpenAI-compatible server'

/**
 * Returns whether the address is OpenAI or Azure, whose newer models refuse parameters that all other servers expect.
 */
const isOpenAi = (base: string): boolean => /^https:\/\/([\w-]+\.)*openai\.(azure\.)?com(\/|$)/i.test(base)

const TOO_LONG = /context length|context size|maximum (input|context)|too (long|large)|less than \d+ tokens/i

/**
 * Creates the client.
 *
 * @param modelVariable the setting with the name of the model, for messages
 * @throws Problem unavailable when the base is not a URL
 */
function createOpenAiClient(
  { base, apiKey, model }: OpenAiSettings,
  modelVariable: string,
  options: HttpOptions,
): JsonClient {
  return createJsonClient(
    {
      name: NAME,
      address: parseAddress(base, 'OPENAI_API_BASE'),
      addressVariable: 'OPENAI_API_BASE',
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      secrets: apiKey === null ? [] : [apiKey],
      whenUnreachable: 'start it or set OPENAI_API_BASE',
      explain: (answer) => explain(answer, model, modelVariable),
    },
    options,
  )
}

/**
 * Explains errors, which are `{"error": {message, code}}`; compatible servers write `{"error": "…"}`, `{"message"}` or `{"detail"}`.
 */
function explain({ status, text }: ErrorAnswer, model: string, modelVariable: string): Explanation | null {
  const body = parseJson(text)
  const error = member(body, 'error') ?? body
  const code = String(member(error, 'code') ?? '')
  const says = [error, member(error, 'message'), member(body, 'detail'), code].filter(
    (part) => typeof part === 'string',
  )
  const detail = says.join(' ')
  const final = (message: string, reason: Reason = 'status') => ({ message, reason, retry: false })

  if (status === 401) return final(`${NAME} refused the key; set OPENAI_API_KEY`)
  if (status === 403)
    return final(`${NAME} does not let this key use ${model}; check OPENAI_API_KEY and ${modelVariable}`)
  if (status === 404 && /model/i.test(detail))
    return final(`${NAME} does not have the model ${model}; set ${modelVariable} to one that it has`)
  // Sent with 429, but waiting does not help.
  if (code === 'insufficient_quota') return final(`${NAME} says that the quota of this key is used up`)
  if ([400, 413, 422, 500].includes(status) && TOO_LONG.test(detail))
    return final(
      `${NAME} refused a text longer than ${model} can read; set a smaller CHUNK_SIZE or a model with a longer context`,
      'too_long',
    )
  return null
}

/** OpenAI accepts 2,048 texts in a request, but compatible servers as few as 32 (Text Embeddings Inference). */
const LIMITS = { texts: 32, characters: 100_000, first: 12_000, parallel: 4 }

/** Models that accept a number of dimensions. Other servers refuse an unknown parameter. */
const TAKES_DIMENSIONS = /(^|\/)text-embedding-3-/

/** Returns vectors in the order of the texts; responses may come in any order, with an `index`. */
function inOrder(data: readonly unknown[]): unknown[] {
  const place = (item: unknown): number => Number(member(item, 'index') ?? 0)
  return [...data].sort((a, b) => place(a) - place(b)).map((item) => member(item, 'embedding'))
}

/**
 * Creates an embedder for any OpenAI-compatible server: `POST /embeddings {model, input: [text]}` returns `{data: [{index, embedding}]}`.
 */
export function createOpenAiEmbedder(settings: OpenAiSettings & EmbedderSettings, options: HttpOptions = {}): Embedder {
  const terms = termsOf(settings, options)
  const client = createOpenAiClient(settings, 'EMBEDDING_MODEL', {
    ...options,
    ...terms.patience,
    timeoutVariable: 'EMBEDDING_TIMEOUT_S',
  })
  const { model, dimensions } = settings
  const asked = TAKES_DIMENSIONS.test(model) ? { dimensions } : {}
  return createBatchEmbedder({
    provider: 'openai',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (input, deadline) =>
      inOrder(list(member(await client.post('/embeddings', { model, input, ...asked }, deadline), 'data'))),
  })
}

/**
 * Creates a reranker for a server with `POST /rerank` in the format of Jina and Cohere below OPENAI_API_BASE (Jina, vLLM, llama.cpp with
 * `--reranking`, most gateways). OpenAI itself has no such endpoint.
 */
export function createOpenAiReranker(settings: OpenAiSettings, options: HttpOptions = {}): Reranker {
  const client = createOpenAiClient(settings, 'RERANKING_MODEL', { ...ONE_TRY, ...options })
  const { model } = settings
  return createReranker({
    provider: 'openai',
    name: NAME,
    model,
    async request(query, passages) {
      try {
        return member(await client.post('/rerank', rerankRequest(model, query, passages)), 'results')
      } catch (error) {
        if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
        throw new ProviderProblem({
          ...error.failure,
          message:
            `${NAME} has no /rerank endpoint; set OPENAI_API_BASE to one that has (Jina, vLLM, llama.cpp), or ` +
            'RERANKING_PROVIDER=none',
        })
      }
    },
  })
}

/**
 * Creates a language model for any OpenAI-compatible server. It sends no temperature: OpenAI's reasoning models refuse any but their
 * default. They also use up SUMMARY_MAX_TOKENS and the time limit for reasoning, so a plain model is a better choice.
 */
export function createOpenAiLanguageModel(
  settings: OpenAiSettings & { /** SUMMARY_MAX_TOKENS */ readonly maxTokens: number },
  options: HttpOptions = {},
): LanguageModel {
  const client = createOpenAiClient(settings, 'SUMMARY_MODEL', { ...ONE_TRY, ...options })
  const { model, maxTokens, base } = settings
  // OpenAI's newer models refuse the old name, and many other servers do not support the new one.
  const limit = isOpenAi(base) ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }
  return {
    provider: 'openai',
    model,
    title: NAME,
    async answer({ system, user }) {
      const answer = await client.post('/chat/completions', {
        model,
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        ...limit,
      })
      return member(member(list(member(answer, 'choices'))[0], 'message'), 'content')
    },
  }
}

/**
 * Returns a health check by `GET /models`, which costs no tokens and checks the key; a server without that route counts as healthy.
 */
export function openAiPing(settings: OpenAiSettings, options: HttpOptions = {}): () => Promise<void> {
  const client = createOpenAiClient(settings, 'the variable of the model', { ...QUICK_CHECK, ...options })
  const { base, apiKey } = settings
  const ask = () =>
    client.get('/models').catch((error: unknown) => {
      if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
    })
  return remembered(`openai ${base} ${apiKey === null ? 'without' : 'with'} key`, ask, options)
}
