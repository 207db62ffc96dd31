import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import { MEMORY_TYPES, typeOfKind } from '../../../../domain/recall/memory'
import { MEMORY_SOURCES } from '../../../../domain/recall/metadata-rules'
import type { Clock } from '../../../../ports/clock'
import type { Memories } from '../../../../ports/memories'
import { Batch, readOne, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { unpackedColumns } from '../../core/packed'
import { asRows, countOf, each, firstRow, json, num, numbersOf, oneOf, str, strOrNull } from '../../core/rows'
import { kindOf, layerOf, readRows } from '../../tables/entries/rows'
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
import { taggedListStatement, tooManyTagged } from '../../tables/memories/tagged-lists'

const memoryTypeOf = oneOf(MEMORY_TYPES)

async function pageOf(given: readonly Row[]) {
  const rows = unpackedColumns(SMALL_NAMES, given)
  const found = rows.filter(({ id }) => id !== null)
  return {
    memories: await readRows(found, toMemory),
    omitted: rows.filter(({ id }) => id === null).map((row) => num(row, 'wanted_id')),
  }
}

/** Memories in layers over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlMemories(connection: SqlConnection, clock: Clock): Memories {
  const context = (scope: Scope, project: string | null): MemoryContext => ({
    dialect: connection.dialect,
    scope,
    now: clock.now(),
    project,
  })
  /** A page and how many there are in all. */
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
      return new Set(await readOne(connection, awayStatement(context(scope, project), ids), numbersOf('id')))
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
      const equal = equalStatements(asked, wanted, sql`${MEMORY_COLUMNS}, NULL AS text`)
      const found = equal.map((statement) => batch.add(statement, firstRow(toEqual)))
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
