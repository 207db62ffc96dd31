import type { HttpOptions } from '../http-json/client'
import { QUICK_CHECK, remembered } from '../http-json/health'
import { createOllamaClient, type OllamaSettings } from './service'

/** @returns a ping by `POST /api/show`, which costs no tokens and knows whether the model was pulled */
export function ollamaPing(settings: OllamaSettings, options: HttpOptions = {}): () => Promise<void> {
  const client = createOllamaClient(settings, { ...QUICK_CHECK, ...options })
  const { host, model } = settings
  return remembered(`ollama ${host} ${model}`, () => client.post('/api/show', { model }), options)
}
