import {
  type ClockFace,
  clockFace,
  describeTime,
  isZone,
  type TimeDescription,
  temporal,
} from '../../../domain/recall/calendar'
import { EXPRESSION_FORMS, resolveExpression, warningsOf } from '../../../domain/recall/date-expressions'
import type { MemorySummary } from '../../../domain/recall/memory'
import { trim } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import { collectIssues, type IssueCollector } from '../../../domain/validation'
import type { Clock } from '../../../ports/clock'
import type { LastSeen, Visitor } from '../../../ports/memories'

/** Units for the time of an absence (fabric contract §6). */
const MINUTE = 60_000
const UNITS = [
  ['day', 1_440],
  ['hour', 60],
  ['minute', 1],
] as const

/** Minimum duration of an absence. */
const MOMENT_MS = 30_000

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Formats a duration such as `1 day 3 hours 42 minutes`; seconds only below a minute. */
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

/**
 * Computes an absence.
 *
 * @param since time of the last visit in milliseconds since 1970; a clock that went back makes the absence zero
 */
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

/** Describes time and project, without earlier visits. */
const describePlace = (now: ClockFace, project: string | null): string =>
  `It is ${now.timeOfDay} on ${now.date} (${now.timezone}, UTC${now.utcOffset}). Project: ${project ?? 'none'}.`

/** Describes the situation in a few sentences. @param absence null for the first visit */
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

/** A request for the current time and the memories since the last visit (fabric contract §6). */
export interface OrientRequest {
  readonly timezone: string
  readonly project: string | null
  readonly sessionId: string | null
  /** Blank for none. */
  readonly expression: string
  /** Null if no other zones are requested. */
  readonly also: readonly string[] | null
}

export interface Orientation {
  readonly summary: string
  readonly time: TimeDescription
  /** Null for the first visit, and if a time is requested. */
  readonly absence: Absence | null
  /** Oldest first. */
  readonly recent: readonly MemorySummary[]
  /** The resolved expression; null without one. */
  readonly resolved: ClockFace | null
  /** The resolved time, or the current one, in other zones; null if neither is requested. */
  readonly conversions: readonly ClockFace[] | null
  readonly warnings: readonly string[]
}

/** Memories that a visit returns, and code points of each: one more than shown, to detect whether the text is cut. */
const RECENT = { memories: 10, content: 101 }

/** The given parts of a requested time. */
interface NamedMoment {
  readonly timezone?: string | undefined
  readonly expression?: string | undefined
  readonly also?: readonly string[] | null | undefined
}

/**
 * Notes every invalid zone and expression.
 *
 * @param now any time, because validity does not depend on it
 * @returns the requested time in milliseconds since 1970; null for none
 */
export function checkRequestedTime(named: NamedMoment, wrong: IssueCollector, now = 0): number | null {
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
   * Returns the current time and the memories since the last visit.
   *
   * A call that requests a time is not a visit. A visit is recorded last, so that a failed call records none.
   *
   * @throws Problem invalid_input, unavailable
   * @example
   * await services.orient(visitor, { timezone: 'Europe/London', project: 'ferry', sessionId: null, expression: 'next monday', also: null })
   */
  return async (visitor: Visitor, request: OrientRequest): Promise<Orientation> => {
    await temporal.load()
    const now = clock.now()
    const { timezone, project, sessionId, also, expression } = request
    const moment = collectIssues((wrong) => checkRequestedTime(request, wrong, now)) as number
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
