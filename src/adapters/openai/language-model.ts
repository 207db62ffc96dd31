import type { LanguageModel } from '../../ports/language-model'
import { list, member } from '../http-json/body'
import type { HttpOptions } from '../http-json/client'
import { ONE_TRY } from '../http-json/retry'
import { createOpenAiClient, isOpenAi, NAME, type OpenAiSettings } from './service'

/**
 * A chat model of any OpenAI-compatible server. No temperature is sent: OpenAI's reasoning models refuse
 * all but their own. They also spend SUMMARY_MAX_TOKENS and the time of a call on reasoning, so a plain model serves better here.
 */
export function createOpenAiLanguageModel(
  settings: OpenAiSettings & { /** SUMMARY_MAX_TOKENS */ readonly maxTokens: number },
  options: HttpOptions = {},
): LanguageModel {
  const client = createOpenAiClient(settings, 'SUMMARY_MODEL', { ...ONE_TRY, ...options })
  const { model, maxTokens, base } = settings
  // OpenAI's newer models refuse the old name, and many other servers do not know the new one.
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
