/** Addresses of pages. What stands in them is encoded here and nowhere else. */
export const entryAt = (id: number | string): string => `/entries/${id}`

/** Names of `.` and `..` would be taken for steps of a path, also when they are encoded. */
export const threadAt = (id: string): string =>
  id === '.' || id === '..' ? `/threads?${new URLSearchParams({ id })}` : `/threads/${encodeURIComponent(id)}`

/** A path with those of the parameters that are not null. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** The same page with other parameters; null takes one away. */
export function samePage(url: URL, changes: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams(url.search)
  for (const [name, value] of Object.entries(changes))
    if (value === null) query.delete(name)
    else query.set(name, String(value))
  const text = query.toString()
  return text === '' ? url.pathname : `${url.pathname}?${text}`
}

/** A path of this server that may follow a login; anything else leads to the overview. */
export function safePath(path: string | null): string {
  if (path === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return '/'
  const url = new URL(path, 'http://own.invalid')
  return url.origin === 'http://own.invalid' ? `${url.pathname}${url.search}` : '/'
}
