import { html } from 'hono/html'
import type { Child } from 'hono/jsx'

/** The content of a page, before it is put into the frame. */
export interface Page {
  readonly title: string
  /** The entry of the navigation that is highlighted. */
  readonly at?: string
  /** The link that skips to the list of the page, which has the ID `list`; absent without a list. */
  readonly list?: string
  readonly body: Child
  readonly status?: number
}

/** The address that a form redirects to, so that a reload does not submit it again. */
export const seeOther = (path: string): Response => new Response(null, { status: 303, headers: { Location: path } })

/**
 * Headers of every page: only files of this server may load, no page may be framed, and no cache stores a page, since it shows
 * the data of a key.
 */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
}

/** @param document the `html` element @param origin the only one that may read it */
export function respondWith(
  document: Child,
  { origin, status = 200, headers = {} }: { origin: string; status?: number; headers?: Record<string, string> },
): Response {
  const text = html`<!doctype html>
${document}`
  return new Response(String(text), {
    status,
    headers: { ...HEADERS, 'Access-Control-Allow-Origin': origin, Vary: 'Accept, Cookie', ...headers },
  })
}
