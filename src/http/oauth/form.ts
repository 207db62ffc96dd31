import { parse, serialize } from 'hono/utils/cookie'
import { noteBody } from '../log'

/**
 * Reads form submissions and checks that they come from our own page: the page carries a random token, and the browser
 * a cookie with the same one that other sites cannot set, read or send.
 */
const MAX_BYTES = 65_536

const LIFETIME_SECONDS = 600

const TOKEN = /^[0-9a-f]{32}$/

/** @returns the body, or null when it is larger than any request here needs to be */
export async function readBytes(request: Request, most = MAX_BYTES): Promise<Uint8Array<ArrayBuffer> | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.byteLength
    if (size > most) return null
    parts.push(part)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

/** Returns whether the Content-Type is that of a form. */
export const isForm = (request: Request): boolean =>
  /^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers.get('content-type') ?? '')

/** @param most bytes @returns null when the body is not a form, or is too large */
export async function readForm(request: Request, most = MAX_BYTES): Promise<URLSearchParams | null> {
  const bytes = isForm(request) ? await readBytes(request, most) : null
  if (bytes === null) return null
  const form = new URLSearchParams(new TextDecoder().decode(bytes))
  noteBody(request, [...form.values()])
  return form
}

/** 128 random bits, shared by a page and its cookie. */
export const createPageToken = (): string => crypto.randomUUID().replaceAll('-', '')

/** One cookie per page, so that two tabs do not disturb each other. Browsers refuse `__Host-` names without https. */
const cookieName = (token: string, secure: boolean) =>
  `${secure ? '__Host-' : ''}commonplace-consent-${token.slice(0, 8)}`

/** @param lifetime 0 removes it */
export function pageCookie(token: string, { protocol }: URL, lifetime = LIFETIME_SECONDS): string {
  const secure = protocol === 'https:'
  const value = lifetime === 0 ? '' : token
  return serialize(cookieName(token, secure), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    maxAge: lifetime,
    secure,
  })
}

/** Returns whether a form was sent by the page that was served to this browser. */
export function isFromOurPage(request: Request, form: URLSearchParams): boolean {
  const url = new URL(request.url)
  const origin = request.headers.get('origin')
  const token = form.get('page') ?? ''
  if ((origin !== null && origin !== url.origin) || !TOKEN.test(token)) return false
  const name = cookieName(token, url.protocol === 'https:')
  return parse(request.headers.get('cookie') ?? '', name)[name] === token
}
