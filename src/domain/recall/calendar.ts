import type { Temporal } from 'temporal-polyfill/implementation'
import { deferred } from '../deferred'
import type { Millis, WrittenTime } from '../time'

/**
 * Calendar computations in a time zone (fabric contract §6). A boundary is computed as a local date, then converted: a
 * day starts at its first existing instant and ends where the next one starts, regardless of its hours.
 */
export type LocalTime = Temporal.ZonedDateTime

/** To be loaded before a calendar is used. */
export const temporal = deferred(() => import('temporal-polyfill/implementation'))

/** A time as clocks in a zone show it. */
export interface ClockFace {
  /** Milliseconds since 1970. */
  readonly epochMs: Millis
  /** As given by the caller. */
  readonly timezone: string
  readonly iso: string
  readonly timeOfDay: string
  readonly date: string
  readonly utcOffset: string
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
] as const

/** Time zone names and offsets; the library would also accept a date with a zone. */
const ZONE = /^(?:[a-z][\w+/-]{0,63}|[+-]\d\d:\d\d)$/i
/** Maximum time in milliseconds since 1970 (ECMAScript: 100 million days). */
export const MAX_TIME = 8.64e15

/** Whether a time zone exists: an IANA name in any case, or `±HH:MM`. */
export function isZone(zone: string): boolean {
  if (!ZONE.test(zone)) return false
  try {
    timeIn(zone, 0)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** A time in a zone. @param zone an existing zone */
export const timeIn = (zone: string, epochMs: Millis): LocalTime =>
  temporal.loaded().Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone)

/** The start of the day `days` after a given time. A day that the zone skips starts with the next one. */
export const startOfDay = (moment: LocalTime, days = 0): number =>
  moment.toPlainDate().add({ days }).toZonedDateTime(moment.timeZoneId).epochMilliseconds

/** Days since the Monday of the same week. */
export const sinceMonday = (moment: LocalTime): number => moment.dayOfWeek - 1

/**
 * Converts a written time to an instant: a date is the start of that day in the zone, a time without offset is local.
 * Of a local time that occurs twice, the earlier counts; a skipped one moves forward by the gap.
 */
export function instantOf(zone: string, { day, time }: WrittenTime): number {
  const date = temporal.loaded().Temporal.PlainDate.from(new Date(day * 1000).toISOString().slice(0, -14))
  if (time === null) return date.toZonedDateTime(zone).epochMilliseconds
  const { hour, minute, second, offset } = time
  const millisecond = Number(time.fraction.slice(0, 3).padEnd(3, '0'))
  const plainTime = { hour, minute, second, millisecond }
  if (offset === null) return date.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds
  return date.toZonedDateTime({ timeZone: 'UTC', plainTime }).epochMilliseconds - offset * 60_000
}

const timeOfDay = ({ hour, minute }: LocalTime): string =>
  `${hour % 12 || 12}:${String(minute).padStart(2, '0')} ${hour < 12 ? 'AM' : 'PM'}`

const isoOf = (moment: LocalTime): string => moment.toString({ timeZoneName: 'never', fractionalSecondDigits: 3 })
const weekday = ({ dayOfWeek }: LocalTime): string => WEEKDAYS[dayOfWeek - 1] as string
const month = (moment: LocalTime): string => MONTHS[moment.month - 1] as string

/** A time in a zone, in the forms of an answer. @param timezone an existing zone, as given by the caller */
export function clockFace(timezone: string, epochMs: Millis): ClockFace {
  const moment = timeIn(timezone, epochMs)
  const iso = isoOf(moment)
  return {
    epochMs,
    timezone,
    iso,
    timeOfDay: timeOfDay(moment),
    date: `${weekday(moment)}, ${month(moment)} ${moment.day}, ${moment.year}`,
    // Historic offsets have seconds; ISO 8601 and this field have minutes.
    utcOffset: iso.slice(-6),
  }
}

/** The description of the current time; boundaries are milliseconds since 1970. */
export interface TimeDescription extends ClockFace {
  /** `Feb 25`. */
  readonly dateShort: string
  readonly dayOfWeek: string
  readonly isWeekend: boolean
  /** ISO 8601. */
  readonly weekNumber: number
  readonly startOfDay: number
  readonly endOfDay: number
  readonly startOfNextDay: number
  readonly startOfYesterday: number
  /** Start of Monday. */
  readonly startOfWeek: number
  readonly endOfWeek: number
  readonly startOfNextWeek: number
}

/** Describes a time in a zone. @param timezone an existing zone, as given by the caller */
export function describeTime(timezone: string, epochMs: Millis): TimeDescription {
  const moment = timeIn(timezone, epochMs)
  const monday = -sinceMonday(moment)
  const startOfNextDay = startOfDay(moment, 1)
  const startOfNextWeek = startOfDay(moment, monday + 7)
  return {
    ...clockFace(timezone, epochMs),
    dateShort: `${month(moment).slice(0, 3)} ${moment.day}`,
    dayOfWeek: weekday(moment),
    isWeekend: moment.dayOfWeek > 5,
    weekNumber: moment.weekOfYear as number,
    startOfDay: startOfDay(moment),
    endOfDay: startOfNextDay - 1,
    startOfNextDay,
    startOfYesterday: startOfDay(moment, -1),
    startOfWeek: startOfDay(moment, monday),
    endOfWeek: startOfNextWeek - 1,
    startOfNextWeek,
  }
}
