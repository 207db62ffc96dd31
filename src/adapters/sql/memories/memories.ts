import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import type { Kind } from '../../../domain/entry/kind'
import type { Scope } from '../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../domain/pace'
import type { Memory, MemoryType } from '../../../domain/recall/memory'
import { MEMORY_SOURCES } from '../../../domain/recall/metadata'
import { EVERYTHING } from '../../../domain/search/filter'
import type { Clock } from '../../../ports/clock'
import type { Memories } from '../../../ports/memories'
import type { Row, SqlConnection } from '../connection'
import { readRows } from '../entries/rows'
import { unpackedColumns } from '../packed'
import { archivedCountStatement, archivedStatements } from './archived'
import { toMemory } from './brought-along'
import {
  accessAllStatement,
  accessStatement,
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
} from './memory-statements'
import { equalStatements, reportedStatement, toEqual, toReported } from './met-again'
import { taggedInParts, taggedListStatement } from './tagged-lists'
import { gatherUses, largeUses, type Uses, usesStatements } from './uses'

const first = (rows: readonly Row[] | undefined): Memory | null => (rows?.[0] === undefined ? null : toMemory(rows[0]))

async function pageOf(given: readonly Row[], pace: Pace) {
  const rows = unpackedColumns(SMALL_NAMES, given)
  const found = rows.filter(({ id }) => id !== null)
  return {
    memories: await readRows(found, pace, toMemory),
    omitted: rows.filter(({ id }) => id === null).map(({ wanted_id: id }) => Number(id)),
  }
}

/** An access is a note of use. */
const noteOf = ({ org }: Scope) => ({ org, isNote: true }) as const

/**
 * Memories in layers over any SQL connection.
 *
 * @param uses what this isolate showed and has not noted yet
 * @param pace rests between the parts of a long list, and of what is read
 */
export function createSqlMemories(
  connection: SqlConnection,
  clock: Clock,
  uses = gatherUses(),
  pace: Pace = WITHOUT_REST,
): Memories {
  /** Notes uses of large rows, a few at a time. @param written rows of the small ones, which have been noted */
  async function noteLarge(scope: Scope, noted: Uses, written: readonly Row[]): Promise<void> {
    const parts = connection.dialect.walked === null ? [] : largeUses(noted, written)
    for (const [i, part] of parts.entries()) {
      await pace.rest()
      try {
        await connection.batch(usesStatements(connection.dialect, scope.org, part, 'large'), noteOf(scope))
      } catch (error) {
        for (const left of parts.slice(i)) uses.giveBack(scope.org, left)
        throw error
      }
    }
  }

  /** What notes accesses brings along what was gathered, so that it counts them too. @returns the rows of the statements */
  async function noting(scope: Scope, statements: readonly SQL[]): Promise<Row[][]> {
    const gathered = uses.take(scope.org)
    const before = usesStatements(connection.dialect, scope.org, gathered, 'small')
    if (before.length + statements.length === 0) return []
    let rows: Row[][]
    try {
      rows = await connection.batch([...before, ...statements], noteOf(scope))
    } catch (error) {
      uses.giveBack(scope.org, gathered)
      throw error
    }
    await noteLarge(scope, gathered, rows.slice(0, before.length).flat())
    return rows.slice(before.length)
  }

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
      const [, rows] = await noting(scope, [accessStatement(asked, id), findStatement(asked, id)])
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

    async recalled(scope, filter, ids, maxBytes, afterwards) {
      if (ids.length === 0) return { memories: [], omitted: [] }
      const asked = { dialect: connection.dialect, scope, now: clock.now() }
      const gathered = uses.take(scope.org)
      const reading = shownStatement(asked, filter, ids, maxBytes)
      const notes = [
        ...usesStatements(asked.dialect, scope.org, gathered, 'small'),
        accessAllStatement(asked, filter, ids),
      ]
      let told: (rows: Row[][]) => void = () => {}
      const early = new Promise<Row[][]>((resolve) => {
        told = resolve
      })
      const whole = connection.batch([reading, ...notes], noteOf(scope), told).catch((error: unknown) => {
        uses.giveBack(scope.org, gathered)
        throw error
      })
      const [rows = []] = await Promise.race([early, whole])
      // Where it was not told early, there is nothing left to wait for.
      const admitted = rows.map(({ wanted_id: id }) => Number(id))
      afterwards(async () => {
        const written = (await whole).slice(1)
        await noteLarge(scope, gathered, written.slice(0, -1).flat())
        const own = { times: new Map(admitted.map((id) => [id, 1])), at: asked.now }
        await noteLarge(scope, own, written.at(-1) ?? [])
      })
      const { memories, omitted } = await pageOf(rows, pace)
      const noted = ({ id }: Memory): number => 1 + (gathered.times.get(id) ?? 0)
      return {
        memories: memories.map((memory) => ({ ...memory, accessCount: memory.accessCount + noted(memory) })),
        omitted,
      }
    },

    async shown(scope, filter, ids, maxBytes, { afterwards, brought }) {
      if (ids.length === 0) return { memories: [], omitted: [] }
      const { dialect } = connection
      const asked = { dialect, scope, now: clock.now() }
      const note = (admitted: readonly number[]): void => {
        if (uses.add(scope.org, admitted, asked.now)) afterwards(async () => void (await noting(scope, [])))
      }
      const known = ids.flatMap((id) => brought.get(id)?.() ?? [])
      if (known.length === ids.length) {
        note(ids)
        return { memories: known, omitted: [] }
      }
      const [rows = []] = await connection.read([shownStatement(asked, filter, ids, maxBytes)])
      note(rows.map(({ wanted_id: id }) => Number(id)))
      return pageOf(rows, pace)
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
