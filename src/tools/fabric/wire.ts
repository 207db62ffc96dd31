import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import type { Inspection } from '../../domain/flaws'
import { normalizeProject } from '../../domain/identity/project'
import type { Scope } from '../../domain/identity/scope'
import { openProject } from '../../domain/recall/project'
import { codePointLength, trim } from '../../domain/text'
import type { Millis } from '../../domain/time'
import { MAX_QUERY } from '../query-field'

/** How the fabric family spells what several of its tools take and give (fabric contract §1). */

export const projectPath = z
  .string()
  .optional()
  .meta({ description: 'Project key, often its path; default: all open to you' })

/** The project that a call names, as it is stored; null when it names none. */
export const namedProject = (scope: Scope, given: string | undefined): string | null =>
  given === undefined ? null : openProject(scope, given)

/** @param named the same project at several places of a call @throws Problem invalid_input when two differ */
export function sameProject(named: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(named).filter((one): one is [string, string] => typeof one[1] === 'string')
  const [first, other] = given
  if (first === undefined || other === undefined || normalizeProject(first[1]) === normalizeProject(other[1])) return
  throw invalidInput(`${first[0]} and ${other[0]} name different projects; give one of them`)
}

export const sessionId = z.string().optional().meta({ description: 'Your session' })

/** Layer 2 or 3, where memories stay. */
export const upperLayer = z
  .int()
  .min(2)
  .max(3)
  .pipe(z.literal([2, 3]))

const MAX_SESSION = 256

/** @returns null for none @throws Problem invalid_input for one that is too long */
export function checkSession(given: string | undefined): string | null {
  if (given === undefined) return null
  if (codePointLength(given) > MAX_SESSION) throw invalidInput(`sessionId has more than ${MAX_SESSION} characters`)
  return given
}

/** @throws Problem invalid_input for a blank or too long query */
function checkQuery(query: string): string {
  if (trim(query) === '') throw invalidInput('query must not be blank')
  if (codePointLength(query) > MAX_QUERY) throw invalidInput(`query has more than ${MAX_QUERY} characters`)
  return query
}

/** Of what several tools take, what is given in its type. */
interface Asked {
  readonly sessionId?: string | undefined
  readonly query?: string | undefined
  readonly projectPath?: string | undefined
}

/**
 * Notes what is wrong with it.
 *
 * @param place of the project, in details
 * @returns the project that is named, as it is stored
 */
export function checkAsked(scope: Scope, asked: Asked, wrong: Inspection, place = 'projectPath'): string | null {
  const { sessionId, query, projectPath } = asked
  wrong.check('sessionId', sessionId, () => checkSession(sessionId))
  if (query !== undefined) wrong.check('query', query, () => checkQuery(query))
  return wrong.check(place, projectPath, () => namedProject(scope, projectPath)) ?? null
}

export const threshold = (fallback: number) =>
  z.number().min(0).max(1).default(fallback).meta({ description: 'Least similarity, 0–1' })

/** A moment as every fabric tool shows it. */
export const iso = (ms: Millis): string => new Date(ms).toISOString()

/** The member of a result that names memories it had no room for, as all ids of this family; none when there are none. */
export const omittedMemories = (ids: readonly number[]) => (ids.length === 0 ? {} : { omitted: ids.map(String) })

/** Four digits that count; order is by the whole value. */
export const shownScore = (score: number): number => Number(score.toPrecision(4))

/** What a failure says; part of each output schema, which requires nothing, because error results are checked against it too. */
const failure = { error: z.string(), code: z.string() }

export const fabricOutput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject(z.looseObject({ ...shape, ...failure }).partial().shape)
