import { compareText, trim } from '../text'

/** Which entries a delete means, and what it took (threads contract §2.6, history contract §3). */

/** A captured entry, and the version that it has to stand at; 0: whichever. */
export type CapturedAt = readonly [id: number, version: number]

/** Which entries a delete means. Members are joined with AND. */
export interface DeleteSelection {
  readonly ids?: readonly number[]
  readonly threadIds?: readonly string[]
  readonly source?: 'user' | 'agent'
  /** Created before this instant, milliseconds since 1970. */
  readonly createdBefore?: number
  /** Of the one id that is named. */
  readonly expectedVersion?: number
  /** Whether nothing happens, and the delete fails, where the one id that is named is not there. */
  readonly mustStand?: boolean
  /** Those that are named, where nothing happens unless all of them stand there as captured entries, at these versions. */
  readonly captured?: readonly CapturedAt[]
}

/** What an erasure means. */
export type EraseSelection = Pick<DeleteSelection, 'ids' | 'threadIds' | 'expectedVersion'>

/** What an erasure took. */
export interface Erased {
  /** Entries in all. */
  readonly count: number
  /** Of these, what was archived, and what had been deleted before. */
  readonly archived: number
  readonly before: number
  /** Of a thread, what the caller reads and may not change, which stays. */
  readonly left: number
}

/** A delete did nothing: what it means stands otherwise, or is still being removed. */
export class DeleteRefused extends Error {
  constructor() {
    super('a guard refused the delete')
    this.name = 'DeleteRefused'
  }
}

/** Begins the name of every thread of memories, as opposed to conversations. */
export const MEMORY_THREAD = 'project:'

/** The thread in which a memory of a project is stored; it keeps that thread when it moves to another project. */
export const threadOfProject = (project: string | null): string => `${MEMORY_THREAD}${project ?? ''}`

/** Tags as stored: trimmed, lower-cased, blanks dropped, unique, sorted by UTF-8 bytes (threads contract §2.3). */
export function normalizeTags(tags: readonly string[]): string[] {
  const unique = new Set(tags.map((tag) => trim(tag).toLowerCase()).filter((tag) => tag !== ''))
  return [...unique].sort(compareText)
}
