import { LOG_LEVELS, type LogLevel } from '../config'

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
