import { DAY_MS, HOUR_MS, type Millis } from '../../../domain/time'

/** Formats numbers, sizes and times. */
const MINUTE_MS = 60_000

/** `12,345`: groups of three digits. */
export const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)} KB`
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(1)} MB`
  return `${(value / 1_000_000_000).toFixed(2)} GB`
}

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.floor((part / whole) * 1000) / 10}%`

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 3`, in UTC; with the year unless it is the current one: `Nov 3, 2025`. */
export function day(ms: Millis, now: Millis): string {
  const [date, today] = [new Date(ms), new Date(now)]
  const year = date.getUTCFullYear() === today.getUTCFullYear() ? '' : `, ${date.getUTCFullYear()}`
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}${year}`
}

/** `Nov 3, 14:05`, in UTC; the year as above. */
export const minute = (ms: Millis, now: Millis): string =>
  `${day(ms, now)}, ${new Date(ms).toISOString().slice(11, 16)}`

/** A relative time for recent instants; else the day. */
export function ago(ms: Millis, now: Millis): string {
  const past = now - ms
  if (past < 0) return day(ms, now)
  if (past < MINUTE_MS) return 'just now'
  if (past < HOUR_MS) return `${Math.floor(past / MINUTE_MS)} min ago`
  if (past < DAY_MS) return `${Math.floor(past / HOUR_MS)} h ago`
  if (past < 7 * DAY_MS) return `${Math.floor(past / DAY_MS)} d ago`
  return day(ms, now)
}

/** The exact instant, to the second, in UTC. */
export const exact = (ms: Millis): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A score as agents get it, with rounding errors near zero shown as zero. */
export const score = (value: number): string => (Math.abs(value) < 1e-9 ? '0' : String(Number(value.toPrecision(3))))

/** `error_pattern` as people read it. */
export const plain = (name: string): string => name.replaceAll('_', ' ')

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
