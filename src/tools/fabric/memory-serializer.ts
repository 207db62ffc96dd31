import * as z from 'zod'
import { readId } from '../../domain/entry/link'
import type { JsonValue, Metadata } from '../../domain/entry/metadata'
import { invalidInput, notFound } from '../../domain/errors'
import { normalizeProject } from '../../domain/identity/project'
import type { Scope } from '../../domain/identity/scope'
import { budgetOf, type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import { kindsOfWord, MEMORY_TYPES, type Memory, memoryNotFound, typeOfKind } from '../../domain/recall/memory'
import { checkMemoryMetadata, compactMetadata, isKnownKey, shownMetadata } from '../../domain/recall/memory-metadata'
import { openProject } from '../../domain/recall/project-access'
import { codePointLength, trim } from '../../domain/text'
import type { Millis } from '../../domain/time'
import { collectIssues, givenAs, type IssueCollector, shortForm } from '../../domain/validation'
import { jsonObject } from '../fields'
import type { JsonSchema } from '../json-schema'
import { coerceArguments, MemberBudget } from '../parse-arguments'
import { provenance } from '../provenance'
import { MAX_QUERY } from '../query-field'

export const projectPath = z
  .string()
  .optional()
  .meta({ description: 'Project key, often its path; default: all open to you' })

/**
 * Returns the first argument that names a project; notes others that name a different one.
 *
 * @param named values by their paths; only strings count
 */
export function firstProject(
  named: Readonly<Record<string, unknown>>,
  wrong: IssueCollector,
): readonly [path: string, given: string] | null {
  const [first, ...others] = Object.entries(named).filter((one): one is [string, string] => typeof one[1] === 'string')
  if (first === undefined) return null
  for (const [path, given] of others)
    if (normalizeProject(given) !== normalizeProject(first[1]))
      wrong.refuse(path, given, `${first[0]} and ${path} name different projects; give one of them`)
  return first
}

/** Returns the project of the first argument that names one, in its stored form; null if none does. Notes problems. */
export function checkProject(
  scope: Scope,
  named: Readonly<Record<string, unknown>>,
  wrong: IssueCollector,
): string | null {
  const first = firstProject(named, wrong)
  if (first === null) return null
  const [path, given] = first
  return wrong.check(path, given, () => openProject(scope, given, path)) ?? null
}

/** Returns the project in `projectPath`, in its stored form; null without one. @throws Problem */
export const projectNamed = (scope: Scope, { projectPath }: { readonly projectPath?: string | undefined }) =>
  collectIssues((wrong) => checkProject(scope, { projectPath }, wrong))

export const sessionId = z.string().optional().meta({ description: 'Your session' })

/** Layer 2 or 3, whose memories do not expire. */
export const upperLayer = z
  .int()
  .min(2)
  .max(3)
  .pipe(z.literal([2, 3]))

const MAX_SESSION = 256

/** Checks the length of a session ID. @throws Problem invalid_input */
function checkSession(given: string | undefined): string | null {
  if (given === undefined) return null
  if (codePointLength(given) > MAX_SESSION) throw invalidInput(`sessionId has more than ${MAX_SESSION} characters`)
  return given
}

/** Checks that a query is neither blank nor too long. @throws Problem invalid_input */
function checkQuery(query: string): string {
  if (trim(query) === '') throw invalidInput('query must not be blank')
  if (codePointLength(query) > MAX_QUERY) throw invalidInput(`query has more than ${MAX_QUERY} characters`)
  return query
}

/** Arguments that several tools share, if they have the right type. */
interface Asked {
  readonly sessionId?: string | undefined
  readonly query?: string | undefined
  readonly projectPath?: string | undefined
}

/** Notes problems of shared arguments. @returns the project in its stored form */
export function checkAsked(scope: Scope, asked: Asked, wrong: IssueCollector): string | null {
  const { sessionId, query, projectPath } = asked
  wrong.check('sessionId', sessionId, () => checkSession(sessionId))
  if (query !== undefined) wrong.check('query', query, () => checkQuery(query))
  return checkProject(scope, { projectPath }, wrong)
}

export const threshold = (fallback: number) =>
  z.number().min(0).max(1).default(fallback).meta({ description: 'Minimum similarity, 0–1' })

/** Formats a time as all fabric tools do. */
export const iso = (ms: Millis): string => new Date(ms).toISOString()

/** Returns the member of a result that lists memories without space, with IDs as this family writes them. */
export const omittedMemories = (ids: readonly number[]) => (ids.length === 0 ? {} : { omitted: ids.map(String) })

/** Rounds a score to four significant digits. The order uses the unrounded value. */
export const shownScore = (score: number): number => Number(score.toPrecision(4))

/** Members of a failure. Every output schema has them, because clients also check error results against it. */
const failure = { error: z.string(), code: z.string() }

export const fabricOutput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject(z.looseObject({ ...shape, ...failure }).partial().shape)

export const memoryId = z
  .union([z.string(), z.int()])
  .meta({ description: 'Id of the memory', anyOf: [{ type: 'string' }, { type: 'integer' }] })

/** Parses a memory ID. @throws Problem not_found for an invalid ID, as for an unknown one */
export function readMemoryId(given: string | number): number {
  const id = readId(given)
  if (id === null) throw notFound(memoryNotFound(shortForm(given)))
  return id
}

export const memoryMetadata = (description: string) => jsonObject(description)

/** Types of known metadata keys, for clients that send numbers and lists as strings. */
const SHAPES: Readonly<Record<string, JsonSchema>> = {
  tags: { type: 'array', items: { type: 'string' } },
  confidence: { type: 'number' },
  weight: { type: 'integer' },
  fileContext: {
    type: 'object',
    properties: { lineStart: { type: 'integer' }, lineEnd: { type: 'integer' } },
  },
  codeBlock: { type: 'object', properties: {} },
}

/**
 * Coerces and checks the known keys of metadata; notes problems.
 *
 * @param mayRemove whether null removes a key; otherwise a known key with null is treated as absent
 */
export function readMetadata(given: Metadata, wrong: IssueCollector, mayRemove: boolean): Metadata {
  const read: Metadata = Object.create(null)
  const budget = new MemberBudget(given)
  for (const [key, value] of Object.entries(given)) {
    if (value === null && !mayRemove && isKnownKey(key)) continue
    read[key] =
      Object.hasOwn(SHAPES, key) && value !== null ? (coerceArguments(SHAPES[key], value, budget) as JsonValue) : value
  }
  checkMemoryMetadata(read, wrong, mayRemove)
  return read
}

/** Returns the kinds that a word in a filter names. @throws Problem invalid_input for a word that is neither a type nor a kind */
export function kindsOf(word: string, path: string) {
  const kinds = kindsOfWord(word)
  if (kinds === null)
    throw invalidInput(`${path} must be one of: ${MEMORY_TYPES.join(', ')}, or a kind of entry such as summary`, [
      { path, given: givenAs(word) },
    ])
  return kinds
}

/** Returns the member with the ID of the memory that supersedes this one, if any. */
export const replaced = ({ supersededBy }: { readonly supersededBy?: number | undefined }) =>
  supersededBy === undefined ? {} : { supersededBy: String(supersededBy) }

/** Returns the members that follow content and metadata in every memory. */
const history = (memory: Memory) => ({
  createdAt: iso(memory.createdAt),
  updatedAt: iso(memory.updatedAt),
  accessCount: memory.accessCount,
  version: memory.version,
  ...(memory.layer === 1 && memory.expiresAt !== null ? { expiresAt: iso(memory.expiresAt) } : {}),
  ...(memory.archived ? { archived: true } : {}),
  ...provenance(memory),
  ...replaced(memory),
})

export function shownMemory(memory: Memory) {
  const metadata = shownMetadata(memory)
  return {
    ...{ id: String(memory.id), type: typeOfKind(memory.kind), content: memory.text },
    ...{ metadata, tags: metadata.tags, pinned: memory.pinned },
    ...history(memory),
  }
}

/** Serializes a memory in a list for a model (fabric contract §1). */
export const leanMemory = (memory: Memory, excerpt: Excerpt, project: string | null) => ({
  ...{ id: String(memory.id), type: typeOfKind(memory.kind), ...excerpt },
  metadata: compactMetadata(memory, project),
  ...history(memory),
})

export const memoryOutput = z
  .looseObject({ id: z.string(), type: z.string(), content: z.string() })
  .meta({ description: 'Memory' })

/** A memory to show, and the position in its text around which an excerpt is cut. */
export interface ToShow {
  readonly memory: Memory
  readonly around: number | null
}

/** Budget of an answer in code points. */
export interface Budget {
  /** Budget of contents: for each memory, and the minimum in total. */
  readonly each: number
  readonly least: number
  /** Budget of the complete answer: for each memory, and the minimum. Titles and tags count against it. */
  readonly whole: { readonly each: number; readonly least: number }
}

/** Cuts the contents of an answer to its budget. */
export function excerptsFor(
  shown: readonly ToShow[],
  project: string | null,
  { each, least, whole }: Budget,
): Excerpt[] {
  const beside = shown.reduce(
    (sum, { memory }) => sum + codePointLength(JSON.stringify(leanMemory(memory, { content: '' }, project))),
    0,
  )
  const left = budgetOf(shown.length, whole.each, whole.least) - beside
  const budget = Math.min(budgetOf(shown.length, each, least), Math.max(left, shown.length * SHORTEST))
  return excerptsOf(
    shown.map(({ memory, around }) => ({ text: memory.text, around })),
    budget,
  )
}

/** Minimum code points of an excerpt. */
const SHORTEST = 100
