// The interface of a database connection, and the conversion of statements to text. drizzle-orm renders each fragment separately and joins
// them level by level, which is slow in a Worker; `render` writes all in one pass.

import { Param, SQL, StringChunk } from 'drizzle-orm'
import type { VisibilityChange } from '../../../domain/history/feed'
import type { SqlDialect } from './dialect'

export type Row = Record<string, unknown>

/**
 * The writes that a batch waits for when a database runs writes concurrently: those of one organization, or all. D1 has one writer at a
 * time and ignores it. A batch without a lock must be correct with any concurrent batch.
 */
export type WriteLock = OrgLock | 'all'

interface OrgLock {
  readonly org: string
  /**
   * The batch only records usage: it is visible to later reads, but may be lost when the database crashes at that moment.
   */
  readonly isNote?: boolean
  /** The batch may use the reserve of a full local disk: deletes, which free space, and the audit row of a read. */
  readonly usesReserve?: boolean
}

/** Publishes the changes of a committed batch. @param sights null for more changes than can be listed */
export type Announce = (org: string, sights: readonly VisibilityChange[] | null) => void

/** The database interface of the SQL adapters. Results of statements are read by handles (batch.ts). */
export interface SqlConnection {
  readonly dialect: SqlDialect
  /**
   * Runs statements in order as one transaction in one round trip; returns the rows of each.
   *
   * @throws PreconditionFailed when a precondition failed; Problem unavailable when the database does not respond
   */
  batch(statements: readonly SQL[], lock?: WriteLock): Promise<Row[][]>
  /** Called with the entry changes of each committed batch of this connection. */
  readonly announce?: Announce
  /** Called when a batch has written entries of an organization, with whether background work is pending. */
  readonly leave?: (org: string, isDue: boolean) => void
  /** Runs statements that only read: concurrent calls may share a round trip. */
  read(statements: readonly SQL[]): Promise<Row[][]>
}

/** Returns the name of the failed precondition in an error message; null for other messages. */
export const failedPrecondition = (message: string): string | null =>
  /precondition failed: (\w+)/.exec(message)?.[1] ?? null

/** A precondition of a batch failed, so that nothing of the batch was done. */
export class PreconditionFailed extends Error {
  /** @param premise name of the precondition, if it has one */
  constructor(readonly premise: string | null = null) {
    super('a precondition of the batch failed')
    this.name = 'PreconditionFailed'
  }
}

/**
 * Converts a statement to text.
 *
 * @param place returns the placeholder for a value, in the order of values; its second argument is the last text before the value
 */
export function render(statement: SQL, place: (value: unknown, before: string) => string): string {
  let text = ''
  let before = ''
  const write = (chunk: unknown): void => {
    if (chunk instanceof StringChunk)
      for (const part of chunk.value) {
        text += part
        before = part
      }
    else if (chunk instanceof SQL) for (const part of chunk.queryChunks) write(part)
    else if (chunk !== undefined) text += place(chunk instanceof Param ? chunk.value : chunk, before)
  }
  write(statement)
  return text
}
