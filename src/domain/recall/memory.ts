import type { Entry, Layer } from '../entry/entry'
import { KINDS, type Kind } from '../entry/kind'
import type { Millis } from '../time'

/** An entry as a memory of the fabric family (fabric contract §1): with its layer and what has happened to it. */
export interface Memory extends Entry {
  readonly weight: number
  readonly pinned: boolean
  /** Milliseconds since 1970; null when it does not end. */
  readonly expiresAt: Millis | null
  readonly accessCount: number
}

/** A memory without what is long. */
export type Shown = Omit<Memory, 'text'>

/** A memory as a glance shows it. */
export interface MemorySummary {
  readonly id: number
  readonly kind: Kind
  /** The beginning of its text. */
  readonly content: string
  readonly createdAt: Millis
  readonly tags: readonly string[]
  /** The newest that takes its place, of those that its reader sees. */
  readonly supersededBy?: number
}

/** How many memories there are of one sort. */
export interface MemoryCount {
  readonly layer: Layer
  readonly kind: Kind
  readonly pinned: boolean
  readonly archived: boolean
  readonly count: number
}

/** What a store may name. */
export const MEMORY_TYPES = ['code_pattern', 'bug_fix', 'decision', 'convention', 'scratchpad', 'relationship'] as const

export type MemoryType = (typeof MEMORY_TYPES)[number]

/** The kinds that fabric shows by one word (platform contract §2); every other kind is its own word. */
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

/** The word that a memory's `type` shows. */
export const typeOfKind = (kind: Kind): string => WORDS.get(kind) ?? kind

/** The kinds that a filter's word means, a type or a kind; null when it is neither. */
export function kindsOfWord(word: string): readonly Kind[] | null {
  if (Object.hasOwn(KINDS_OF, word)) return KINDS_OF[word as MemoryType]
  const kind = KINDS.find((known) => known === word)
  return kind === undefined ? null : [kind]
}

/** The kinds of a type that a summary takes in: what was said or happened stays, and so do summaries (fabric contract §8). */
export const summarizedKinds = (type: MemoryType): readonly Kind[] =>
  type === 'scratchpad' ? ['scratchpad'] : KINDS_OF[type]

export const memoryNotFound = (id: unknown): string => `Memory not found: ${id}`
