// How does a statement become text? drizzle-orm writes each fragment apart and joins them again level by level, which took an eighth of
// what a call for the moment takes in the Worker; here all are written in one go.

import { Param, SQL, StringChunk } from 'drizzle-orm'
import type { VisibilityChange } from '../../../domain/history/feed'
import type { SqlDialect } from './dialect'

export type Row = Record<string, unknown>

/**
 * Whose writes wait for each other where a database would run them at the same time: those of one org, or all. D1 has one
 * writer at a time and needs no telling. A batch without a lock must be right whatever runs beside it.
 */
export type WriteLock = OrgLock | 'all'

interface OrgLock {
  readonly org: string
  /**
   * What is written is a note of use: seen by whoever reads after the batch, as everything is, but nobody waits until it would outlive a
   * crash of the database in that moment.
   */
  readonly isNote?: boolean
  /** Done while a local disk is full, from the reserve on that disk: deletes, which free space, and the audit row of a read. */
  readonly usesReserve?: boolean
}

/** Hears what a batch has changed, once it is committed. @param sights null for more than could be told */
export type Announce = (org: string, sights: readonly VisibilityChange[] | null) => void

/** A database as the SQL adapters need it. Statements are read by their handles (batch.ts). */
export interface SqlConnection {
  readonly dialect: SqlDialect
  /**
   * Runs statements in order as one transaction in one round trip; rows of each.
   *
   * @throws PremiseFailed when a guard refused; Problem unavailable when the database does not answer
   */
  batch(statements: readonly SQL[], lock?: WriteLock): Promise<Row[][]>
  /** Told what batches of this connection change of entries. */
  readonly announce?: Announce
  /** Told that a batch has written entries of an org, and whether work is due that somebody is to do. */
  readonly leave?: (org: string, isDue: boolean) => void
  /** As `batch`, for statements that only read: calls made in the same moment may share a round trip. */
  read(statements: readonly SQL[]): Promise<Row[][]>
}

/** The name of a premise in the message of a guard that failed. */
export const failedPrecondition = (message: string): string | null =>
  /precondition failed: (\w+)/.exec(message)?.[1] ?? null

/** A guard inside a batch did not hold, so nothing of the batch happened. */
export class PreconditionFailed extends Error {
  /** @param premise its name, where the guard has one */
  constructor(readonly premise: string | null = null) {
    super('the premise of a guarded batch no longer holds')
    this.name = 'PremiseFailed'
  }
}

/**
 * The text of a statement made of texts, values and other statements.
 *
 * @param place gives what stands for a value, in the order in which values come; it is told the last words of text before the value
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
