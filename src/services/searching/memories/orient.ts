import { type Inspection, inspected } from '../../../domain/flaws'
import { type ClockFace, clockFace, describeTime, isZone, type TimeDescription } from '../../../domain/recall/calendar'
import { EXPRESSION_FORMS, resolveExpression, warningsOf } from '../../../domain/recall/expression'
import type { MemorySummary } from '../../../domain/recall/memory'
import { trim } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import type { Clock } from '../../../ports/clock'
import type { LastSeen, Visitor } from '../../../ports/memories'

/** How long somebody was away, and how that is told (fabric contract §6). */
const MINUTE = 60_000
const UNITS = [
  ['day', 1_440],
  ['hour', 60],
  ['minute', 1],
] as const

/** Shorter than this is no absence. */
const MOMENT_MS = 30_000

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `1 day 3 hours 42 minutes`; seconds only below a minute. */
export function spell(durationMs: Millis): string {
  if (durationMs < MINUTE) return counted(Math.floor(durationMs / 1000), 'second')
  let left = Math.floor(durationMs / MINUTE)
  const parts: string[] = []
  for (const [noun, minutes] of UNITS) {
    const count = Math.floor(left / minutes)
    if (count > 0) parts.push(counted(count, noun))
    left -= count * minutes
  }
  return parts.join(' ')
}

export interface Absence {
  readonly durationMs: Millis
  readonly durationHuman: string
  readonly from: string
  readonly to: string
  readonly memoriesAdded: number
}

/** @param since milliseconds since 1970 of the last visit; a clock that went back makes it no time at all */
export function absenceOf(since: number, now: ClockFace, memoriesAdded: number): Absence {
  const durationMs = Math.max(0, now.epochMs - since)
  return {
    durationMs,
    durationHuman: spell(durationMs),
    from: clockFace(now.timezone, now.epochMs - durationMs).iso,
    to: now.iso,
    memoriesAdded,
  }
}

/** When and where, without a word on who was here before. */
export const describePlace = (now: ClockFace, project: string | null): string =>
  `It is ${now.timeOfDay} on ${now.date} (${now.timezone}, UTC${now.utcOffset}). Project: ${project ?? 'none'}.`

/** The situation in a few sentences. @param absence null for the first visit */
export function describeSituation(now: ClockFace, project: string | null, absence: Absence | null): string {
  const here = describePlace(now, project)
  if (absence === null) return `${here} First session in this project.`
  const { durationMs, durationHuman, memoriesAdded } = absence
  if (durationMs < MOMENT_MS) return `${here} You were here moments ago.`
  const since = clockFace(now.timezone, now.epochMs - durationMs).timeOfDay
  const added =
    memoriesAdded === 0 ? 'No new memories' : memoriesAdded === 1 ? '1 new memory' : `${memoriesAdded} new memories`
  return `${here} Last session ${durationHuman} ago (since ${since}). ${added} since then.`
}

/** Where a caller stands in time, and what happened while it was away (fabric contract §6). */
export interface OrientRequest {
  readonly timezone: string
  readonly project: string | null
  readonly sessionId: string | null
  /** Blank for none. */
  readonly expression: string
  /** Null when no other zones were named. */
  readonly also: readonly string[] | null
}

export interface Orientation {
  readonly summary: string
  readonly time: TimeDescription
  /** Null for the first visit, and where a moment was asked for. */
  readonly absence: Absence | null
  /** Oldest first. */
  readonly recent: readonly MemorySummary[]
  /** What the expression means; null without one. */
  readonly resolved: ClockFace | null
  /** The resolved moment, else now, in the other zones; null when neither was asked for. */
  readonly conversions: readonly ClockFace[] | null
  readonly warnings: readonly string[]
}

/** Memories that a return brings, and code points of each: one more than is shown, which tells whether it is cut. */
const RECENT = { memories: 10, content: 101 }

/** What names a moment, as far as it is given. */
interface NamedMoment {
  readonly timezone?: string | undefined
  readonly expression?: string | undefined
  readonly also?: readonly string[] | null | undefined
}

/**
 * Notes every bad zone and expression.
 *
 * @param now whether an expression is one does not depend on it
 * @returns the moment that is meant, milliseconds since 1970; null for none
 */
export function checkMoment(named: NamedMoment, wrong: Inspection, now = 0): number | null {
  const { timezone = 'UTC', expression = '', also } = named
  for (const [path, zone] of [['timezone', timezone], ...(also ?? []).map((zone, i) => [`also[${i}]`, zone])] as const)
    if (!isZone(zone as string))
      wrong.refuse(path as string, zone, `Unknown time zone: ${zone}; give an IANA name or an offset such as +05:45`)
  const zone = isZone(timezone) ? timezone : 'UTC'
  const moment = trim(expression) === '' ? now : resolveExpression(expression, zone, now)
  if (moment === null) wrong.refuse('expression', expression, `expression must be one of: ${EXPRESSION_FORMS}`)
  return moment
}

export type Orient = ReturnType<typeof createOrient>

export function createOrient({ sightings, clock }: { readonly sightings: LastSeen; readonly clock: Clock }) {
  /**
   * A call that asks for a moment is no visit: it leaves no mark and tells of no absence. The mark of a visit is left last, so a call that
   * fails leaves none.
   *
   * @throws Problem invalid_input, unavailable
   */
  return async (visitor: Visitor, request: OrientRequest): Promise<Orientation> => {
    const now = clock.now()
    const { timezone, project, sessionId, also, expression } = request
    const moment = inspected((wrong) => checkMoment(request, wrong, now)) as number
    const time = describeTime(timezone, now)
    const inZones = (also ?? []).map((zone) => clockFace(zone, moment))
    if (trim(expression) !== '')
      return {
        ...{ summary: describePlace(time, project), time, absence: null, recent: [] },
        ...{ resolved: clockFace(timezone, moment), conversions: inZones, warnings: warningsOf(expression) },
      }
    const visit = { project, sessionId }
    const { last, newestId, added, recent } = await sightings.since(visitor, visit, RECENT)
    const absence = last === null ? null : absenceOf(last.seenAt, time, added)
    await sightings.note(visitor, visit, { seenAt: now, lastId: newestId })
    return {
      ...{ summary: describeSituation(time, project, absence), time, absence, recent },
      ...{ resolved: null, conversions: also === null ? null : inZones, warnings: [] },
    }
  }
}
