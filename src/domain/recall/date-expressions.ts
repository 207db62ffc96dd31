import { trim } from '../text'
import { DAY_MS, HOUR_MS, type Millis, readWrittenTime } from '../time'
import { instantOf, type LocalTime, MAX_TIME, sinceMonday, startOfDay, timeIn, WEEKDAYS } from './calendar'

/** Parses time expressions such as `start of next week` in a time zone (fabric contract §6). */
const PHRASES: Readonly<Record<string, (now: LocalTime) => number>> = {
  now: (now) => now.epochMilliseconds,
  today: (now) => startOfDay(now),
  'start of day': (now) => startOfDay(now),
  yesterday: (now) => startOfDay(now, -1),
  tomorrow: (now) => startOfDay(now, 1),
  'end of day': (now) => startOfDay(now, 1) - 1,
  'start of week': (now) => startOfDay(now, -sinceMonday(now)),
  'end of week': (now) => startOfDay(now, 7 - sinceMonday(now)) - 1,
  'start of next week': (now) => startOfDay(now, 7 - sinceMonday(now)),
  'start of last week': (now) => startOfDay(now, -7 - sinceMonday(now)),
  'this week': (now) => startOfDay(now, -sinceMonday(now)),
  'last week': (now) => startOfDay(now, -7 - sinceMonday(now)),
  ...Object.fromEntries(
    WEEKDAYS.flatMap((name, day) => [
      [`next ${name.toLowerCase()}`, (now: LocalTime) => startOfDay(now, ((day - sinceMonday(now) + 6) % 7) + 1)],
      [`last ${name.toLowerCase()}`, (now: LocalTime) => startOfDay(now, -((sinceMonday(now) - day + 6) % 7) - 1)],
    ]),
  ),
}

/** Milliseconds of the units in expressions such as `3 days ago`. */
const AGO = /^(\d{1,4}) (minute|hour|day|week)s? ago$/
const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

const EPOCH = /^\d{10,16}$/

export const EXPRESSION_FORMS =
  'now, today, yesterday, tomorrow, start of day, end of day, start of week, end of week, start of next week, ' +
  'start of last week, this week, last week, 3 days ago (also minutes, hours, weeks), ' +
  'next monday … next sunday, last monday … last sunday, an ISO 8601 date or time such as 2026-02-25T09:00, or epoch milliseconds'

const SECONDS = /^\d{10}$/

/** Warnings about an expression that can be read in two ways. */
export const warningsOf = (expression: string): string[] =>
  SECONDS.test(trim(expression))
    ? [`${trim(expression)} was read as milliseconds, which is in 1970; for seconds append 000`]
    : []

/** Milliseconds since 1970 of an expression; null for an unknown form or a time out of range. */
export function resolveExpression(given: string, zone: string, now: Millis): number | null {
  const expression = trim(given).toLowerCase()
  if (Object.hasOwn(PHRASES, expression)) return (PHRASES[expression] as (now: LocalTime) => number)(timeIn(zone, now))
  const ago = AGO.exec(expression)
  if (ago !== null) return now - Number(ago[1]) * (UNITS[ago[2] as string] as number)
  if (EPOCH.test(expression)) return Number(expression) <= MAX_TIME ? Number(expression) : null
  const written = readWrittenTime(expression.toUpperCase())
  return written === null ? null : instantOf(zone, written)
}
