import { Temporal } from 'temporal-polyfill/implementation'
import type { Millis, WrittenTime } from '../time'

/**
 * The calendar of a time zone (fabric contract §6). A boundary is found from the local date, then mapped to an instant: a day starts
 * at its first existing instant and ends where the next one starts, however many hours lie between.
 */
export type LocalTime = Temporal.ZonedDateTime

/** A moment as clocks of a zone show it. */
export interface ClockFace {
  /** Milliseconds since 1970. */
  readonly epochMs: Millis
  /** As asked for. */
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

/** The library also reads whole dates with a zone as zones; these are names and offsets alone. */
const ZONE = /^(?:[a-z][\w+/-]{0,63}|[+-]\d\d:\d\d)$/i
/** The times that can be told, milliseconds since 1970 (ECMAScript: a hundred million days around it). */
export const MAX_TIME = 8.64e15

/** Whether there is such a zone: an IANA name in any case, or `±HH:MM`. */
export function isZone(zone: string): boolean {
  if (!ZONE.test(zone)) return false
  try {
    momentIn(zone, 0)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** @param zone one that there is */
export const momentIn = (zone: string, epochMs: Millis): LocalTime =>
  Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone)

/** Where a day so many days from the moment's begins. A day that the zone leaves out begins with the one after it. */
export const startOfDay = (moment: LocalTime, days = 0): number =>
  moment.toPlainDate().add({ days }).toZonedDateTime(moment.timeZoneId).epochMilliseconds

/** Days back to the Monday of the moment's week. */
export const sinceMonday = (moment: LocalTime): number => moment.dayOfWeek - 1

/**
 * A written time as an instant: a date is the start of that day in the zone, a time without offset is a local one. Of a local time
 * that occurs twice the earlier is meant, and one that is skipped moves on by what is skipped.
 */
export function instantOf(zone: string, { day, time }: WrittenTime): number {
  const date = Temporal.PlainDate.from(new Date(day * 1000).toISOString().slice(0, -14))
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

/** @param timezone as asked for; one that there is */
export function clockFace(timezone: string, epochMs: Millis): ClockFace {
  const moment = momentIn(timezone, epochMs)
  const iso = isoOf(moment)
  return {
    epochMs,
    timezone,
    iso,
    timeOfDay: timeOfDay(moment),
    date: `${weekday(moment)}, ${month(moment)} ${moment.day}, ${moment.year}`,
    // Offsets of long ago have seconds; ISO 8601 and this field know minutes.
    utcOffset: iso.slice(-6),
  }
}

/** All that is told of the present moment; the boundaries are milliseconds since 1970. */
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
  /** Monday's. */
  readonly startOfWeek: number
  readonly endOfWeek: number
  readonly startOfNextWeek: number
}

/** @param timezone as asked for; one that there is */
export function describeTime(timezone: string, epochMs: Millis): TimeDescription {
  const moment = momentIn(timezone, epochMs)
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
