import { type SQL, sql } from 'drizzle-orm'
import { limitExceeded } from '../../../../domain/errors'
import type { Scope } from '../../../../domain/identity/scope'
import { MEMORY_TYPES, typeOfKind } from '../../../../domain/recall/memory'
import { MEMORY_SOURCES } from '../../../../domain/recall/memory-metadata'
import type { Clock } from '../../../../ports/clock'
import type { Memories, MemoryQuery } from '../../../../ports/memories'
import { Batch, readOne, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import {
  asRows,
  countOf,
  each,
  firstRow,
  json,
  num,
  numbersOf,
  oneOf,
  str,
  strOrNull,
  unpackedColumns,
} from '../../core/rows'
import { archived, inProject } from '../../core/visibility'
import { kindOf, layerOf, readRows } from '../../tables/entries/entry-rows'
import { duplicatesOf, reportedStatement, toDuplicate, toReported } from '../../tables/memories/duplicates'
import {
  accessStatement,
  countStatement,
  findStatement,
  fitting,
  listStatement,
  listTotalStatement,
  MEMORY_COLUMNS,
  type MemoryContext,
  memoryColumns,
  otherProjectsStatement,
  SMALL_NAMES,
  shownStatement,
  sizedPage,
  summarizableStatement,
  toChangeStatement,
  toMemory,
} from '../../tables/memories/memory-statements'
import { LISTED_COLUMNS, rowsOfTags, taggedMemories } from '../../tables/pages/tags'
import { textOf } from '../../tables/texts/long-texts'

/** Archived memories (fabric contract §2.4), by their own index. */
const among = (dialect: SqlDialect, values: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

function admitted({ dialect, scope, now, project }: MemoryContext, { layer, kinds, tags }: MemoryQuery): SQL {
  const ofProject =
    project === null || layer === 3 ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  const ofKind = kinds === null ? sql`` : sql` AND e.kind IN ${among(dialect, kinds)}`
  const tagged =
    tags.length === 0
      ? sql``
      : sql` AND ${dialect.plan.exists(sql`SELECT 1 FROM ${dialect.jsonRows(sql`e.tags`)} own WHERE own.value IN ${among(dialect, tags)}`)}`
  return sql`${archived(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}${ofKind}${tagged}`
}

/** Returns a page, newest first, and the total. */
function archivedStatements(context: MemoryContext, query: MemoryQuery, maxBytes: number): { page: SQL; total: SQL } {
  const { dialect } = context
  const from = sql`FROM ${dialect.plan.entriesBy('entries_archived_idx')} WHERE ${admitted(context, query)}`
  return {
    page: sql`WITH page AS (
        SELECT e.id, e.created_at ${from} ORDER BY e.created_at DESC, e.id DESC LIMIT ${query.limit} OFFSET ${query.offset}
      ), ${sizedPage(dialect)}
      SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text FROM sized ${fitting(dialect, maxBytes)}
      ORDER BY sized.created_at DESC, sized.id DESC`,
    total: sql`SELECT count(*) AS total ${from}`,
  }
}

/** Returns the number of archived memories by kind. */
const archivedCountStatement = ({ dialect, scope, now, project }: MemoryContext): SQL => {
  const place =
    project === null ? sql`` : sql` AND (e.layer = 3 OR ${inProject(dialect, scope, project, sql`e.project`)})`
  return sql`
    SELECT e.layer, e.kind, e.pinned, count(*) AS count FROM ${dialect.plan.entriesBy('entries_archived_idx')}
    WHERE ${archived(dialect, scope, now)}${place}
    GROUP BY e.layer, e.kind, e.pinned`
}

/**
 * Lists memories by tags. All memories with a tag are collected once to be ordered and counted: on a database that runs one statement at a
 * time, up to this multiple of the rows of another statement, which are read in index order (platform contract §6).
 */
const TIMES = 10

/**
 * Returns a page with its total; for memories beyond `maxBytes` only the ID, as `wanted_id`. A row without `wanted_id` is an empty page; a
 * NULL total means that the tags are too frequent (`tooManyTagged`).
 */
function taggedListStatement(context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL {
  const { dialect } = context
  const most = dialect.bounded === null ? null : TIMES * dialect.bounded.entries
  const isShort = sql`(SELECT count(*) FROM walked) <= ${most}`
  const [matching, total] =
    most === null
      ? [sql`matching AS MATERIALIZED (${taggedMemories(context, query)})`, sql`count(*)`]
      : [
          sql`walked AS MATERIALIZED (SELECT ${LISTED_COLUMNS} FROM ${rowsOfTags(context, query)} LIMIT ${most + 1}),
            matching AS MATERIALIZED (${taggedMemories(context, query, sql`walked t`)} AND ${isShort})`,
          sql`CASE WHEN ${isShort} THEN count(*) END`,
        ]
  return sql`
  WITH ${matching}, page AS (
    SELECT id, created_at FROM matching ORDER BY created_at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${sizedPage(dialect)}
  SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text, counted.total
  FROM (SELECT ${total} AS total FROM matching) AS counted LEFT JOIN sized ON 1 = 1 ${fitting(dialect, maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`
}

const tooManyTagged = () =>
  limitExceeded('Too many memories have these tags to search them at once; use fewer tags, or a project')

const memoryTypeOf = oneOf(MEMORY_TYPES)

async function pageOf(given: readonly Row[]) {
  const rows = unpackedColumns(SMALL_NAMES, given)
  const found = rows.filter(({ id }) => id !== null)
  return {
    memories: await readRows(found, toMemory),
    omitted: rows.filter(({ id }) => id === null).map((row) => num(row, 'wanted_id')),
  }
}

/** Creates the reads of memories in layers over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlMemories(connection: SqlConnection, clock: Clock): Memories {
  const context = (scope: Scope, project: string | null): MemoryContext => ({
    dialect: connection.dialect,
    scope,
    now: clock.now(),
    project,
  })
  /** Reads a page and its total. */
  async function listOf(page: SQL, total: SQL) {
    const batch = new Batch()
    const rows = batch.add(page, asRows)
    const all = batch.add(total, countOf('total'))
    const result = await batch.run(connection)
    return { ...(await pageOf(result.of(rows))), total: result.of(all) }
  }

  return {
    async findToChange(scope, project, id) {
      return runOne(connection, toChangeStatement(context(scope, project), id), firstRow(toMemory))
    },

    async access(scope, project, id) {
      const asked = context(scope, project)
      const batch = new Batch(accessStatement(asked, id))
      const found = batch.add(findStatement(asked, id), firstRow(toMemory))
      return (await batch.run(connection, { org: scope.org, isNote: true })).of(found)
    },

    async list(scope, project, query, maxBytes) {
      const asked = context(scope, project)
      if (query.archived) {
        const { page, total } = archivedStatements(asked, query, maxBytes)
        return listOf(page, total)
      }
      if (query.tags.length > 0) {
        const tagged = await runOne(connection, taggedListStatement(asked, query, maxBytes), asRows)
        if (tagged[0]?.total === null) throw tooManyTagged()
        const page = tagged.filter(({ wanted_id: id }) => id !== null)
        return { ...(await pageOf(page)), total: countOf('total')(tagged) }
      }
      return listOf(listStatement(asked, query, maxBytes), listTotalStatement(asked, query))
    },

    async shown(scope, project, filter, ids, maxBytes) {
      if (ids.length === 0) return { memories: [], omitted: [] }
      const statement = shownStatement(context(scope, project), filter, ids, maxBytes)
      const rows = await readOne(connection, statement, asRows)
      const places = new Map(ids.map((id, place) => [id, place]))
      const placeOf = (row: Row): number => places.get(num(row, 'wanted_id')) as number
      return pageOf(rows.toSorted((a, b) => placeOf(a) - placeOf(b)))
    },

    async away(scope, project, ids) {
      if (ids.length === 0) return new Set()
      return new Set(await readOne(connection, otherProjectsStatement(context(scope, project), ids), numbersOf('id')))
    },

    async summarizable(scope, query) {
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      return runOne(
        connection,
        summarizableStatement(asked, query),
        each((row) => ({
          id: num(row, 'id'),
          version: num(row, 'version'),
          type: memoryTypeOf({ type: typeOfKind(kindOf(row, 'kind')) }, 'type'),
          title: strOrNull(row, 'title'),
          text: str(row, 'text'),
          tags: json<string[]>(row, 'tags'),
          origin: MEMORY_SOURCES.find((known) => known === row.origin) ?? 'ai_inferred',
          weight: num(row, 'weight'),
          links: num(row, 'links'),
          accesses: num(row, 'access_count'),
          createdAt: num(row, 'created_at'),
        })),
      )
    },

    async equals(scope, wanted) {
      if (wanted.length === 0) return []
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const batch = new Batch()
      const equal = duplicatesOf(asked, wanted, sql`${MEMORY_COLUMNS}, NULL AS text`)
      const found = equal.map((statement) => batch.add(statement, firstRow(toDuplicate)))
      const result = await batch.read(connection)
      return found.map((handle) => result.of(handle))
    },

    async reported(scope, project, key) {
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      return readOne(connection, reportedStatement(asked, project, key), each(toReported))
    },

    async count(scope, project) {
      const asked = context(scope, project)
      const sorts = (archived: boolean) =>
        each((row) => ({
          layer: layerOf(row),
          kind: kindOf(row, 'kind'),
          pinned: Boolean(row.pinned),
          archived,
          count: num(row, 'count'),
        }))
      const batch = new Batch()
      const standing = batch.add(countStatement(asked), sorts(false))
      const archived = batch.add(archivedCountStatement(asked), sorts(true))
      const result = await batch.run(connection)
      return [...result.of(standing), ...result.of(archived)]
    },
  }
}
