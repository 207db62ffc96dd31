import { parseAddress } from '../http-json/address'
import { member, parseJson } from '../http-json/body'
import { createJsonClient, type HttpOptions, type JsonClient } from '../http-json/client'
import type { ErrorAnswer, Explanation } from '../http-json/error-answer'
import type { Reason } from '../http-json/retry'

export interface OpenAiSettings {
  /** OPENAI_API_BASE: the URL below which `/embeddings` stands, so usually ending in `/v1`. */
  readonly base: string
  /** OPENAI_API_KEY; null for a server that wants none. */
  readonly apiKey: string | null
  readonly model: string
}

/** The servers behind OPENAI_API_BASE are many; this is what they have in common. */
export const NAME = 'The OpenAI-compatible server'

/** OpenAI itself and Azure, whose newer models refuse parameters that all others expect. */
export const isOpenAi = (base: string): boolean => /^https:\/\/([\w-]+\.)*openai\.(azure\.)?com(\/|$)/i.test(base)

const TOO_LONG = /context length|context size|maximum (input|context)|too (long|large)|less than \d+ tokens/i

/**
 * @param modelVariable the setting that names the model, for messages
 * @throws Problem unavailable when the base is not a URL
 */
export function createOpenAiClient(
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

/** Errors are `{"error": {message, code}}`; servers that imitate it write `{"error": "…"}`, `{"message"}` or `{"detail"}`. */
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
