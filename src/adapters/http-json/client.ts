import type { Millis } from '../../domain/time'
import type { Address } from './address'
import { parseJson, readExcerpt, readText, TooLarge } from './body'
import { type ErrorAnswer, type Explanation, retryAfterMs, usualReading } from './error-answer'
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
} from './retry'

/** Speaks JSON with one provider: bounded in time and size, patient with passing faults, discreet about secrets. */
export interface JsonClient {
  /** The instant at which requests that begin now must be done. Several requests of one call share it. */
  deadline(): number
  /**
   * @returns the parsed answer, untrusted
   * @throws ProviderProblem
   */
  post(path: string, body: unknown, deadline?: number): Promise<unknown>
  /** The same without a body, for questions that cost nothing. */
  get(path: string): Promise<unknown>
}

interface Service {
  /** As callers know it: `Ollama`. */
  readonly name: string
  readonly address: Address
  /** The setting that holds the address. */
  readonly addressVariable: string
  readonly headers?: Readonly<Record<string, string>>
  /** Keys, which are blotted out of everything that is logged. */
  readonly secrets?: readonly string[]
  /** What to do when nobody answers, in the imperative. */
  readonly whenUnreachable: string
  /** What the provider's own errors mean; null for the usual reading of the status. */
  readonly explain?: (answer: ErrorAnswer) => Explanation | null
}

export interface HttpOptions extends Partial<Patience>, Partial<Timing> {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Bytes of an answer. 128 vectors of 1,536 numbers are about 4 MB of JSON. */
  readonly maxBytes?: number
  /** The setting that says how long a try may take, where there is one. */
  readonly timeoutVariable?: string
}

const MAX_BYTES = 16_000_000
const MAX_ERROR_BYTES = 16_000
/** Characters of an error answer that go to the log. */
const LOGGED = 500

export function createJsonClient(service: Service, options: HttpOptions = {}): JsonClient {
  const patience: Patience = { ...PATIENT, ...options }
  const timing: Timing = { ...SYSTEM_TIMING, ...options }
  const maxBytes = options.maxBytes ?? MAX_BYTES
  // A wrapper, because workerd's fetch refuses to be called as a method of another object.
  const send = options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init))
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...service.address.headers }
  const secrets = [...service.address.secrets, ...(service.secrets ?? [])].filter((secret) => secret !== '')

  const longer = options.timeoutVariable === undefined ? '' : ` or raise ${options.timeoutVariable}`

  const blot = (text: string): string => secrets.reduce((blotted, secret) => blotted.replaceAll(secret, '***'), text)

  const failed = (
    path: string,
    what: { message: string; reason: Reason; retry: boolean; detail: string; waitMs?: Millis | undefined },
  ): ProviderProblem =>
    new ProviderProblem({
      message: what.message,
      reason: what.reason,
      retry: what.retry,
      waitMs: what.waitMs,
      // Only text, never the error object: its own causes may hold the request.
      cause: new Error(blot(`${service.address.shown(path)}: ${what.detail}`)),
    })

  const refused = async (path: string, response: Response): Promise<ProviderProblem> => {
    const { status } = response
    const text = await readExcerpt(response, MAX_ERROR_BYTES)
    const detail = `status ${status} ${text.slice(0, LOGGED)}`
    const explained = service.explain?.({ status, path, text }) ?? usualReading(service, status)
    const waits = status === 429 || status === 503
    const waitMs = waits ? retryAfterMs(response.headers.get('retry-after'), timing.now()) : undefined
    return failed(path, { ...explained, detail, waitMs })
  }

  const attempt = async (path: string, body: string | null, signal: AbortSignal): Promise<unknown> => {
    const fails = (reason: Reason, retry: boolean, message: string, error: unknown): ProviderProblem =>
      failed(path, { message: `${service.name} ${message}`, reason, retry, detail: String(error) })
    let response: Response
    try {
      response = await send(service.address.at(path), {
        method: body === null ? 'GET' : 'POST',
        headers: { ...headers, ...service.headers },
        body,
        signal,
        // Followed nowhere: a redirect could carry the key to another host. workerd does not know `error`.
        redirect: 'manual',
      })
    } catch (error) {
      const why = error instanceof Error && error.cause !== undefined ? `${error} (${error.cause})` : error
      throw fails('unreachable', true, `cannot be reached; ${service.whenUnreachable}`, why)
    }
    if (!response.ok) throw await refused(path, response)
    let text: string
    try {
      text = await readText(response, maxBytes)
    } catch (error) {
      if (error instanceof TooLarge) throw fails('bad_answer', false, 'answered more than was asked for', error)
      throw fails('bad_answer', true, 'closed the connection in the middle of its answer; try again', error)
    }
    const parsed = parseJson(text)
    if (parsed !== undefined) return parsed
    const message = `answered something that is not JSON; check ${service.addressVariable}`
    throw fails('bad_answer', true, message, text.slice(0, LOGGED))
  }

  const deadline = (): number => timing.now() + patience.totalMs

  const ask = (path: string, body: string | null, until: number): Promise<unknown> =>
    retrying({ name: service.name, patience, timing, deadline: until }, async (timeoutMs) => {
      try {
        return await withTimeout(timeoutMs, (signal) => attempt(path, body, signal))
      } catch (error) {
        if (!(error instanceof TimedOut)) throw error
        const message = `${service.name} did not answer within ${seconds(timeoutMs)}; it may still be loading the model, try again${longer}`
        throw failed(path, { message, reason: 'timeout', retry: true, detail: error.message })
      }
    })

  return {
    deadline,
    post: (path, body, until = deadline()) => ask(path, JSON.stringify(body), until),
    get: (path) => ask(path, null, deadline()),
  }
}
