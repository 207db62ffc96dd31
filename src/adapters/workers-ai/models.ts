import type { Millis } from '../../domain/time'
import type { Embedder, LanguageModel, Reranker } from '../../ports/models'
import { list, member } from '../http-json/client'
import { createBatchEmbedder, type EmbedderSettings, termsOf } from '../http-json/embedding'
import { createReranker } from '../http-json/reranking'
import {
  ONE_TRY,
  PATIENT,
  type Patience,
  ProviderProblem,
  type Reason,
  retrying,
  SYSTEM_TIMING,
  seconds,
  TimedOut,
  type Timing,
  withTimeout,
} from '../http-json/retry'

/** The part of the AI binding (`Ai`) that is used, so that tests can replace it. */
export interface AiRunner {
  run(model: string, inputs: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>
}

export interface WorkersAiSettings {
  readonly ai: AiRunner
  readonly model: string
}

export interface AiOptions extends Partial<Patience>, Partial<Timing> {}

interface AiClient {
  /** Returns the time by which calls that begin now must be done. */
  deadline(): number
  /** @throws ProviderProblem */
  run(inputs: Record<string, unknown>, deadline?: number): Promise<unknown>
}

export const NAME = 'Workers AI'

/**
 * Permanent errors of the binding, by the code at their start, as listed at developers.cloudflare.com/workers-ai/platform/errors. Others
 * (3040 out of capacity, 3007 timeout, failures of the model) are retried.
 */
const FINAL: Readonly<Record<string, (model: string, variable: string) => readonly [string, Reason?]>> = {
  '3006': (model) => [`refused a request that is too large for ${model}; set a smaller CHUNK_SIZE`, 'too_long'],
  '3036': () => ['has used up the free allocation of this day; move to a paid plan or another provider'],
  '3042': (model, variable) => [`has no model ${model}; set ${variable}`],
  '5004': (model) => [`refused the input; ${model} may be made for something else`],
  '5006': (model) => [`refused the input; ${model} may be made for something else`],
  '5007': (model, variable) => [`has no model ${model}; set ${variable}`],
  '5016': (model) => [`wants the terms of ${model} to be agreed to first; see its page in the dashboard`],
  '5018': (model) => [`does not let this account use ${model}`],
  '3023': () => ['is not open to this account'],
  '3041': (model) => [`does not let this account use ${model}`],
}

const CODE = /\b(3\d{3}|5\d{3})\b/

/** Creates the client. @param modelVariable the setting with the name of the model, for messages */
function createAiClient({ ai, model }: WorkersAiSettings, modelVariable: string, options: AiOptions): AiClient {
  const patience: Patience = { ...PATIENT, ...options }
  const timing: Timing = { ...SYSTEM_TIMING, ...options }

  const understood = (error: unknown, timeoutMs: Millis): ProviderProblem => {
    const problem = (what: string, reason: Reason, retry: boolean) =>
      new ProviderProblem({ message: `${NAME} ${what}`, reason, retry, cause: error })
    if (error instanceof TimedOut)
      return problem(`did not answer within ${seconds(timeoutMs)}; try again`, 'timeout', true)
    const code = CODE.exec(error instanceof Error ? error.message : String(error))?.[1] ?? ''
    const [what, reason = 'status'] = FINAL[code]?.(model, modelVariable) ?? []
    if (what !== undefined) return problem(what, reason, false)
    return problem('failed; try again later', 'status', true)
  }

  const deadline = (): number => timing.now() + patience.totalMs

  return {
    deadline,
    run: (inputs, until = deadline()) =>
      retrying({ name: NAME, patience, timing, deadline: until }, async (timeoutMs) => {
        try {
          // A race in addition to the signal: not every version of the binding supports it.
          return await withTimeout(timeoutMs, (signal) => ai.run(model, inputs, { signal }))
        } catch (error) {
          throw understood(error, timeoutMs)
        }
      }),
  }
}

/**
 * The models accept at most 100 texts in a call; half of that keeps a call short. Three calls leave connections for others.
 */
const LIMITS = { texts: 50, characters: 60_000, parallel: 3 }

/** bge-m3 refuses a text that is too long unless asked to truncate it; the other models have no such parameter. */
const TAKES_TRUNCATION = /\/bge-m3$/

/** Creates an embedder for Workers AI: `{text: [text]}` returns `{data: [[number]]}`. */
export function createWorkersAiEmbedder(
  settings: WorkersAiSettings & EmbedderSettings,
  options: AiOptions = {},
): Embedder {
  const terms = termsOf(settings, options)
  const client = createAiClient(settings, 'EMBEDDING_MODEL', { ...options, ...terms.patience })
  const { model, dimensions } = settings
  const asked = TAKES_TRUNCATION.test(model) ? { truncate_inputs: true } : {}
  return createBatchEmbedder({
    provider: 'workers-ai',
    name: NAME,
    model,
    dimensions,
    limits: LIMITS,
    ...terms,
    request: async (text, deadline) => list(member(await client.run({ text, ...asked }, deadline), 'data')),
  })
}

/**
 * Creates a reranker for Workers AI: `{query, contexts: [{text}], top_k}` returns `{response: [{id, score}]}`, best first. The model reads
 * about 512 tokens of query and passage and truncates the rest.
 */
export function createWorkersAiReranker(settings: WorkersAiSettings, options: AiOptions = {}): Reranker {
  const client = createAiClient(settings, 'RERANKING_MODEL', { ...ONE_TRY, ...options })
  return createReranker({
    provider: 'workers-ai',
    name: NAME,
    model: settings.model,
    indexKey: 'id',
    scoreKey: 'score',
    request: async (query, passages) => {
      const contexts = passages.map((text) => ({ text }))
      return member(await client.run({ query, contexts, top_k: passages.length }), 'response')
    },
  })
}

/** Model families that reason unless the request turns it off, and would use all their tokens for it. */
const REASONS = /glm-|qwen3|kimi|nemotron-3|gemma-4/

/** Creates a language model for Workers AI. Newer models respond like OpenAI's, older ones with `{response: text}`. */
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
