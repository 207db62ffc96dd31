import type { LanguageModel } from '../../ports/language-model'
import { list, member } from '../http-json/body'
import { ONE_TRY } from '../http-json/retry'
import { type AiOptions, createAiClient, NAME, type WorkersAiSettings } from './service'

/** Families of the catalogue that reason unless the request forbids it, and would spend all their tokens on it. */
const REASONS = /glm-|qwen3|kimi|nemotron-3|gemma-4/

/** A chat model of Workers AI. Newer models answer like OpenAI's, older ones `{response: text}`. */
export function createWorkersAiLanguageModel(
  settings: WorkersAiSettings & { /** SUMMARY_MAX_TOKENS */ readonly maxTokens: number },
  options: AiOptions = {},
): LanguageModel {
  const client = createAiClient(settings, 'SUMMARY_MODEL', { ...ONE_TRY, ...options })
  const { model, maxTokens } = settings
  const asked = REASONS.test(model) ? { chat_template_kwargs: { enable_thinking: false } } : {}
  return {
    provider: 'workers-ai',
    model,
    title: NAME,
    async answer({ system, user }) {
      const answer = await client.run({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        max_tokens: maxTokens,
        ...asked,
      })
      const choice = member(member(list(member(answer, 'choices'))[0], 'message'), 'content')
      return choice ?? member(answer, 'response')
    },
  }
}
