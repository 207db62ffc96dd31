import { LOG_LEVELS, type LogLevel } from '../config'

/** One JSON line an event. Never keys, text or metadata values; control characters are escaped by JSON. */
export type Log = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void

export function createLog(threshold: LogLevel): Log {
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold)) return
    const line = JSON.stringify({ level, event, ...fields })
    if (level === 'DEBUG' || level === 'INFO') console.log(line)
    else if (level === 'WARNING') console.warn(line)
    else console.error(line)
  }
}
