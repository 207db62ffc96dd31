import { summaryFrom, summaryPrompt } from '../../../domain/meaning/summary'
import type { LanguageModel } from '../../../ports/language-model'
import type { Summarizer } from '../../../ports/summarizer'

/** Makes summaries with a chat model. */
export const createSummarizer = (model: LanguageModel): Summarizer => ({
  provider: model.provider,
  model: model.model,
  summarize: async (text, source) => summaryFrom(await model.answer(summaryPrompt(text, source)), model.title),
})
