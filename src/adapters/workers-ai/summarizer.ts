import { summaryFrom, summaryPrompt } from '../../domain/meaning/summary'
import type { Summarizer } from '../../ports/summarizer'
import { list, member } from '../http-json/body'
import { ONE_TRY } from '../http-json/retry'
import { type AiOptions, createAiClient, NAME, type WorkersAiSettings } from './service'

/** Families of the catalogue that reason unless told not to, and would spend all their tokens on it. */
const REASONS = /glm-|qwen3|kimi|nemotron-3|gemma-4/

/** Summaries by a chat model of Workers AI. Newer models answer like OpenAI's, older ones `{response: text}`. */
export function createWorkersAiSummarizer(
  settings: WorkersAiSettings & { /** SUMMARY_MAX_TOKENS */ readonly maxTokens: number },
  options: AiOptions = {},
): Summarizer {
  const client = createAiClient(settings, 'SUMMARY_MODEL', { ...ONE_TRY, ...options })
  const { model, maxTokens } = settings
  const asked = REASONS.test(model) ? { chat_template_kwargs: { enable_thinking: false } } : {}
  return {
    provider: 'workers-ai',
    model,
    async summarize(text, source) {
      const { system, user } = summaryPrompt(text, source)
      const answer = await client.run({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        max_tokens: maxTokens,
        ...asked,
      })
      const choice = member(member(list(member(answer, 'choices'))[0], 'message'), 'content')
      return summaryFrom(choice ?? member(answer, 'response'), NAME)
    },
  }
}
