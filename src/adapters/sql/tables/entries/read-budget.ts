import { type SQL, sql } from 'drizzle-orm'
import { MAX_METADATA_BYTES } from '../../../../domain/entry/metadata'
import type { Scope } from '../../../../domain/identity/scope'
import type { Filter } from '../../../../domain/search/filter'
import { weightOf } from '../../../../domain/search/filter-weight'
import type { SqlDialect } from '../../core/dialect'

/** Maximum bytes of the metadata of an entry, as JSON. */
const LARGEST = sql.raw(String(MAX_METADATA_BYTES))

/** Limits of one statement for a filter, on a database that runs one statement at a time (platform contract §6). */
export interface ReadBudget {
  readonly entries: number
  /** Bytes of metadata; null if the filter parses none. */
  readonly bytes: number | null
}

/** Returns the budget of a filter; null for a database without limits. */
export function readBudgetOf({ bounded }: Pick<SqlDialect, 'bounded'>, filter: Filter): ReadBudget | null {
  if (bounded === null) return null
  const { entry, byte } = weightOf(filter)
  return {
    entries: Math.max(1, Math.floor(bounded.entries / entry)),
    bytes: byte === 0 ? null : Math.floor(bounded.metadata / byte),
  }
}

/** Returns the number of entries that fit the budget whatever the size of their metadata. */
export const entriesWithin = ({ entries, bytes }: ReadBudget): number =>
  bytes === null ? entries : Math.max(1, Math.min(entries, Math.floor(bytes / MAX_METADATA_BYTES)))

/** Minimum bytes of metadata for an index of large ones (`entries_large_metadata_idx`). */
export const LARGE = 1_024

/** Returns how many entries without large metadata fit the budget; null if that would be a small part of it. */
export function mostOfSmall({ entries, bytes }: ReadBudget): number | null {
  const most = bytes === null ? entries : Math.min(entries, Math.floor(bytes / LARGE))
  return most * 2 >= entries ? most : null
}

/** Returns a condition that no listed entry of the organization has large metadata, by their index. */
export const noneIsLarge = (dialect: SqlDialect, { org }: Scope): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
    WHERE e.org = ${org} AND e.listed = 1 AND octet_length(e.metadata) > ${sql.raw(String(LARGE))})`

/** Returns a query of the bytes of all large metadata of the organization, by the index alone. */
export const largeBytes = (dialect: SqlDialect, { org }: Scope): SQL =>
  sql`(SELECT coalesce(sum(octet_length(e.metadata)), 0) FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
    WHERE e.org = ${org} AND e.listed = 1 AND octet_length(e.metadata) > ${sql.raw(String(LARGE))})`

/** Bytes of metadata of an entry `e` that a filter parses. */
export const PARSED_BYTES = sql`coalesce(octet_length(e.metadata), 0)`

/**
 * Returns a condition that entries fit the budget.
 *
 * @param bytes maximum bytes of their metadata; evaluated only if needed
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
