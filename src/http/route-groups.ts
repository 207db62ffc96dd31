import type { Hono } from 'hono'

/**
 * Routes that load when a request first needs them. The first answer of MCP loads none of them. Variables of requests are those of
 * app.ts, which mounts the routes.
 */
// biome-ignore lint/suspicious/noExplicitAny: routes declare the variables that they use
export type Mount = (app: Hono<any>) => unknown

export interface RouteGroup {
  /** Mounts routes that use no services of the request, such as files. */
  readonly withoutServices?: Mount
  /** Mounts routes before credentials are required. */
  readonly withoutCredential?: Mount
  /** Mounts routes behind credentials, where their paths require them. */
  readonly withCredential?: Mount
  /** Returns whether an address is that of a page; errors there are shown as a page. */
  readonly isPagePath?: (path: string) => boolean
}

interface Group {
  readonly name: string
  readonly paths: RegExp
  readonly load: () => Promise<RouteGroup>
}

/** MCP, and what app.ts serves itself. */
const CORE = /^\/(mcp|health|ready|metrics)(\/|$)/

const GROUPS: readonly Group[] = [
  { name: 'api', paths: /^\/api\//, load: () => import('./routes-api') },
  {
    name: 'oauth',
    paths: /^\/(\.well-known|authorize|token|register)(\/|$)/,
    load: () => import('./routes-oauth'),
  },
  { name: 'pages', paths: /^/, load: () => import('./routes-pages') },
]

/** Returns the routes that serve a path; null for those that load at the start. */
export const groupOf = (path: string): Group | null =>
  CORE.test(path) ? null : (GROUPS.find(({ paths }) => paths.test(path)) ?? null)
