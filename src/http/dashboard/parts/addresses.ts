/** Addresses of pages, with their encoding. */
export const entryAt = (id: number | string): string => `/entries/${id}`

/** Names `.` and `..` would be resolved as path segments, even when encoded. */
export const threadAt = (id: string): string =>
  id === '.' || id === '..' ? `/threads?${new URLSearchParams({ id })}` : `/threads/${encodeURIComponent(id)}`

/** Returns a path with those parameters that are not null. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** Returns the address of the same page with other parameters; null removes one. */
export function samePage(url: URL, changes: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams(url.search)
  for (const [name, value] of Object.entries(changes))
    if (value === null) query.delete(name)
    else query.set(name, String(value))
  const text = query.toString()
  return text === '' ? url.pathname : `${url.pathname}?${text}`
}

const OWN = 'http://own.invalid'

/** Printable ASCII that browsers resolve on the present host: `//` and `/\` would start another host. */
const OWN_PATH = /^\/(?![/\\])[\x21-\x7e]*$/

/**
 * Returns a path of this server that may follow a login; `/` for anything else. The resolved path is checked too, since resolving
 * removes dot segments: `/..//host` becomes `//host`.
 */
export function safePath(path: string | null): string {
  if (path === null || !OWN_PATH.test(path) || !URL.canParse(path, OWN)) return '/'
  const url = new URL(path, OWN)
  const resolved = `${url.pathname}${url.search}`
  return url.origin === OWN && OWN_PATH.test(resolved) && new URL(resolved, OWN).origin === OWN ? resolved : '/'
}
