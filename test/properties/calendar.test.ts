import '@js-joda/timezone'
import { DayOfWeek, Instant, LocalDate, LocalDateTime, ZonedDateTime, ZoneId } from '@js-joda/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clockFace, describeTime, isZone, temporal, WEEKDAYS } from '../../src/domain/recall/calendar'
import { resolveExpression } from '../../src/domain/recall/date-expressions'
import { absenceOf, describeSituation, spell } from '../../src/services/searching/memories/orient'

await temporal.load()

/**
 * Clocks that change by an hour and by half an hour, at midnight and at other times; zones that once skipped a day;
 * fixed offsets.
 */
const ZONES = [
  ...['UTC', 'America/New_York', 'America/Havana', 'Africa/Cairo', 'Asia/Beirut', 'Pacific/Apia', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Tehran', 'Europe/London', 'America/St_Johns', 'Asia/Kolkata'],
  ...['America/Asuncion', 'Asia/Amman', 'Pacific/Kwajalein', 'Antarctica/Troll', 'Atlantic/Azores', '+05:45', '-03:30'],
]
/** Both libraries contain their own time zones; between these years they agree about the past. */
const FROM = Date.UTC(1970, 0, 2)
const TO = Date.UTC(2026, 0, 1)

const fromJoda = (moment: ZonedDateTime): number => moment.toInstant().toEpochMilli()
const jodaMoment = (zone: string, ms: number): ZonedDateTime =>
  ZonedDateTime.ofInstant(Instant.ofEpochMilli(ms), ZoneId.of(zone))

/** The result of the other library for the same instant. */
function expectedFacts(zone: string, ms: number) {
  const id = ZoneId.of(zone)
  const date = jodaMoment(zone, ms).toLocalDate()
  const start = (day: LocalDate): number => fromJoda(day.atStartOfDay(id))
  const monday = date.minusDays(date.dayOfWeek().value() - DayOfWeek.MONDAY.value())
  return {
    startOfDay: start(date),
    endOfDay: start(date.plusDays(1)) - 1,
    startOfNextDay: start(date.plusDays(1)),
    startOfYesterday: start(date.minusDays(1)),
    startOfWeek: start(monday),
    endOfWeek: start(monday.plusDays(7)) - 1,
    startOfNextWeek: start(monday.plusDays(7)),
  }
}

/** The clock changes of a zone, found by bisection. */
function changesOf(zone: string): number[] {
  const offset = (ms: number): string => clockFace(zone, ms).utcOffset
  const changes: number[] = []
  const step = 20 * 86_400_000
  for (let from = FROM; from < TO; from += step) {
    if (offset(from) === offset(from + step)) continue
    let [before, after] = [from, from + step]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (offset(middle) === offset(before)) before = middle
      else after = middle
    }
    changes.push(after)
  }
  return changes
}

const HALF_DAYS = [-36, -25, -24, -12, -1, 0, 1, 12, 23, 24, 36]

describe('the calendar of a zone', () => {
  it('[FABRIC-80, FABRIC-164] finds every boundary of days and weeks as a second library does, with clock changes, half hours, and skipped midnights or days', () => {
    let looked = 0
    for (const zone of ZONES) {
      const around = changesOf(zone).flatMap((at) => HALF_DAYS.map((hours) => at + hours * 3_600_000))
      for (const ms of around.filter((_, i) => i % 3 === looked % 3)) {
        expect([zone, ms, describeTime(zone, ms)]).toEqual([zone, ms, expect.objectContaining(expectedFacts(zone, ms))])
        looked++
      }
    }
    expect(looked).toBeGreaterThan(2_000)
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), fc.integer({ min: FROM, max: TO }), (zone, ms) => {
        expect(describeTime(zone, ms)).toMatchObject(expectedFacts(zone, ms))
      }),
      { numRuns: 500 },
    )
  })

  it('[FABRIC-80, FABRIC-164] begins a day at its first existing instant and ends it before the next one, on both days of clock changes', () => {
    const day = (date: string) => {
      const { startOfDay, endOfDay } = describeTime('America/New_York', Date.parse(`${date}T12:00:00-05:00`))
      return [startOfDay, endOfDay].map((ms) => clockFace('America/New_York', ms).iso)
    }
    expect(day('2026-03-08')).toEqual(['2026-03-08T00:00:00.000-05:00', '2026-03-08T23:59:59.999-04:00'])
    expect(day('2026-11-01')).toEqual(['2026-11-01T00:00:00.000-04:00', '2026-11-01T23:59:59.999-05:00'])
    // Havana skips midnight, and Apia skipped December 30, 2011.
    const havana = describeTime('america/HAVANA', Date.parse('2026-03-08T12:00:00-04:00'))
    expect(clockFace('america/HAVANA', havana.startOfDay)).toMatchObject({ timeOfDay: '1:00 AM', utcOffset: '-04:00' })
    const apia = describeTime('Pacific/Apia', Date.parse('2011-12-30T09:00:00Z'))
    expect(clockFace('Pacific/Apia', apia.startOfNextDay).iso).toBe('2011-12-31T00:00:00.000+14:00')
  })

  it('[FABRIC-79, FABRIC-164] formats the time in words of its zone, named in any case or by an offset', () => {
    const facts = describeTime('Europe/London', Date.parse('2026-02-25T09:15:00Z'))
    expect(facts).toMatchObject({
      ...{ epochMs: 1_772_010_900_000, iso: '2026-02-25T09:15:00.000+00:00', timezone: 'Europe/London' },
      ...{ utcOffset: '+00:00', timeOfDay: '9:15 AM', date: 'Wednesday, February 25, 2026', dateShort: 'Feb 25' },
      ...{ dayOfWeek: 'Wednesday', isWeekend: false, weekNumber: 9 },
    })
    const at = (time: string) => clockFace('+05:45', Date.parse(`2026-01-03T${time}+05:45`))
    expect(['00:00', '00:59', '12:00', '13:05', '23:59'].map((time) => at(time).timeOfDay)).toEqual([
      ...['12:00 AM', '12:59 AM', '12:00 PM', '1:05 PM', '11:59 PM'],
    ])
    expect(at('10:00')).toMatchObject({ utcOffset: '+05:45', date: 'Saturday, January 3, 2026' })
    const days = ['02', '03', '04', '05'].map((day) => describeTime('UTC', Date.parse(`2026-01-${day}T12:00Z`)))
    expect(days.map(({ isWeekend }) => isWeekend)).toEqual([false, true, true, false])
    const week = (date: string) => describeTime('UTC', Date.parse(`${date}T12:00Z`)).weekNumber
    expect([week('2026-12-31'), week('2027-01-03'), week('2027-01-04')]).toEqual([53, 53, 1])
    for (const zone of ['utc', 'asia/kolkata', 'Etc/GMT+5', '+14:00', '-00:00']) expect(isZone(zone)).toBe(true)
    const none = ['', ' ', 'Mars/Base', 'Z', '2026-01-01T00:00Z', '2026-01-01[Europe/London]', '+5', '+0545', '+24:00']
    for (const zone of [...none, 'a'.repeat(1_000_000)]) expect(isZone(zone)).toBe(false)
  })

  it('[FABRIC-82] resolves every form of expression in the zone, repeated times to the earlier one and skipped ones forward', () => {
    const zone = 'America/New_York'
    const friday = Date.parse('2026-02-27T15:30:00-05:00')
    const iso = (expression: string, now = friday, where = zone): string | null => {
      const moment = resolveExpression(expression, where, now)
      return moment === null ? null : clockFace(where, moment).iso.slice(0, -6)
    }
    const day = (date: string, time = '00:00:00.000') => `${date}T${time}`
    const meanings: [string, string][] = [
      ['now', day('2026-02-27', '15:30:00.000')],
      ...['today', ' Start of Day\n', 'TODAY'].map((word): [string, string] => [word, day('2026-02-27')]),
      ['yesterday', day('2026-02-26')],
      ['tomorrow', day('2026-02-28')],
      ['end of day', day('2026-02-27', '23:59:59.999')],
      ['start of week', day('2026-02-23')],
      ['end of week', day('2026-03-01', '23:59:59.999')],
      ['start of next week', day('2026-03-02')],
      ['start of last week', day('2026-02-16')],
      ...[1, 2, 3, 4, 5, 6, 7].flatMap((ahead): [string, string][] => [
        [`next ${WEEKDAYS[(4 + ahead) % 7]}`, day(LocalDate.of(2026, 2, 27).plusDays(ahead).toString())],
        [`last ${WEEKDAYS[(11 - ahead) % 7]}`, day(LocalDate.of(2026, 2, 27).minusDays(ahead).toString())],
      ]),
      ['2026-03-08', day('2026-03-08')],
      ['20260308', day('2026-03-08')],
      ['2026-w10-7', day('2026-03-08')],
      ['2026-07-01T09:05', day('2026-07-01', '09:05:00.000')],
      ['2026-07-01 09:05:06.7899', day('2026-07-01', '09:05:06.789')],
      // Skipped, so it moves on; twice, so the earlier.
      ['2026-03-08T02:30', day('2026-03-08', '03:30:00.000')],
      ['2026-11-01T01:30', day('2026-11-01', '01:30:00.000')],
      ['2026-07-01t09:05z', day('2026-07-01', '05:05:00.000')],
      ['2026-07-01T09:05+05:45', day('2026-06-30', '23:20:00.000')],
      ['1772265600000', day('2026-02-28', '03:00:00.000')],
    ]
    for (const [expression, meaning] of meanings) expect([expression, iso(expression)]).toEqual([expression, meaning])
    expect(resolveExpression('2026-11-01T01:30', zone, friday)).toBe(Date.parse('2026-11-01T01:30-04:00'))
    expect(resolveExpression('8640000000000000', zone, friday)).toBe(8.64e15)
    expect(clockFace('+14:00', 8.64e15).iso).toContain('+275760')
    const none = ['someday', 'next week', 'next  monday', '123456789', '9999999999999999', '2026-02-30', '2026-13-01']
    for (const expression of [...none, '2026-02-25T24:00', 'constructor', '1'.repeat(1_000_000)])
      expect([expression.slice(0, 40), resolveExpression(expression, zone, friday)]).toEqual([
        expression.slice(0, 40),
        null,
      ])
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: FROM, max: TO }).map((ms) => new Date(ms).toISOString().slice(0, 16)),
        (where, local) => {
          const expected = fromJoda(LocalDateTime.parse(local).atZone(ZoneId.of(where)))
          expect([where, local, resolveExpression(local, where, friday)]).toEqual([where, local, expected])
        },
      ),
      { numRuns: 500 },
    )
  })

  it('[FABRIC-88] summarizes time, project, absence and new memories in a few sentences', () => {
    const times: [number, string][] = [
      ...([
        [0, '0 seconds'],
        [1_999, '1 second'],
        [59_999, '59 seconds'],
        [60_000, '1 minute'],
        [3_600_000, '1 hour'],
      ] as [number, string][]),
      [((24 + 3) * 60 + 42) * 60_000 + 59_999, '1 day 3 hours 42 minutes'],
      [3 * 86_400_000 + 60_000, '3 days 1 minute'],
    ]
    for (const [ms, words] of times) expect(spell(ms)).toBe(words)
    const now = clockFace('Europe/London', Date.parse('2026-02-25T09:15:00Z'))
    const tell = (away: number | null, added = 0, project: string | null = '/home/user/myapp') =>
      describeSituation(now, project, away === null ? null : absenceOf(now.epochMs - away, now, added))
    const here = 'It is 9:15 AM on Wednesday, February 25, 2026 (Europe/London, UTC+00:00). Project: /home/user/myapp.'
    expect(tell(null)).toBe(`${here} First session in this project.`)
    expect(tell(null, 0, null)).toContain(' Project: none. First')
    expect(tell(29_999, 2)).toBe(`${here} You were here moments ago.`)
    const away = 3 * 3_600_000 + 42 * 60_000
    const last = `${here} Last session 3 hours 42 minutes ago (since 5:33 AM).`
    expect(tell(away, 2)).toBe(`${last} 2 new memories since then.`)
    expect(tell(away, 1)).toBe(`${last} 1 new memory since then.`)
    expect(tell(away)).toBe(`${last} No new memories since then.`)
    expect(absenceOf(now.epochMs + 5_000, now, 0)).toMatchObject({ durationMs: 0, from: now.iso, to: now.iso })
  })
})
