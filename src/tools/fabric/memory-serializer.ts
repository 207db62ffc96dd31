import * as z from 'zod'
import { readId } from '../../domain/entry/link'
import type { JsonValue, Metadata } from '../../domain/entry/metadata'
import { invalidInput, notFound } from '../../domain/errors'
import { givenAs, type Inspection, inspected, shortForm } from '../../domain/flaws'
import { normalizeProject } from '../../domain/identity/project'
import type { Scope } from '../../domain/identity/scope'
import { budgetOf, type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import { kindsOfWord, MEMORY_TYPES, type Memory, memoryNotFound, typeOfKind } from '../../domain/recall/memory'
import { checkMemoryMetadata, compactMetadata, isKnownKey, shownMetadata } from '../../domain/recall/metadata'
import { openProject } from '../../domain/recall/project'
import { codePointLength, trim } from '../../domain/text'
import type { Millis } from '../../domain/time'
import { jsonObject } from '../fields'
import type { JsonSchema } from '../json-schema'
import { coerceArguments, MemberBudget } from '../parse-arguments'
import { provenance } from '../provenance'
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
  z.number().min(0).max(1).default(fallback).meta({ description: 'Minimum similarity, 0–1' })

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

/** How memories are named, shown and described by the tools that store and read them (fabric contract §1, §3). */
export const memoryId = z
  .union([z.string(), z.int()])
  .meta({ description: 'Id of the memory', anyOf: [{ type: 'string' }, { type: 'integer' }] })

/** @throws Problem not_found for what cannot be an id, as for one that is unknown */
export function readMemoryId(given: string | number): number {
  const id = readId(given)
  if (id === null) throw notFound(memoryNotFound(shortForm(given)))
  return id
}

export const memoryMetadata = (description: string) => jsonObject(description)

/** What known keys hold, for clients that send numbers and lists as strings. */
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
 * Metadata with its known keys forgiven and checked; what is wrong is noted.
 *
 * @param mayRemove whether null removes a key; else a known key that is null is as good as absent
 */
export function readMetadata(given: Metadata, wrong: Inspection, mayRemove: boolean): Metadata {
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

/** The kinds that a word of a filter means. @throws Problem invalid_input for a word that is neither a type nor a kind */
export function kindsOf(word: string, path: string) {
  const kinds = kindsOfWord(word)
  if (kinds === null)
    throw invalidInput(`${path} must be one of: ${MEMORY_TYPES.join(', ')}, or a kind of entry such as summary`, [
      { path, given: givenAs(word) },
    ])
  return kinds
}

/** What takes the place of a memory, where something does. */
export const replaced = ({ supersededBy }: { readonly supersededBy?: number | undefined }) =>
  supersededBy === undefined ? {} : { supersededBy: String(supersededBy) }

/** The members that follow the content and metadata of every memory. */
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

/** A memory as models receive it where it is one of several (fabric contract §1). */
export const leanMemory = (memory: Memory, excerpt: Excerpt, project: string | null) => ({
  ...{ id: String(memory.id), type: typeOfKind(memory.kind), ...excerpt },
  metadata: compactMetadata(memory, project),
  ...history(memory),
})

export const memoryOutput = z
  .looseObject({ id: z.string(), type: z.string(), content: z.string() })
  .meta({ description: 'Memory' })

/** A memory that is to be shown, and the place in its text around which it is cut where it must be. */
export interface ToShow {
  readonly memory: Memory
  readonly around: number | null
}

/** What an answer has room for, in code points. */
export interface Budget {
  /** For the contents: so much a memory, and so much at least. */
  readonly each: number
  readonly least: number
  /** For all of it, a memory, and at least: titles and tags take their part of it from the contents. */
  readonly whole: { readonly each: number; readonly least: number }
}

/** What is shown of the contents of an answer. */
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

/** Less of a content tells nothing. */
const SHORTEST = 100
