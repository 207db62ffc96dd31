import { budgetOf, type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import type { Memory } from '../../domain/recall/memory'
import { typeOfKind } from '../../domain/recall/memory'
import { leanMetadata } from '../../domain/recall/metadata'
import { codePointLength } from '../../domain/text'
import { provenance } from '../provenance'
import { replaced } from './memory-wire'
import { iso } from './wire'

/** A memory as models receive it where it is one of several (fabric contract §1). */
export const leanMemory = (memory: Memory, excerpt: Excerpt, project: string | null) => ({
  ...{ id: String(memory.id), type: typeOfKind(memory.kind), ...excerpt },
  metadata: leanMetadata(memory, project),
  ...{ createdAt: iso(memory.createdAt), updatedAt: iso(memory.updatedAt) },
  ...{ accessCount: memory.accessCount, version: memory.version },
  ...(memory.layer === 1 && memory.expiresAt !== null ? { expiresAt: iso(memory.expiresAt) } : {}),
  ...(memory.archived ? { archived: true } : {}),
  ...provenance(memory),
  ...replaced(memory),
})

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
