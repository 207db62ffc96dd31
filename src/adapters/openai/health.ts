import type { HttpOptions } from '../http-json/client'
import { QUICK_CHECK, remembered } from '../http-json/health'
import { ProviderProblem } from '../http-json/retry'
import { createOpenAiClient, type OpenAiSettings } from './service'

/** @returns a ping by `GET /models`, which costs no tokens and looks at the key; a server without that route answers too */
export function openAiPing(settings: OpenAiSettings, options: HttpOptions = {}): () => Promise<void> {
  const client = createOpenAiClient(settings, 'the variable of the model', { ...QUICK_CHECK, ...options })
  const { base, apiKey } = settings
  const ask = () =>
    client.get('/models').catch((error: unknown) => {
      if (!(error instanceof ProviderProblem) || error.reason !== 'no_route') throw error
    })
  return remembered(`openai ${base} ${apiKey === null ? 'without' : 'with'} key`, ask, options)
}
