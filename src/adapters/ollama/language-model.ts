import type { LanguageModel } from '../../ports/language-model'
import { member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { ONE_TRY } from '../http-json/retry'
import { createOllamaClient, NAME, type OllamaSettings } from './service'

/**
 * Tokens reserved for instructions and text (SUMMARISED_LENGTH code points). Set on each request, because Ollama's own
 * default is smaller and it cuts longer prompts silently; always the same, because a change reloads the model.
 */
const PROMPT_TOKENS = 10_240

/** Close to the text rather than inventive. */
const TEMPERATURE = 0.2

/**
 * A chat model of an Ollama server: `POST /api/chat` without streaming. `think: false` saves reasoning models
 * their reasoning; models that cannot reason accept it as well.
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
