/** Times: milliseconds since 1970 inside, ISO 8601 UTC outside. Dates in arguments follow the grammar of the threads contract §4. */

/** Milliseconds: of an instant since 1970, else how long. */
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

/** Seconds since 1970 of a calendar day, or null when there is no such day. */
function daySeconds(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return same ? date.getTime() / 1000 : null
}

/** ISO week date; week 1 is the week of 4 January. Null when the year has no such week. */
function weekDaySeconds(year: number, week: number, weekday: number): number | null {
  const january4 = daySeconds(year, 1, 4) as number
  const mondayOfWeek1 = january4 - ((new Date(january4 * 1000).getUTCDay() + 6) % 7) * DAY_SECONDS
  if (week < 1) return null
  const monday = mondayOfWeek1 + (week - 1) * 7 * DAY_SECONDS
  // A week belongs to the year that holds its Thursday.
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
  /** Seconds since 1970 of its day, as if that were a day of UTC. */
  readonly day: number
  /** Null for a date alone. */
  readonly time: {
    readonly hour: number
    readonly minute: number
    readonly second: number
    /** Digits behind the point; empty for none. */
    readonly fraction: string
    /** Minutes east of UTC; null when none was written. */
    readonly offset: number | null
  } | null
}

/** Reads the forms of the threads contract §4. Null for anything outside the grammar; nothing rolls over. */
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
 * Reads a date argument as a bound in whole seconds since 1970, inclusive.
 *
 * A bare date as a start is that day's first second, as an end its last. A fraction of a second rounds a start up and an
 * end down. Without a zone the time is UTC. Returns null for anything outside the grammar; nothing rolls over.
 */
export function parseDateBound(value: string, bound: 'start' | 'end'): number | null {
  const written = readWrittenTime(value)
  if (written === null) return null
  const { day, time } = written
  if (time === null) return bound === 'start' ? day : day + DAY_SECONDS - 1
  const whole = day + time.hour * 3600 + time.minute * 60 + time.second - (time.offset ?? 0) * 60
  return bound === 'start' && /[1-9]/.test(time.fraction) ? whole + 1 : whole
}

/** Milliseconds since 1970 of an ISO 8601 instant, to the millisecond, or of a day's beginning; null outside the grammar. */
export function parseInstant(value: string): number | null {
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? ''
  // The end of what has a fraction is the second that it stands in.
  const seconds = parseDateBound(value, fraction === '' ? 'start' : 'end')
  return seconds === null ? null : seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
}
