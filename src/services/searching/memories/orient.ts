import { type Inspection, inspected } from '../../../domain/flaws'
import { type Absence, absenceOf, tellPlace, tellSituation } from '../../../domain/recall/absence'
import { type ClockFace, clockFace, isZone, type TimeFacts, timeFacts } from '../../../domain/recall/calendar'
import { EXPRESSION_FORMS, resolveExpression, warningsOf } from '../../../domain/recall/expression'
import type { Glimpse } from '../../../domain/recall/memory'
import { trim } from '../../../domain/text'
import type { Clock } from '../../../ports/clock'
import type { Sightings, Visitor } from '../../../ports/sightings'

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
  readonly time: TimeFacts
  /** Null for the first visit, and where a moment was asked for. */
  readonly absence: Absence | null
  /** Oldest first. */
  readonly recent: readonly Glimpse[]
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
  if (moment === null) wrong.refuse('expression', expression, `expression is none of: ${EXPRESSION_FORMS}`)
  return moment
}

export type Orient = ReturnType<typeof createOrient>

export function createOrient({ sightings, clock }: { readonly sightings: Sightings; readonly clock: Clock }) {
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
    const time = timeFacts(timezone, now)
    const inZones = (also ?? []).map((zone) => clockFace(zone, moment))
    if (trim(expression) !== '')
      return {
        ...{ summary: tellPlace(time, project), time, absence: null, recent: [] },
        ...{ resolved: clockFace(timezone, moment), conversions: inZones, warnings: warningsOf(expression) },
      }
    const visit = { project, sessionId }
    const { last, newestId, added, recent } = await sightings.since(visitor, visit, RECENT)
    const absence = last === null ? null : absenceOf(last.seenAt, time, added)
    await sightings.note(visitor, visit, { seenAt: now, lastId: newestId })
    return {
      ...{ summary: tellSituation(time, project, absence), time, absence, recent },
      ...{ resolved: null, conversions: also === null ? null : inZones, warnings: [] },
    }
  }
}
