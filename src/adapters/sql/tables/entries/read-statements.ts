import { type SQL, sql } from 'drizzle-orm'
import { PREVIEW_LENGTH } from '../../../../domain/entry/long-text'
import type { Scope } from '../../../../domain/identity/scope'
import type { Filter } from '../../../../domain/search/filter'
import type { Millis } from '../../../../domain/time'
import type { TextRange } from '../../../../ports/entry-store'
import { compileFilter } from '../../core/compile-filter'
import type { Bindings, IndexedFields, SqlDialect } from '../../core/dialect'
import { accessScope, changeable, expired, listed, visibilityFilterOf, visible } from '../../core/visibility'
import { supersededBy } from '../links/links'
import { previewOf, previewText, textOf } from '../texts/long-texts'
import { ENTRY_COLUMNS, entryColumnsWhere, largeColumnBytes } from './entry-rows'

/** Statements that read entries and threads. */
export interface ReadContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
  readonly indexedFields: IndexedFields
}

/** Returns a statement that begins with the tables of its bound values. */
export function withPrelude(bindings: Bindings, tables: readonly SQL[], body: SQL): SQL {
  const prelude = bindings.prelude()
  const all = prelude === null ? [...tables] : [prelude, ...tables]
  return all.length === 0 ? body : sql`WITH ${sql.join(all, sql`, `)} ${body}`
}

/**
 * Returns complete entries in the order of the IDs, up to a number of bytes; of the others only the ID, as `wanted_id`. The first one is
 * always returned.
 */
export function withinStatement(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  ids: readonly number[],
  maxBytes: number,
): SQL {
  const places = JSON.stringify(ids.map((id, place) => [id, place]))
  const size = sql`e.bytes + coalesce(length(e.images), 0) + length(e.tags)`
  return sql`WITH sized AS (
      SELECT e.id, wanted.place, ${size} AS size, sum(${size}) OVER (ORDER BY wanted.place) AS up_to_here
      FROM ${dialect.jsonTable(sql`${places}`, { id: 'integer', place: 'integer' })} wanted
        ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE ${visible(dialect, scope, now)}
    )
    SELECT sized.id AS wanted_id, ${ENTRY_COLUMNS}, ${textOf()} AS text, ${supersededBy(dialect, scope, now)} AS superseded_by
    FROM sized
      ${dialect.plan.followLeft(
        'entries',
        'e',
        sql`e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.size)`,
      )}
    ORDER BY sized.place`
}

/** Returns entries `e` by their IDs, by the primary key: a condition next to the organization would scan all of it. */
export const entriesById = (dialect: SqlDialect, ids: readonly number[]): SQL =>
  sql`${dialect.jsonNumbers(sql`${JSON.stringify([...new Set(ids)])}`)} wanted
    ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}`

/** Maximum bytes of the large columns in a preview: a hundred previews fit into a result. */
const USUAL_LARGE_BYTES = 64_000

/** Returns the columns of a preview. Unusually large columns are replaced by their size. */
export const previewColumns = (
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  previewLength: number,
): SQL => {
  const size = largeColumnBytes(dialect)
  const usual = sql`${size} <= ${USUAL_LARGE_BYTES}`
  return sql`${entryColumnsWhere(usual)}, ${previewText(dialect, previewLength)}, ${size} AS beside,
    CASE WHEN ${usual} THEN 0 ELSE 1 END AS bare, ${supersededBy(dialect, scope, now)} AS superseded_by`
}

/**
 * Returns previews of the listed entries with these IDs that the filter matches. @param whole with large columns of any size
 */
export function previewsStatement(
  context: Omit<ReadContext, 'indexedFields'>,
  filter: Filter,
  ids: readonly number[],
  { previewLength, whole = false }: { readonly previewLength: number; readonly whole?: boolean },
): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const condition = compileFilter(filter, dialect, bindings.bind)
  const columns = whole
    ? sql`${ENTRY_COLUMNS}, ${previewText(dialect, previewLength)}, ${supersededBy(dialect, scope, now)} AS superseded_by`
    : previewColumns(context, previewLength)
  return withPrelude(
    bindings,
    [],
    sql`SELECT ${columns} FROM ${entriesById(dialect, ids)}
      WHERE ${listed(dialect, scope, now, 'e', visibilityFilterOf(filter))} AND ${condition}`,
  )
}

/** Returns the columns of entries that the caller may change, without long texts, and metadata up to a limit. */
export function toChangeStatement(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  ids: readonly number[],
  most: { readonly text: number; readonly metadata: number },
): SQL {
  const text = sql`(e.bytes - coalesce(${dialect.byteLength(sql`e.metadata`)}, 0))`
  return sql`WITH sized AS (
      SELECT e.id, sum(${text}) OVER (ORDER BY e.id) AS bytes, sum(${largeColumnBytes(dialect)}) OVER (ORDER BY e.id) AS beside
      FROM ${entriesById(dialect, ids)} WHERE ${changeable(dialect, scope, now)}
    )
    SELECT ${entryColumnsWhere(sql`sized.beside <= ${most.metadata}`)},
      CASE WHEN sized.bytes <= ${most.text} THEN ${textOf()} END AS text,
      CASE WHEN sized.beside <= ${most.metadata} THEN 0 ELSE 1 END AS bare
    FROM sized ${dialect.plan.follow('entries', 'e', sql`e.id = sized.id`)}`
}

/** Returns the text range that `wanted` requests. */
const stretchOf = (dialect: SqlDialect): SQL => {
  const cut = (text: SQL) => sql`substr(${text}, CAST(wanted.start AS integer), CAST(wanted.length AS integer))`
  if (dialect.preview === null) return cut(textOf())
  return sql`CASE WHEN CAST(wanted.start AS integer) + CAST(wanted.length AS integer) <= ${sql.raw(String(PREVIEW_LENGTH + 1))}
    THEN ${cut(previewOf(dialect, PREVIEW_LENGTH))} ELSE ${cut(textOf())} END`
}

/** Returns text ranges of the listed entries that the filter matches. */
export function textRangesStatement(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  filter: Filter,
  wanted: readonly TextRange[],
): SQL {
  const bindings = dialect.bindings()
  const condition = compileFilter(filter, dialect, bindings.bind)
  const given = JSON.stringify(wanted.map(({ id, start, length }) => [id, start + 1, length]))
  const parts = dialect.jsonTable(sql`${given}`, { id: 'integer', start: 'integer', length: 'integer' })
  return withPrelude(
    bindings,
    [],
    sql`SELECT e.id, ${stretchOf(dialect)} AS text
      FROM ${parts} wanted
      ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE ${listed(dialect, scope, now, 'e', visibilityFilterOf(filter))} AND ${condition}`,
  )
}

/**
 * Returns the threads `stale`, whose counters include expired entries or ones pending deletion; these threads are counted by their entries.
 */
export const staleThreads = ({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>): SQL => sql`stale AS (
    SELECT x.thread_id FROM entries x WHERE x.org = ${scope.org} AND ${expired(now, 'x')}
    UNION
    SELECT x.thread_id FROM pending_deletes l ${dialect.plan.follow('entries', 'x', sql`x.id = l.entry_id`)} WHERE l.org = ${scope.org}
  )`

/**
 * Returns a table `live` with one row for each visible thread, from the counters except for stale ones. @param which one thread only
 */
export function liveThreads(context: Omit<ReadContext, 'indexedFields'>, which?: string): SQL {
  const { dialect, scope, now } = context
  const only = (alias: string) => (which === undefined ? sql`` : sql`AND ${sql.raw(alias)}.thread_id = ${which}`)
  const inStale = dialect.plan.follow(
    'entries',
    'e',
    sql`e.org = ${scope.org} AND e.listed = 1 AND e.thread_id = stale.thread_id`,
  )
  // Usually no thread is stale, which D1 checks once instead of for each row.
  const noneStale = dialect.bounded === null ? sql`` : sql`NOT EXISTS (SELECT 1 FROM stale) OR `
  const fresh = sql`(${noneStale}c.thread_id NOT IN (SELECT thread_id FROM stale))`
  return sql`${staleThreads(context)}, live AS (
    SELECT c.thread_id,
      sum(c.entries) AS entries, sum(c.user_entries) AS user_entries, sum(c.multimodal) AS multimodal,
      sum(c.bytes) AS bytes, sum(c.words) AS words,
      min(c.first_second) AS first_second, max(c.last_second) AS last_second,
      min(c.first_id) AS first_id, max(c.last_id) AS last_id
    FROM thread_counters c
    WHERE c.org = ${scope.org} AND ${accessScope(dialect, scope, 'c', 'empty')} ${only('c')}
      AND ${fresh}
    GROUP BY c.thread_id
    UNION ALL
    SELECT e.thread_id,
      count(*), coalesce(sum(CASE WHEN e.source = 'user' THEN 1 ELSE 0 END), 0),
      coalesce(sum(CASE WHEN e.image_count > 0 THEN 1 ELSE 0 END), 0),
      coalesce(sum(e.bytes), 0), coalesce(sum(e.text_words), 0),
      min(e.created_second), max(e.created_second),
      min(e.id), max(e.id)
    FROM stale ${inStale}
    WHERE ${listed(dialect, scope, now)} ${only('e')}
    GROUP BY e.thread_id)`
}
