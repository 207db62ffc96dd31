import { type SQL, sql } from 'drizzle-orm'
import { BEGINNING } from '../../../domain/entry/long-text'
import type { Scope } from '../../../domain/identity/scope'
import type { Filter } from '../../../domain/search/filter'
import type { Stretch } from '../../../ports/entry-store'
import { compileFilter, joinConditions } from '../compile-filter'
import type { Bindings, SqlDialect } from '../dialect'
import { LAYERS, roomIds, together } from '../memories/room-rows'
import { beginningOf, textOf } from '../texts/long-texts'
import { previewText } from '../texts/text-marks'
import { circle, expired, listed, readable } from '../visibility'
import { besideBytes, ENTRY_COLUMNS, entryColumnsWhere } from './rows'
import { taggedEntries } from './tags'

/** The statements that read entries and threads. */
export interface ReadContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: number
  /** Metadata fields with an index of their own. */
  readonly indexedFields: ReadonlySet<string>
}

/** A statement that begins with what its bound values need. */
export function withPrelude(bindings: Bindings, tables: readonly SQL[], body: SQL): SQL {
  const prelude = bindings.prelude()
  const all = prelude === null ? [...tables] : [prelude, ...tables]
  return all.length === 0 ? body : sql`WITH ${sql.join(all, sql`, `)} ${body}`
}

/**
 * Whole entries in the order of the ids, as long as they hold so many bytes together; of the others the id alone, as
 * `wanted_id`. The first always fits.
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
        ${dialect.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE ${readable(dialect, scope, now)}
    )
    SELECT sized.id AS wanted_id, ${ENTRY_COLUMNS}, ${textOf()} AS text
    FROM sized
      ${dialect.followLeft('entries', 'e', sql`e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.size)`)}
    ORDER BY sized.place`
}

/** Entries `e` by their ids, which lead to the rows: as a condition beside the org, they would lead through all of it. */
export const entriesById = (dialect: SqlDialect, ids: readonly number[]): SQL =>
  sql`${dialect.jsonNumbers(sql`${JSON.stringify([...new Set(ids)])}`)} wanted
    ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}`

/** What stands beside a text comes with its preview up to here: a hundred of them stay within a result. */
const USUAL_BESIDE = 64_000

/** The columns of a preview: where what stands beside the text is unusually large, its size comes in its place. */
export const previewColumns = ({ dialect }: Pick<ReadContext, 'dialect'>, previewLength: number): SQL => {
  const size = besideBytes(dialect)
  const usual = sql`${size} <= ${USUAL_BESIDE}`
  return sql`${entryColumnsWhere(usual)}, ${previewText(dialect, previewLength)}, ${size} AS beside,
    CASE WHEN ${usual} THEN 0 ELSE 1 END AS bare`
}

/** Listed entries among the ids that the filter admits. @param whole with what stands beside their texts, however large */
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
    ? sql`${ENTRY_COLUMNS}, ${previewText(dialect, previewLength)}`
    : previewColumns(context, previewLength)
  return withPrelude(
    bindings,
    [],
    sql`SELECT ${columns} FROM ${entriesById(dialect, ids)} WHERE ${listed(dialect, scope, now)} AND ${condition}`,
  )
}

/** What is read of entries to be changed: long texts are not, and metadata up to a bound. */
export function toChangeStatement(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  ids: readonly number[],
  most: { readonly text: number; readonly metadata: number },
): SQL {
  const text = sql`(e.bytes - coalesce(${dialect.byteLength(sql`e.metadata`)}, 0))`
  return sql`WITH sized AS (
      SELECT e.id, sum(${text}) OVER (ORDER BY e.id) AS bytes, sum(${besideBytes(dialect)}) OVER (ORDER BY e.id) AS beside
      FROM ${entriesById(dialect, ids)} WHERE ${readable(dialect, scope, now)}
    )
    SELECT ${entryColumnsWhere(sql`sized.beside <= ${most.metadata}`)}, e.text_hash,
      CASE WHEN sized.bytes <= ${most.text} THEN ${textOf()} END AS text,
      CASE WHEN sized.beside <= ${most.metadata} THEN 0 ELSE 1 END AS bare
    FROM sized ${dialect.follow('entries', 'e', sql`e.id = sized.id`)}`
}

/** What `wanted` asks for of a text; of most only its beginning is read. */
const stretchOf = (dialect: SqlDialect): SQL => {
  const cut = (text: SQL) => sql`substr(${text}, CAST(wanted.start AS integer), CAST(wanted.length AS integer))`
  if (dialect.beginning === null) return cut(textOf())
  return sql`CASE WHEN CAST(wanted.start AS integer) + CAST(wanted.length AS integer) <= ${sql.raw(String(BEGINNING + 1))}
    THEN ${cut(beginningOf(dialect, BEGINNING))} ELSE ${cut(textOf())} END`
}

/** Parts of the texts of listed entries that the filter admits. */
export function stretchesStatement(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  filter: Filter,
  wanted: readonly Stretch[],
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
      ${dialect.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE ${listed(dialect, scope, now)} AND ${condition}`,
  )
}

/** Parts of a filter of which each must hold. */
export const conjuncts = (filter: Filter): readonly Filter[] =>
  filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter]

export interface Plan {
  readonly from: SQL
  readonly where: SQL
  /** Rows come by an index other than the one in the order of time. */
  readonly selective: boolean
  /** The newest id first, as `ORDER BY` of a plan that was made for it. */
  readonly byId: SQL
}

const NEWEST_ID = sql.raw('e.id DESC')

/**
 * Chooses where to start, because neither engine knows beforehand which filter is selective: a thread or a date through
 * its index in the order of time, else a tag through the tag table, else an indexed metadata field.
 *
 * @param order `byId`: the newest id is wanted first, by the index that has the ids of the org or of the thread in order
 */
export function planEntries(
  context: ReadContext,
  filter: Filter,
  bindings: Bindings,
  { byId = false }: { readonly byId?: boolean } = {},
): Plan {
  const { dialect, scope, now, indexedFields } = context
  const parts = conjuncts(filter)
  const tag = parts.find((part) => part.op === 'tag')
  const inThread = parts.some((part) => part.op === 'thread')
  /** By rows to which one of the parts has led. */
  const selective = (from: SQL, done: Filter): Plan => {
    const others = { op: 'and', of: parts.filter((part) => part !== done) } as const
    const where = sql`${listed(dialect, scope, now)} AND ${compileFilter(others, dialect, bindings.bind)}`
    return { from, where, selective: true, byId: NEWEST_ID }
  }
  if (tag && !inThread) {
    const room = parts.find((part) => part.op === 'room')?.is
    const layers = parts.find((part) => part.op === 'layer')?.anyOf ?? LAYERS
    const places =
      room === undefined ? [{}] : layers.map((layer) => (layer === 3 ? { layer } : { layer, project: room }))
    const tagged = places.map((place) => taggedEntries(dialect, scope, tag.anyOf, place))
    const from = sql`(${tagged.length === 0 ? sql`SELECT 0 AS entry_id WHERE 1 = 0` : together(tagged)}) tagged
      ${dialect.follow('entries', 'e', sql`e.id = tagged.entry_id`)}`
    return selective(from, tag)
  }
  const room = parts.find((part) => part.op === 'room')
  if (room && !inThread) {
    const layers = parts.find((part) => part.op === 'layer')?.anyOf
    const from = sql`(${roomIds(context, room.is, layers)}) roomed ${dialect.follow('entries', 'e', sql`e.id = roomed.id`)}`
    return selective(from, room)
  }
  const indexed = parts.some(
    (part) => part.op === 'equals' && part.path.length === 1 && indexedFields.has(part.path[0] as string),
  )
  if (indexed && !inThread) {
    // A bound of time must not lead to the rows either: it usually admits far more than an indexed field.
    const conditions = parts.map((part) => {
      const condition = compileFilter(part, dialect, bindings.bind)
      return part.op === 'created' ? dialect.unordered(condition) : condition
    })
    const all = joinConditions('and', conditions)
    return {
      from: sql`entries e`,
      where: sql`${listed(dialect, scope, now)} AND ${all}`,
      selective: true,
      byId: NEWEST_ID,
    }
  }
  const thread = byId ? parts.find((part) => part.op === 'thread') : undefined
  const visible = listed(dialect, scope, now, 'e', { inOrderOfOrg: byId && !inThread })
  const ofThread =
    thread === undefined ? sql`` : sql` AND ${dialect.rangeOf(sql`e.thread_id`, bindings.bind(thread.is))}`
  const others: Filter = { op: 'and', of: parts.filter((part) => part !== thread) }
  const where = sql`${visible}${ofThread} AND ${compileFilter(others, dialect, bindings.bind)}`
  const illustrated = !inThread && parts.some((part) => part.op === 'contentType' && part.is === 'multimodal')
  const from = illustrated ? dialect.illustratedEntries : sql`entries e`
  return {
    from,
    where,
    selective: false,
    byId: dialect.inOrder(inThread ? sql`e.thread_id DESC` : sql`e.org`, NEWEST_ID),
  }
}

/** The threads `stale`, whose counters still hold entries that have expired or are leaving; they are counted from their entries. */
export const staleThreads = ({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>): SQL => sql`stale AS (
    SELECT x.thread_id FROM entries x WHERE x.org = ${scope.org} AND ${expired(now, 'x')}
    UNION
    SELECT x.thread_id FROM leaving l ${dialect.follow('entries', 'x', sql`x.id = l.entry_id`)} WHERE l.org = ${scope.org}
  )`

/** A table `live` with one row a visible thread: from the counters, except for the few that are stale. */
export function liveThreads({ dialect, scope, now }: ReadContext, threadId?: string): SQL {
  const only = (alias: string) => (threadId === undefined ? sql`` : sql`AND ${sql.raw(alias)}.thread_id = ${threadId}`)
  const inStale = dialect.follow(
    'entries',
    'e',
    sql`e.org = ${scope.org} AND e.listed = 1 AND e.thread_id = stale.thread_id`,
  )
  return sql`${staleThreads({ dialect, scope, now })}, live AS (
    SELECT c.thread_id,
      sum(c.entries) AS entries, sum(c.user_entries) AS user_entries, sum(c.multimodal) AS multimodal,
      sum(c.bytes) AS bytes, sum(c.words) AS words,
      min(c.first_second) AS first_second, max(c.last_second) AS last_second,
      min(c.first_id) AS first_id, max(c.last_id) AS last_id
    FROM thread_counters c
    WHERE c.org = ${scope.org} AND ${circle(dialect, scope, 'c', 'empty')} ${only('c')}
      AND c.thread_id NOT IN (SELECT thread_id FROM stale)
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
