import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import { type Inspection, inspected } from '../../domain/flaws'
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

/**
 * The first of several places of a call that names a project; those that name another one are noted.
 *
 * @param named by their paths; what is no string names none
 */
export function firstProject(
  named: Readonly<Record<string, unknown>>,
  wrong: Inspection,
): readonly [path: string, given: string] | null {
  const [first, ...others] = Object.entries(named).filter((one): one is [string, string] => typeof one[1] === 'string')
  if (first === undefined) return null
  for (const [path, given] of others)
    if (normalizeProject(given) !== normalizeProject(first[1]))
      wrong.refuse(path, given, `${first[0]} and ${path} name different projects; give one of them`)
  return first
}

/** As `firstProject`, noting what is wrong with it too. @returns it as it is stored; null for none */
export function checkProject(scope: Scope, named: Readonly<Record<string, unknown>>, wrong: Inspection): string | null {
  const first = firstProject(named, wrong)
  if (first === null) return null
  const [path, given] = first
  return wrong.check(path, given, () => openProject(scope, given, path)) ?? null
}

/** The project that a call names in `projectPath`, as it is stored; null for none. @throws Problem */
export const projectNamed = (scope: Scope, { projectPath }: { readonly projectPath?: string | undefined }) =>
  inspected((wrong) => checkProject(scope, { projectPath }, wrong))

export const sessionId = z.string().optional().meta({ description: 'Your session' })

/** Layer 2 or 3, where memories stay. */
export const upperLayer = z
  .int()
  .min(2)
  .max(3)
  .pipe(z.literal([2, 3]))

const MAX_SESSION = 256

/** @returns null for none @throws Problem invalid_input for one that is too long */
function checkSession(given: string | undefined): string | null {
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

/** Notes what is wrong with it. @returns the project that is named, as it is stored */
export function checkAsked(scope: Scope, asked: Asked, wrong: Inspection): string | null {
  const { sessionId, query, projectPath } = asked
  wrong.check('sessionId', sessionId, () => checkSession(sessionId))
  if (query !== undefined) wrong.check('query', query, () => checkQuery(query))
  return checkProject(scope, { projectPath }, wrong)
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
