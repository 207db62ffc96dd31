import type { Entry, Layer } from '../entry/entry'
import { KINDS, type Kind } from '../entry/kind'
import type { Millis } from '../time'

/** A memory of the fabric family: an entry with its layer and usage (fabric contract §1). */
export interface Memory extends Entry {
  readonly weight: number
  readonly pinned: boolean
  /** Milliseconds since 1970; null when it does not expire. */
  readonly expiresAt: Millis | null
  readonly accessCount: number
}

/** A memory without its text. */
export type Shown = Omit<Memory, 'text'>

/** A memory in a short list. */
export interface MemorySummary {
  readonly id: number
  readonly kind: Kind
  /** The start of its text. */
  readonly content: string
  readonly createdAt: Millis
  readonly tags: readonly string[]
  /** ID of the newest memory that supersedes it and that the reader can see. */
  readonly supersededBy?: number
}

/** Number of memories with the same properties. */
export interface MemoryCount {
  readonly layer: Layer
  readonly kind: Kind
  readonly pinned: boolean
  readonly archived: boolean
  readonly count: number
}

/** Types that a caller can store. */
export const MEMORY_TYPES = ['code_pattern', 'bug_fix', 'decision', 'convention', 'scratchpad', 'relationship'] as const

export type MemoryType = (typeof MEMORY_TYPES)[number]

/** Kinds by type (platform contract §2). Every other kind is its own type. */
const KINDS_OF: Readonly<Record<MemoryType, readonly Kind[]>> = {
  decision: ['decision'],
  convention: ['rule', 'guide', 'convention'],
  bug_fix: ['gotcha', 'error_pattern', 'bug_fix'],
  code_pattern: ['pattern', 'procedure', 'template', 'tool', 'code_pattern'],
  relationship: ['claim', 'domain', 'topic', 'relationship'],
  scratchpad: ['session', 'episode', 'note', 'event', 'scratchpad', 'summary'],
}

const WORDS: ReadonlyMap<Kind, string> = new Map(
  MEMORY_TYPES.flatMap((type) => KINDS_OF[type].map((kind) => [kind, type] as const)),
)

/** The `type` of a memory in answers. */
export const typeOfKind = (kind: Kind): string => WORDS.get(kind) ?? kind

/** The kinds that a type or kind in a filter matches; null for an unknown word. */
export function kindsOfWord(word: string): readonly Kind[] | null {
  if (Object.hasOwn(KINDS_OF, word)) return KINDS_OF[word as MemoryType]
  const kind = KINDS.find((known) => known === word)
  return kind === undefined ? null : [kind]
}

/** The kinds of a type that a summary can replace. Conversations, events and summaries remain (fabric contract §8). */
export const summarizedKinds = (type: MemoryType): readonly Kind[] =>
  type === 'scratchpad' ? ['scratchpad'] : KINDS_OF[type]

export const memoryNotFound = (id: unknown): string => `Memory not found: ${id}`
