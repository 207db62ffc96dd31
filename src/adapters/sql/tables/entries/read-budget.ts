import { type SQL, sql } from 'drizzle-orm'
import { MAX_METADATA_BYTES } from '../../../../domain/entry/metadata'
import type { Scope } from '../../../../domain/identity/scope'
import type { Filter } from '../../../../domain/search/filter'
import { weightOf } from '../../../../domain/search/filter-weight'
import type { SqlDialect } from '../../core/dialect'

/** Metadata of an entry have no more bytes, as JSON. */
const LARGEST = sql.raw(String(MAX_METADATA_BYTES))

/** What one statement may go through for a filter, on a database that serves nobody meanwhile (platform contract §6). */
export interface ReadBudget {
  readonly entries: number
  /** Bytes of metadata; null where none are asked for. */
  readonly bytes: number | null
}

/** Null for a database of which any number may be asked. */
export function readBudgetOf({ bounded }: Pick<SqlDialect, 'bounded'>, filter: Filter): ReadBudget | null {
  if (bounded === null) return null
  const { entry, byte } = weightOf(filter)
  return {
    entries: Math.max(1, Math.floor(bounded.entries / entry)),
    bytes: byte === 0 ? null : Math.floor(bounded.metadata / byte),
  }
}

/** Entries that are within a share whatever metadata they have. */
export const entriesWithin = ({ entries, bytes }: ReadBudget): number =>
  bytes === null ? entries : Math.max(1, Math.min(entries, Math.floor(bytes / MAX_METADATA_BYTES)))

/** Bytes of metadata from which on an index knows an entry (`entries_large_metadata_idx`). */
export const LARGE = 1_024

/** How many entries are within a share where none has large metadata; null where that would be a small part of it. */
export function mostOfSmall({ entries, bytes }: ReadBudget): number | null {
  const most = bytes === null ? entries : Math.min(entries, Math.floor(bytes / LARGE))
  return most * 2 >= entries ? most : null
}

/** A condition that no listed entry of the org has large metadata, where an index of those is kept. */
export const noneIsLarge = (dialect: SqlDialect, { org }: Scope): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
    WHERE e.org = ${org} AND e.listed = 1 AND octet_length(e.metadata) > ${sql.raw(String(LARGE))})`

/** A query of the bytes of all large metadata of the org, by the index alone. */
export const largeBytes = (dialect: SqlDialect, { org }: Scope): SQL =>
  sql`(SELECT coalesce(sum(octet_length(e.metadata)), 0) FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
    WHERE e.org = ${org} AND e.listed = 1 AND octet_length(e.metadata) > ${sql.raw(String(LARGE))})`

/** Bytes of metadata of an entry `e`, which a filter of metadata parses. */
export const PARSED_BYTES = sql`coalesce(octet_length(e.metadata), 0)`

/**
 * A condition that some entries are within a share.
 *
 * @param bytes of their metadata at most; evaluated where need be
 * @param isSmall whether none of them has large metadata
 */
export function fits({ entries: most, bytes: mostBytes }: ReadBudget, entries: SQL, bytes: SQL, isSmall: SQL): SQL {
  if (mostBytes === null) return sql`${entries} <= ${most}`
  return sql`(${entries} <= ${most} AND (
    ${entries} * ${LARGEST} <= ${mostBytes}
    OR (${entries} * ${sql.raw(String(LARGE))} <= ${mostBytes} AND ${isSmall})
    OR ${bytes} <= ${mostBytes}
  ))`
}
