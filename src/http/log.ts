import { LOG_LEVELS, type LogLevel } from '../config'
import { withoutEchoes } from '../domain/identity/remove-echoes'

/** Writes one JSON line per event. Never keys, text or metadata values; control characters are escaped. */
export type Log = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void

/** Matches anything that looks like a key or a bearer token. */
const SECRETS = /\bcp_[A-Za-z0-9_-]{8,}|\b(Bearer|Basic)\s+[^\s"',;]+/gi
// JSON escapes U+0000–1F; a terminal also obeys U+007F–9F, and U+2028–9 and direction marks break or reverse lines.
const CONTROLS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns the line of an event, as it is printed. */
export function logLine(level: LogLevel, event: string, fields: Record<string, unknown>): string {
  const discreet = (_: string, value: unknown) => (typeof value === 'string' ? value.replace(SECRETS, '***') : value)
  return JSON.stringify({ level, event, ...fields }, discreet).replace(CONTROLS, escaped)
}

export function createLog(threshold: LogLevel): Log {
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold)) return
    const line = logLine(level, event, fields)
    if (level === 'DEBUG' || level === 'INFO') console.log(line)
    else if (level === 'WARNING') console.warn(line)
    else console.error(line)
  }
}

/** Collects the text of a request, so that log lines do not repeat it: database engines quote their input in errors. */
const bodies = new WeakMap<Request, unknown>()

/** Records the body of the request. */
export const noteBody = (request: Request, body: unknown): void => void bodies.set(request, body)

/**
 * Returns an error in a form that the log may hold, without any text of the request's body, address or credential.
 *
 * @param named parts of the path that callers choose, such as ids
 */
export function redactedError(error: unknown, request: Request, named: Readonly<Record<string, string>>): string {
  const { searchParams } = new URL(request.url)
  const said = [
    Object.values(named),
    [...searchParams.values()],
    request.headers.get('authorization')?.split(' ').at(-1),
  ]
  return withoutEchoes(String(error), [...said, bodies.get(request)])
}
