import type { AiRunner } from '../../src/adapters/workers-ai/models'
import { vectorOf } from './vectors'

/** The AI binding, which is a method and not a server. */
export interface FakeAi extends AiRunner {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the adapter sent; tests look into it
  readonly calls: { readonly model: string; readonly inputs: any; readonly signal: AbortSignal | undefined }[]
  /** The next calls end so, one each: an Error is thrown, a promise is waited for, another value is the answer. */
  next(...outcomes: unknown[]): void
}

/** Errors that the binding throws: a code, then words. */
export const aiError = (message: string): Error => Object.assign(new Error(message), { name: 'InferenceUpstreamError' })

export function createFakeAi({ dimensions = 8, answer = 'A summary.' } = {}): FakeAi {
  const calls: FakeAi['calls'] = []
  const outcomes: unknown[] = []
  return {
    calls,
    next: (...more) => outcomes.push(...more),
    // biome-ignore lint/suspicious/noExplicitAny: as above
    async run(model, inputs: any, options) {
      calls.push({ model, inputs, signal: options?.signal })
      if (outcomes.length > 0) {
        const outcome = await outcomes.shift()
        if (outcome instanceof Error) throw outcome
        return outcome
      }
      if (inputs.messages) return { choices: [{ message: { role: 'assistant', content: answer } }] }
      if (inputs.contexts)
        return {
          response: (inputs.contexts as { text: string }[])
            .map(({ text }, id) => ({ id, score: Math.min(1, text.length / 100) }))
            .sort((a, b) => b.score - a.score),
        }
      const texts = inputs.text as string[]
      return { shape: [texts.length, dimensions], data: texts.map((text) => vectorOf(text, dimensions)) }
    },
  }
}
