import { ADMIN_TOKEN, type Json, type Key } from './oauth'
import type { RunningServer } from './server'

/** A deployment that requires keys, and users who visit its pages with a minimal browser. */
export interface Seen {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** A user's browser: its cookie, and the token of the last page with a form. */
export interface Person {
  readonly cookie: string
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Seen>
  /** Submits a form of the page at `from`. */
  readonly send: (path: string, fields: Record<string, string | readonly string[]>, more?: Sending) => Promise<Seen>
  /** Submits the file form of `/settings`, or another form with its token. */
  readonly sendFile: (path: string, fields: Record<string, string>, file: Uint8Array | null) => Promise<Seen>
  /** The answer to a form, as bytes. */
  readonly download: (path: string, fields: Record<string, string>) => Promise<Response>
}
interface Sending {
  readonly token?: string | null
  readonly headers?: Record<string, string>
}

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const FORM = 'application/x-www-form-urlencoded'

export const tokenOf = (text: string): string => /name="token" value="([^"]*)"/.exec(text)?.[1] ?? ''
/** The redirect target of a form. */
export const locationOf = ({ headers }: Seen): string => headers.get('location') ?? ''

export type House = ReturnType<typeof houseOf>

export function houseOf(server: RunningServer) {
  const base = server.url.origin
  const ask = async (path: string, init: RequestInit = {}): Promise<Seen> => {
    const response = await fetch(new URL(path, base), { redirect: 'manual', ...init })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  async function admin(method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return JSON.parse((await ask(`/api/v1${path}`, init)).text)
  }
  const key = (draft: Json = {}, org = 'acme'): Promise<Key> =>
    admin('POST', `/orgs/${org}/keys`, { name: 'a key', role: 'writer', ...draft })
  const call = async (bearer: string | null, name: string, args: Json = {}): Promise<Json> => {
    const { text } = await ask('/mcp', {
      method: 'POST',
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    return JSON.parse(text).result.structuredContent
  }
  const person = (cookie: string): Person => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      ask(path, { headers: { accept: HTML, ...(cookie === '' ? {} : { cookie }), ...headers } })
    let session = ''
    /** The token of the session, from any page with a form; a user who cannot search can list keys. */
    const ownToken = async (): Promise<string> => {
      session ||= tokenOf((await get('/search')).text) || tokenOf((await get('/keys')).text)
      return session
    }
    return {
      cookie,
      get,
      async send(path, fields, { token, headers = {} } = {}) {
        const own = token === undefined ? await ownToken() : token
        const named = Object.entries({ ...(own === null ? {} : { token: own }), ...fields })
        const body = new URLSearchParams(named.flatMap(([name, value]) => [value].flat().map((one) => [name, one])))
        return ask(path, {
          method: 'POST',
          headers: { 'content-type': FORM, origin: base, cookie, ...headers },
          body: body.toString(),
        })
      },
      async sendFile(path, fields, file) {
        const body = new FormData()
        for (const [name, value] of Object.entries({ token: await ownToken(), ...fields })) body.append(name, value)
        if (file !== null) body.append('file', new Blob([file.slice()]), 'a.ndjson.gz')
        return ask(path, { method: 'POST', headers: { origin: base, cookie, accept: HTML }, body })
      },
      async download(path, fields) {
        const body = new URLSearchParams({ token: await ownToken(), ...fields })
        return fetch(new URL(path, base), {
          method: 'POST',
          headers: { 'content-type': FORM, origin: base, cookie },
          body,
        })
      },
    }
  }
  const cookieOf = ({ headers }: Seen): string =>
    headers
      .getSetCookie()
      .map((one) => one.split(';')[0] ?? '')
      .filter((one) => !one.endsWith('=') && !one.includes('consent'))
      .join('; ')
  /** Signs in with a key. */
  async function signIn(text: string, next = '/'): Promise<{ seen: Seen; person: Person }> {
    const door = await ask('/login', { headers: { accept: HTML } })
    const page = /name="page" value="([^"]*)"/.exec(door.text)?.[1] ?? ''
    const cookie = door.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const seen = await ask('/login', {
      method: 'POST',
      headers: { 'content-type': FORM, origin: base, cookie },
      body: new URLSearchParams({ page, key: text, next }).toString(),
    })
    return { seen, person: person(cookieOf(seen)) }
  }
  return {
    ...{ base, ask, admin, key, call, person, cookieOf, signIn },
    /** A signed-in user with a new key with these properties. */
    async somebody(draft: Json = {}): Promise<Person & { readonly key: Key }> {
      const made = await key(draft)
      return { ...(await signIn(made.key)).person, key: made }
    },
    /** A user in open mode, with the cookie of its browser. */
    visitor: async (): Promise<Person> => person(cookieOf(await ask('/', { headers: { accept: HTML } }))),
  }
}
