import { unavailable } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import {
  PATIENT,
  type Patience,
  type ProviderFailure,
  ProviderProblem,
  type Reason,
  retrying,
  SYSTEM_TIMING,
  seconds,
  TimedOut,
  type Timing,
  withTimeout,
} from './retry'

/** Address of a provider, split into what may be logged and what may not. */
export interface Address {
  /** Returns the URL of a path below the base, without credentials. */
  readonly at: (path: string) => string
  /** Returns the URL for logs: also without the query, which may hold a key. */
  readonly shown: (path: string) => string
  /** Credentials of the URL as a header: `fetch` refuses URLs that contain them. */
  readonly headers: Readonly<Record<string, string>>
  /** Strings that must not appear in any message or log line. */
  readonly secrets: readonly string[]
}

/** Link-local addresses, at which clouds serve the credentials of a machine; refused as a provider. */
const LINK_LOCAL = /^(169\.254\.\d+\.\d+|\[fe[89ab][0-9a-f]?:.*\]|\[::ffff:a9fe:.*\])\.?$/i
const METADATA_HOST = /^(\[fd00:ec2::254\]|metadata(\.google\.internal)?|instance-data)\.?$/i
const isMetadataService = (hostname: string): boolean => LINK_LOCAL.test(hostname) || METADATA_HOST.test(hostname)

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i

const basic = (user: string, password: string): string =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Parses the configured address of a provider.
 *
 * @param value without a scheme it is http, as Ollama's own tools read `localhost:11434`
 * @param variable name of the setting, for the message
 * @throws Problem unavailable that names the setting, but never its value, which may contain a password
 */
export function parseAddress(value: string, variable: string): Address {
  const text = SCHEME.test(value) ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw unavailable(`${variable} is not a web address; write it like http://localhost:11434`)
  if (isMetadataService(url.hostname))
    throw unavailable(`${variable} is the address of a cloud's metadata service, not of a model`)
  const [user, password] = [decoded(url.username), decoded(url.password)]
  const authorization = user === '' && password === '' ? null : basic(user, password)
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return {
    at: (path) => `${base}${path}${url.search}`,
    shown: (path) => `${base}${path}`,
    headers: authorization === null ? {} : { authorization },
    secrets: [url.password, password, authorization?.slice('Basic '.length) ?? '', url.search.slice(1)].filter(
      (secret) => secret !== '',
    ),
  }
}

/** A response was larger than the allowed maximum. */
class TooLarge extends Error {}

/**
 * Reads the text of a response, holding at most `limit` bytes.
 *
 * @throws TooLarge; any error of the connection
 */
export async function readText(response: Response, limit: number): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw new TooLarge(`more than ${limit} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Reads the start of an error page for the log; empty when it cannot be read. */
async function readExcerpt(response: Response, limit: number): Promise<string> {
  try {
    return await readText(response, limit)
  } catch {
    return ''
  }
}

/** Parses JSON; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Returns a member of an untrusted value; undefined when it is missing. */
export const member = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined

/** Returns an untrusted value as a list; empty when it is not a list. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** An error response of a provider. */

export interface ErrorAnswer {
  readonly status: number
  readonly path: string
  /** At most 16 KB of the response. */
  readonly text: string
}

/** Meaning of an error response. */
export type Explanation = Pick<ProviderFailure, 'message' | 'reason' | 'retry'>

/**
 * Statuses worth a retry: timeouts, conflicts of a starting server, rate limits, and failures of the server or a proxy.
 */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])

/** Parses Retry-After. @param value seconds, or a date */
export function retryAfterMs(value: string | null, now: Millis): Millis | undefined {
  if (value === null) return undefined
  const trimmed = value.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000
  const date = Date.parse(trimmed)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Explains an error response by its status. @param service its display name, and the setting with its address */
function usualReading(
  { name, addressVariable }: { readonly name: string; readonly addressVariable: string },
  status: number,
): Explanation {
  const retry = PASSING.has(status)
  const says = (what: string, reason: Reason = 'status') => ({ message: `${name} ${what}`, reason, retry })
  // Status 0 is a redirect that was not followed.
  if (status === 0 || (status >= 300 && status < 400))
    return says(`answered with a redirect, which is not followed; set ${addressVariable} to where it leads`)
  if (status === 401 || status === 403) return says(`refused the credentials (status ${status}); check its key`)
  if (status === 404 || status === 405) return says(`has no such endpoint; check ${addressVariable}`, 'no_route')
  if (status === 429) return says('is over its rate limit; try again later')
  if (retry) return says(`failed (status ${status}); try again, or look at its log`)
  return says(`refused the request (status ${status}); look at the log of this server`)
}

/** Sends JSON requests to one provider, with limits on time and size, retries, and without logging secrets. */
export interface JsonClient {
  /** Returns the time by which requests that begin now must be done. Several requests of one call share it. */
  deadline(): number
  /**
   * Sends a request.
   *
   * @returns the parsed response, untrusted
   * @throws ProviderProblem
   */
  post(path: string, body: unknown, deadline?: number): Promise<unknown>
  /** Sends a request without a body, for calls that cost nothing. */
  get(path: string): Promise<unknown>
}

interface Service {
  /** Display name, such as `Ollama`. */
  readonly name: string
  readonly address: Address
  /** Name of the setting with the address. */
  readonly addressVariable: string
  readonly headers?: Readonly<Record<string, string>>
  /** Keys to remove from everything that is logged. */
  readonly secrets?: readonly string[]
  /** Advice for an unreachable server, in the imperative. */
  readonly whenUnreachable: string
  /** Explains the provider's own errors; null to explain them by status. */
  readonly explain?: (answer: ErrorAnswer) => Explanation | null
}

export interface HttpOptions extends Partial<Patience>, Partial<Timing> {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Maximum bytes of a response. 128 vectors of 1,536 numbers are about 4 MB of JSON. */
  readonly maxBytes?: number
  /** Name of the setting with the timeout of a try, if there is one. */
  readonly timeoutVariable?: string
}

const MAX_BYTES = 16_000_000
const MAX_ERROR_BYTES = 16_000
/** Maximum characters of an error response in the log. */
const LOGGED = 500

export function createJsonClient(service: Service, options: HttpOptions = {}): JsonClient {
  const patience: Patience = { ...PATIENT, ...options }
  const timing: Timing = { ...SYSTEM_TIMING, ...options }
  const maxBytes = options.maxBytes ?? MAX_BYTES
  // A wrapper, because workerd's fetch cannot be called as a method of another object.
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
      // Only text, never the error object: its own causes may contain the request.
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
        // Never followed: a redirect could forward the key to another host. workerd does not support `error`.
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
      if (error instanceof TooLarge) throw fails('bad_answer', false, 'sent a larger response than expected', error)
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
