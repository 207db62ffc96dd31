/**
 * Times: milliseconds since 1970 inside, ISO 8601 UTC outside. Dates in arguments follow the grammar of the threads
 * contract §4.
 */

/** Milliseconds: a time since 1970, or a duration. */
export type Millis = number

/** `2026-02-25T09:00:00Z`: whole seconds, truncated. */
export const formatSecond = (ms: Millis): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/
const COMPACT_DATE = /^(\d{4})(\d{2})(\d{2})$/
const WEEK_DATE = /^(\d{4})-W(\d{2})-([1-7])$/
const DAY_SECONDS = 86_400
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
const MAX_OFFSET_MINUTES = 14 * 60

/** Seconds since 1970 of a calendar day; null for an invalid day. */
function daySeconds(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return same ? date.getTime() / 1000 : null
}

/** Seconds since 1970 of an ISO week date; null when the year has no such week. Week 1 is the week of January 4. */
function weekDaySeconds(year: number, week: number, weekday: number): number | null {
  const january4 = daySeconds(year, 1, 4) as number
  const mondayOfWeek1 = january4 - ((new Date(january4 * 1000).getUTCDay() + 6) % 7) * DAY_SECONDS
  if (week < 1) return null
  const monday = mondayOfWeek1 + (week - 1) * 7 * DAY_SECONDS
  // A week belongs to the year of its Thursday.
  if (new Date((monday + 3 * DAY_SECONDS) * 1000).getUTCFullYear() !== year) return null
  return monday + (weekday - 1) * DAY_SECONDS
}

function offsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || '0')
  const total = hours * 60 + minutes
  if (minutes > 59 || total > MAX_OFFSET_MINUTES) return null
  return zone[0] === '-' ? -total : total
}

/** A date or time as it was written. */
export interface WrittenTime {
  /** Seconds since 1970 of its day, read as a UTC day. */
  readonly day: number
  /** Null for a date without a time. */
  readonly time: {
    readonly hour: number
    readonly minute: number
    readonly second: number
    /** Digits after the decimal point; empty for none. */
    readonly fraction: string
    /** Minutes east of UTC; null without a zone. */
    readonly offset: number | null
  } | null
}

/** Parses the forms of the threads contract §4. Null for any other text, including days that do not exist. */
export function readWrittenTime(value: string): WrittenTime | null {
  const wholeDay = (day: number | null): WrittenTime | null => (day === null ? null : { day, time: null })

  const compact = COMPACT_DATE.exec(value)
  if (compact) return wholeDay(daySeconds(Number(compact[1]), Number(compact[2]), Number(compact[3])))
  const week = WEEK_DATE.exec(value)
  if (week) return wholeDay(weekDaySeconds(Number(week[1]), Number(week[2]), Number(week[3])))

  const match = DATE_TIME.exec(value)
  if (!match) return null
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone] = match
  const date = daySeconds(Number(year), Number(month), Number(day))
  if (date === null || hour === undefined) return wholeDay(date)
  const offset = offsetMinutes(zone)
  if (offset === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const time = { hour: Number(hour), minute: Number(minute), second: Number(second), fraction }
  return { day: date, time: { ...time, offset: zone === undefined ? null : offset } }
}

/**
 * Parses a date argument as an inclusive bound in whole seconds since 1970.
 * A date without a time is its first second as a start and its last second as an end. A fraction of a second rounds a
 * start up and an end down. Without a zone the time is UTC. Returns null for any other text.
 */
export function parseDateBound(value: string, bound: 'start' | 'end'): number | null {
  const written = readWrittenTime(value)
  if (written === null) return null
  const { day, time } = written
  if (time === null) return bound === 'start' ? day : day + DAY_SECONDS - 1
  const whole = day + time.hour * 3600 + time.minute * 60 + time.second - (time.offset ?? 0) * 60
  return bound === 'start' && /[1-9]/.test(time.fraction) ? whole + 1 : whole
}

/** Parses an ISO 8601 time to milliseconds since 1970; a date is the start of its day. Null for any other text. */
export function parseInstant(value: string): number | null {
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? ''
  // As an end, a time with a fraction is rounded down to its second.
  const seconds = parseDateBound(value, fraction === '' ? 'start' : 'end')
  return seconds === null ? null : seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
}
