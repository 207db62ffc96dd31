import { compareText, trim } from '../text'

/** Selections of entries to delete, and results of deletions (threads contract §2.6, history contract §3). */

/** A captured entry with its expected version; 0 for any version. */
export type CapturedAt = readonly [id: number, version: number]

/** The entries to delete. Members are joined with AND. */
export interface DeleteSelection {
  readonly ids?: readonly number[]
  readonly threadIds?: readonly string[]
  readonly source?: 'user' | 'agent'
  /** Created before this time, milliseconds since 1970. */
  readonly createdBefore?: number
  /** Expected version of the only entry in `ids`. */
  readonly expectedVersion?: number
  /** Whether the delete fails, without any change, if the only entry in `ids` does not exist. */
  readonly mustStand?: boolean
  /** Entries that must exist as captured entries at these versions; otherwise nothing is deleted. */
  readonly captured?: readonly CapturedAt[]
}

/** The entries to erase. */
export type EraseSelection = Pick<DeleteSelection, 'ids' | 'threadIds' | 'expectedVersion'>

/** The result of an erasure. */
export interface Erased {
  /** Number of erased entries. */
  readonly count: number
  /** The number of these that were archived, and that had been deleted before. */
  readonly archived: number
  readonly before: number
  /** Entries of a thread that the caller can read but not change, which remain. */
  readonly left: number
}

/** The delete changed nothing: the entries have changed, or are still being removed. */
export class DeleteRefused extends Error {
  constructor() {
    super('a guard refused the delete')
    this.name = 'DeleteRefused'
  }
}

/** Prefix of the threads of memories, as opposed to conversations. */
export const MEMORY_THREAD = 'project:'

/** The thread in which a memory of a project is stored. A memory keeps its thread when it moves to another project. */
export const threadOfProject = (project: string | null): string => `${MEMORY_THREAD}${project ?? ''}`

/**
 * Normalizes tags: trimmed, lower case, without blanks and duplicates, sorted by UTF-8 bytes (threads contract §2.3).
 */
export function normalizeTags(tags: readonly string[]): string[] {
  const unique = new Set(tags.map((tag) => trim(tag).toLowerCase()).filter((tag) => tag !== ''))
  return [...unique].sort(compareText)
}
