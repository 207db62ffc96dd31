/** Addresses of the MCP endpoint. Clients and people append a trailing slash to them. */

/** Returns a path without its one trailing slash. */
export const withoutClosingSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

/** Returns whether a path is the endpoint or below it. */
export const isMcpPath = (path: string): boolean => /^\/mcp(\/|$)/.test(path)

/** Paths that are routed without their trailing slash. */
const FORGIVING = /^\/(mcp|health|ready|\.well-known)(\/|$)/

/** Returns the path by which a request is routed. */
export const routedPath = (path: string): string => (FORGIVING.test(path) ? withoutClosingSlash(path) : path)
