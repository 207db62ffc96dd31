import { type SQL, sql } from 'drizzle-orm'
import { MAX_METADATA_BYTES } from '../../../../domain/entry/metadata'
import type { Scope } from '../../../../domain/identity/scope'
import type { Filter } from '../../../../domain/search/filter'
import { weightOf } from '../../../../domain/search/filter-weight'
import type { SqlDialect } from '../../core/dialect'

/** Metadata of an entry have no more bytes, as JSON. */
const LARGEST = sql.raw(String(MAX_METADATA_BYTES))

/** What one statement may go through for a filter, on a database that serves nobody meanwhile (platform contract §6). */
export interface Share {
  readonly entries: number
  /** Bytes of metadata; null where none are asked for. */
  readonly bytes: number | null
  /** Entries with more metadata are not looked at by the statement. */
  readonly above: number
}

/** Null for a database of which any number may be asked. */
export function shareOf({ bounded }: Pick<SqlDialect, 'bounded'>, filter: Filter): Share | null {
  if (bounded === null) return null
  const { entry, byte, above } = weightOf(filter)
  return {
    entries: Math.max(1, Math.floor(bounded.entries / entry)),
    bytes: byte === 0 ? null : Math.floor(bounded.metadata / byte),
    above,
  }
}

/** Entries that are within a share whatever metadata they have. */
export const entriesWithin = ({ entries, bytes, above }: Share): number =>
  bytes === null ? entries : Math.max(1, Math.min(entries, Math.floor(bytes / above)))

/** Bytes of metadata from which on an index knows an entry (`entries_large_metadata_idx`). */
const LARGE = 1_024

/** How many entries are within a share where none has large metadata; null where that would be a small part of it. */
export function mostOfSmall({ entries, bytes }: Share): number | null {
  const most = bytes === null ? entries : Math.min(entries, Math.floor(bytes / LARGE))
  return most * 2 >= entries ? most : null
}

/** A condition that no listed entry of the org has large metadata, where an index of those is kept. */
export const noneIsLarge = (dialect: SqlDialect, { org }: Scope): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
    WHERE e.org = ${org} AND e.listed = 1 AND octet_length(e.metadata) > ${sql.raw(String(LARGE))})`

/** Metadata that are passed over, to what stands behind them in a row, cost so many times less than those that are parsed. */
export const PASSED_OVER = 16

/** Bytes of metadata of an entry `e` that a statement looks at, or as many as it costs to pass them over. */
export const parsedBytes = ({ above }: Share): SQL => {
  const bytes = sql`octet_length(e.metadata)`
  return sql`coalesce(CASE WHEN ${bytes} <= ${sql.raw(String(above))} THEN ${bytes} ELSE ${bytes} / ${sql.raw(String(PASSED_OVER))} END, 0)`
}

/** A condition that so many entries, with so many bytes of text and metadata, are within a share; bytes are asked for where need be. */
export function fits({ entries: most, bytes: mostBytes, above }: Share, entries: SQL, bytes: SQL): SQL {
  if (mostBytes === null) return sql`${entries} <= ${most}`
  const mostPassed = mostBytes * PASSED_OVER
  return sql`(${entries} <= ${most} AND (
    (${entries} * ${sql.raw(String(above))} <= ${mostBytes} AND (${entries} * ${LARGEST} <= ${mostPassed} OR ${bytes} <= ${mostPassed}))
    OR ${bytes} <= ${mostBytes}
  ))`
}
