import { html } from 'hono/html'
import type { Child } from 'hono/jsx'

/** What a page is made of, before it stands in its frame. */
export interface Page {
  readonly title: string
  /** The entry of the navigation that it belongs to. */
  readonly at?: string
  readonly body: Child
  readonly status?: number
}

/** Where a form leads to. Seen by the browser as a page of its own, so that to load it again sends nothing twice. */
export const seeOther = (path: string): Response => new Response(null, { status: 303, headers: { Location: path } })

/**
 * Nothing but what this server serves may run, show or hear anything in a page, and no page stands in a frame. Pages tell what a key may
 * see: nobody keeps them.
 */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
}

/** @param document the `html` element @param origin the only one that may read it, whatever the rest of the server allows */
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
