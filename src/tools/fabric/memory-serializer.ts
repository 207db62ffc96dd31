import * as z from 'zod'
import { readId } from '../../domain/entry/link'
import type { JsonValue, Metadata } from '../../domain/entry/metadata'
import { invalidInput, notFound } from '../../domain/errors'
import { givenAs, type Inspection, shortened } from '../../domain/flaws'
import { budgetOf, type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import { kindsOfWord, MEMORY_TYPES, type Memory, memoryNotFound, typeOfKind } from '../../domain/recall/memory'
import { leanMetadata, shownMetadata } from '../../domain/recall/metadata'
import { checkMemoryMetadata, isKnownKey } from '../../domain/recall/metadata-rules'
import { codePointLength } from '../../domain/text'
import { jsonObject } from '../fields'
import type { JsonSchema } from '../json-schema'
import { lenient } from '../lenient'
import { MemberBudget } from '../member-budget'
import { provenance } from '../provenance'
import { iso } from './wire'

/** How memories are named, shown and described by the tools that store and read them (fabric contract §1, §3). */
export const memoryId = z
  .union([z.string(), z.int()])
  .meta({ description: 'Id of the memory', anyOf: [{ type: 'string' }, { type: 'integer' }] })

/** @throws Problem not_found for what cannot be an id, as for one that is unknown */
export function readMemoryId(given: string | number): number {
  const id = readId(given)
  if (id === null) throw notFound(memoryNotFound(shortened(given)))
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
      Object.hasOwn(SHAPES, key) && value !== null ? (lenient(SHAPES[key], value, budget) as JsonValue) : value
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
  metadata: leanMetadata(memory, project),
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
