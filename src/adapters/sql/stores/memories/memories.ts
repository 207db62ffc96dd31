import { sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import type { Kind } from '../../../../domain/entry/kind'
import type { Scope } from '../../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../../domain/pace'
import type { Memory, MemoryType } from '../../../../domain/recall/memory'
import { MEMORY_SOURCES } from '../../../../domain/recall/metadata'
import { EVERYTHING } from '../../../../domain/search/filter'
import type { Clock } from '../../../../ports/clock'
import type { Memories } from '../../../../ports/memories'
import type { Row, SqlConnection } from '../../core/connection'
import { unpackedColumns } from '../../core/packed'
import { readRows } from '../../tables/entries/rows'
import { archivedCountStatement, archivedStatements } from '../../tables/memories/archived'
import { toMemory } from '../../tables/memories/memory-rows'
import {
  accessStatement,
  awayStatement,
  countStatement,
  findStatement,
  listStatement,
  listTotalStatement,
  MEMORY_COLUMNS,
  type MemoryContext,
  SMALL_NAMES,
  shownStatement,
  summarizableStatement,
  toChangeStatement,
} from '../../tables/memories/memory-statements'
import { equalStatements, reportedStatement, toEqual, toReported } from '../../tables/memories/met-again'
import { taggedInParts, taggedListStatement } from '../../tables/memories/tagged-lists'

const first = (rows: readonly Row[] | undefined): Memory | null => (rows?.[0] === undefined ? null : toMemory(rows[0]))

async function pageOf(given: readonly Row[], pace: Pace) {
  const rows = unpackedColumns(SMALL_NAMES, given)
  const found = rows.filter(({ id }) => id !== null)
  return {
    memories: await readRows(found, pace, toMemory),
    omitted: rows.filter(({ id }) => id === null).map(({ wanted_id: id }) => Number(id)),
  }
}

/**
 * Memories in layers over any SQL connection.
 *
 * @param pace rests between the parts of a long list, and of what is read
 */
export function createSqlMemories(connection: SqlConnection, clock: Clock, pace: Pace = WITHOUT_REST): Memories {
  const context = (scope: Scope, project: string | null): MemoryContext => ({
    dialect: connection.dialect,
    scope,
    now: clock.now(),
    project,
  })
  return {
    async findToChange(scope, project, id) {
      const [rows] = await connection.batch([toChangeStatement(context(scope, project), id)])
      return first(rows)
    },

    async access(scope, project, id) {
      const asked = context(scope, project)
      const statements = [accessStatement(asked, id), findStatement(asked, id)]
      const [, rows] = await connection.batch(statements, { org: scope.org, isNote: true })
      return first(rows)
    },

    async list(scope, project, query, maxBytes) {
      const asked = context(scope, project)
      if (query.archived) {
        const [rows = [], totals] = await connection.batch(archivedStatements(asked, query, maxBytes))
        return { ...(await pageOf(rows, pace)), total: Number(totals?.[0]?.total ?? 0) }
      }
      if (query.tags.length > 0) {
        const [tagged = []] = await connection.batch([taggedListStatement(asked, query, maxBytes)])
        const { walked } = connection.dialect
        if (tagged[0]?.total === null && walked !== null) {
          const { ids, total } = await taggedInParts(connection, pace, asked, query, walked)
          const [page = []] = await connection.read([shownStatement(asked, EVERYTHING, ids, maxBytes)])
          return { ...(await pageOf(page, pace)), total }
        }
        const page = tagged.filter(({ wanted_id: id }) => id !== null)
        return { ...(await pageOf(page, pace)), total: Number(tagged[0]?.total ?? 0) }
      }
      const [rows = [], totals] = await connection.batch([
        listStatement(asked, query, maxBytes),
        listTotalStatement(asked, query),
      ])
      return { ...(await pageOf(rows, pace)), total: Number(totals?.[0]?.total ?? 0) }
    },

    async shown(scope, filter, ids, maxBytes) {
      if (ids.length === 0) return { memories: [], omitted: [] }
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const [rows = []] = await connection.read([shownStatement(asked, filter, ids, maxBytes)])
      return pageOf(rows, pace)
    },

    async away(scope, project, ids) {
      if (ids.length === 0) return new Set()
      const [rows = []] = await connection.read([awayStatement(context(scope, project), ids)])
      return new Set(rows.map(({ id }) => Number(id)))
    },

    async summarizable(scope, query) {
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const [rows = []] = await connection.batch([summarizableStatement(asked, query)])
      return rows.map((row) => ({
        id: Number(row.id),
        version: Number(row.version),
        type: row.kind as MemoryType,
        title: row.title as string | null,
        text: row.text as string,
        tags: JSON.parse(row.tags as string) as string[],
        origin: MEMORY_SOURCES.find((known) => known === row.origin) ?? 'ai_inferred',
        weight: Number(row.weight),
        links: Number(row.links),
        accesses: Number(row.access_count),
        createdAt: Number(row.created_at),
      }))
    },

    async equals(scope, wanted) {
      if (wanted.length === 0) return []
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const rows = await connection.read(equalStatements(asked, wanted, sql`${MEMORY_COLUMNS}, NULL AS text`))
      return wanted.map((_, i) => toEqual(rows[i]?.[0]))
    },

    async reported(scope, project, key) {
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const [rows = []] = await connection.read([reportedStatement(asked, project, key)])
      return rows.map(toReported)
    },

    async count(scope, project) {
      const asked = context(scope, project)
      const [rows = [], archived = []] = await connection.batch([countStatement(asked), archivedCountStatement(asked)])
      const sorts = (some: readonly Row[], isArchived: boolean) =>
        some.map((row) => ({
          layer: Number(row.layer) as Layer,
          kind: row.kind as Kind,
          pinned: Boolean(row.pinned),
          archived: isArchived,
          count: Number(row.count),
        }))
      return [...sorts(rows, false), ...sorts(archived, true)]
    },
  }
}
