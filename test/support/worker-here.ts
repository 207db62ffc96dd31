import worker from '../../src/index'
import { bindings } from './bindings'

type Env = Parameters<typeof worker.fetch>[1]

/** The stores of this test file, without the variables of wrangler.toml. */
const stores = (): Record<string, unknown> =>
  Object.fromEntries(Object.entries(bindings).filter(([, one]) => typeof one !== 'string'))

/**
 * The complete Worker in this isolate with the configuration of a test: like a separate server, without its start.
 * @param vars variables in addition to open mode
 * @param others replacements of stores; undefined removes one
 */
export function workerHere(vars: Record<string, string> = {}, others: Record<string, unknown> = {}) {
  const given = { ...stores(), ...others, AUTH_MODE: 'open', LOG_LEVEL: 'CRITICAL', ...vars }
  const env = Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined)) as unknown as Env

  /** Sends a request, and waits for its work after the answer. @param url URL with a host, or a path on this machine */
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    const work: Promise<unknown>[] = []
    const ctx = { waitUntil: (promise: Promise<unknown>) => void work.push(promise), passThroughOnException: () => {} }
    const request = new Request(new URL(url, 'http://localhost').href, init)
    if (!request.headers.has('host')) request.headers.set('host', new URL(request.url).host)
    const response = await worker.fetch(request as never, env, ctx as never)
    const text = await response.text()
    await Promise.all(work)
    return new Response(text === '' ? null : text, response)
  }
}
