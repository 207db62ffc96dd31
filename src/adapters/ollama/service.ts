import { parseAddress } from '../http-json/address'
import { member, parseJson } from '../http-json/body'
import { createJsonClient, type HttpOptions, type JsonClient } from '../http-json/client'
import type { ErrorAnswer, Explanation } from '../http-json/error-answer'
import type { Reason } from '../http-json/retry'

export interface OllamaSettings {
  /** OLLAMA_HOST: a URL, with or without scheme, path and credentials. */
  readonly host: string
  readonly model: string
}

export const NAME = 'Ollama'

const TOO_LONG = /context length|input length|too (long|large)/i
const MISSING_MODEL = /model .*not found|try pulling/i

/** @throws Problem unavailable when the host is not a URL */
export function createOllamaClient({ host, model }: OllamaSettings, options: HttpOptions): JsonClient {
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

/** Errors are `{"error": "…"}`; a path that Ollama does not serve is a plain-text 404. */
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
    return final(`Ollama says that ${model} is not made for this; choose a model of the right kind`)
  return null
}
