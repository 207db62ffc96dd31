import type { Millis } from '../../domain/time'
import {
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

/** The part of the AI binding (`Ai`) that is used, so that tests can stand in for it. */
export interface AiRunner {
  run(model: string, inputs: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>
}

export interface WorkersAiSettings {
  readonly ai: AiRunner
  readonly model: string
}

export interface AiOptions extends Partial<Patience>, Partial<Timing> {}

interface AiClient {
  /** The instant at which calls that begin now must be done. */
  deadline(): number
  /** @throws ProviderProblem */
  run(inputs: Record<string, unknown>, deadline?: number): Promise<unknown>
}

export const NAME = 'Workers AI'

/**
 * Errors of the binding begin with a code, as listed at developers.cloudflare.com/workers-ai/platform/errors. Those that
 * are not here (3040 out of capacity, 3007 time-out, failures of the model) may pass.
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

/** @param modelVariable the setting that names the model, for messages */
export function createAiClient({ ai, model }: WorkersAiSettings, modelVariable: string, options: AiOptions): AiClient {
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
          // A race besides the signal: not every version of the binding listens to it.
          return await withTimeout(timeoutMs, (signal) => ai.run(model, inputs, { signal }))
        } catch (error) {
          throw understood(error, timeoutMs)
        }
      }),
  }
}
