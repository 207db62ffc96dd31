import { type Inspection, inspected } from '../../domain/flaws'
import type { Scope } from '../../domain/identity/scope'
import { type Absence, absenceOf, tellSituation } from '../../domain/recall/absence'
import { type ClockFace, clockFace, isZone, type TimeFacts, timeFacts } from '../../domain/recall/calendar'
import { EXPRESSION_FORMS, resolveExpression } from '../../domain/recall/expression'
import type { Glimpse } from '../../domain/recall/memory'
import { trim } from '../../domain/text'
import type { Clock } from '../../ports/clock'
import type { Sightings } from '../../ports/sightings'

/** Where a caller stands in time, and what happened while it was away (fabric contract §6). */
export interface OrientRequest {
  readonly timezone: string
  readonly project: string | null
  /** Blank for none. */
  readonly expression: string
  /** Null when no other zones were named. */
  readonly also: readonly string[] | null
}

export interface Orientation {
  readonly summary: string
  readonly time: TimeFacts
  readonly absence: Absence | null
  /** Oldest first. */
  readonly recent: readonly Glimpse[]
  /** What the expression means; null without one. */
  readonly resolved: ClockFace | null
  /** The resolved moment, else now, in the other zones; null when neither was asked for. */
  readonly conversions: readonly ClockFace[] | null
}

/** Memories that a return brings, and code points of each. */
const RECENT = { memories: 50, content: 200 }

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
   * The mark of this visit is left last, so a call that fails leaves none.
   *
   * @throws Problem invalid_input, unavailable
   */
  return async (scope: Scope, request: OrientRequest): Promise<Orientation> => {
    const now = clock.now()
    const { timezone, project, also } = request
    const moment = inspected((wrong) => checkMoment(request, wrong, now)) as number
    const { last, newestId, added, recent } = await sightings.since(scope, project, RECENT)
    const time = timeFacts(timezone, now)
    const absence = last === null ? null : absenceOf(last.seenAt, time, added)
    const asked = trim(request.expression) !== ''
    const orientation = {
      summary: tellSituation(time, project, absence),
      ...{ time, absence, recent },
      resolved: asked ? clockFace(timezone, moment) : null,
      conversions: asked || also !== null ? (also ?? []).map((zone) => clockFace(zone, moment)) : null,
    }
    await sightings.note(scope, project, { seenAt: now, lastId: newestId })
    return orientation
  }
}
