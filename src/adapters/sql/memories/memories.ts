import type { Layer } from '../../../domain/entry/entry'
import type { Kind } from '../../../domain/entry/kind'
import type { Scope } from '../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../domain/pace'
import type { Memory, MemoryType } from '../../../domain/recall/memory'
import { DEFAULT_CONFIDENCE } from '../../../domain/recall/metadata'
import { EVERYTHING } from '../../../domain/search/filter'
import type { Clock } from '../../../ports/clock'
import type { Memories } from '../../../ports/memories'
import type { Row, SqlConnection } from '../connection'
import { readRows } from '../entries/rows'
import { unpackedColumns } from '../packed'
import { toMemory } from './memory-rows'
import {
  accessStatement,
  awayStatement,
  countStatement,
  findStatement,
  listStatement,
  listTotalStatement,
  type MemoryContext,
  SMALL_NAMES,
  shownStatement,
  summarizableStatement,
  toChangeStatement,
} from './memory-statements'
import { taggedInParts, taggedListStatement } from './tagged-lists'

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
        weight: Number(row.weight),
        confidence: row.confidence === null ? DEFAULT_CONFIDENCE : Number(row.confidence),
        createdAt: Number(row.created_at),
      }))
    },

    async count(scope, project) {
      const [rows = []] = await connection.batch([countStatement(context(scope, project))])
      return rows.map((row) => ({
        layer: Number(row.layer) as Layer,
        kind: row.kind as Kind,
        pinned: Boolean(row.pinned),
        count: Number(row.count),
      }))
    },
  }
}
