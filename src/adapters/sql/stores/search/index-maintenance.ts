import { type SQL, sql } from 'drizzle-orm'
import { inBatches } from '../../../../domain/batches'
import { unavailable } from '../../../../domain/errors'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { stopWordsMark } from '../../../../domain/search/stop-words'
import type { IndexMaintenance } from '../../../../ports/retention'
import { Batch, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { IndexMerge } from '../../core/dialect'
import { each, firstRow, howMany, json, num } from '../../core/rows'
import { WRITE_BUDGET } from '../../core/write-budget'
import { createIndexWriter, ERASED, queueForgetting } from '../../tables/vectors/index-writer'

/**
 * Version of the index: raise it when the analysis (`domain/search/analysis.ts`), a stemmer or the terms of scopes change. Every index is
 * then rebuilt.
 */
const ANALYSIS = 7

/** Bytes of text that one batch reads: some seconds of work. */
const MAX_BYTES = 8_000_000

/** Merges of one step in which erased words leave the index. */
const FORGETTING = 20

interface Progress {
  readonly analysis: string
  /** Entries up to this ID are written by `analysis`; null when all are. */
  readonly upTo: number | null
  /** The database has no version of the index yet. */
  readonly isNew?: true
}

/**
 * Creates the index maintenance. `settings` stores the version of the index; without a row the index is as old as the database.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlIndexMaintenance(connection: SqlConnection, analyzer: Analyzer): IndexMaintenance {
  const writer = createIndexWriter(connection, analyzer)
  const wanted = `${analyzer.language}/${ANALYSIS}${connection.dialect.indexForm}${stopWordsMark(analyzer.language)}`

  async function progress(): Promise<Progress> {
    const batch = new Batch()
    const noted = batch.add(
      sql`SELECT value FROM settings WHERE name = 'full_text'`,
      firstRow((row) => json<Progress>(row, 'value')),
    )
    const entries = batch.add(sql`SELECT id FROM entries LIMIT 1`, howMany)
    const result = await batch.run(connection)
    const known = result.of(noted)
    if (known !== null) return known
    // A new database begins with English; an empty index has the wanted version.
    return { analysis: result.of(entries) === 0 ? wanted : `english/${ANALYSIS}`, upTo: null, isNew: true }
  }

  const remember = (state: Progress) =>
    sql`INSERT INTO settings (name, value) VALUES ('full_text', ${JSON.stringify(state)})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`

  const isDone = (state: Progress): boolean => state.analysis === wanted && state.upTo === null

  async function changed({ state }: IndexMerge, merge: SQL): Promise<boolean> {
    const batch = new Batch()
    const before = batch.add(
      state,
      firstRow((row) => row.state),
    )
    batch.do([merge])
    const after = batch.add(
      state,
      firstRow((row) => row.state),
    )
    const result = await batch.run(connection)
    return result.of(before) !== result.of(after)
  }

  return {
    async isCurrent() {
      return isDone(await progress())
    },

    async rebuild(limit) {
      const state = await progress()
      if (isDone(state)) {
        if (state.isNew) await new Batch(remember({ analysis: wanted, upTo: null })).run(connection)
        return { written: 0, more: false }
      }
      let bytes = 0
      const from = state.analysis === wanted ? (state.upTo ?? 0) : 0
      const found = await runOne(
        connection,
        sql`SELECT e.id, e.bytes FROM entries e WHERE e.id > ${from} ORDER BY e.id LIMIT ${limit}`,
        each((row) => ({ id: num(row, 'id'), bytes: num(row, 'bytes') })),
      )
      const last = found.at(-1)?.id ?? 0
      const isEnd = found.length < limit
      if (found.length === 0) await new Batch(remember({ analysis: wanted, upTo: null })).run(connection, 'all')
      let written = 0
      for (const group of inBatches(found, ({ bytes }) => bytes, WRITE_BUDGET)) {
        const ids = group.map(({ id }) => id)
        const upTo = ids.at(-1) ?? last
        await writer.write(ids, 'all', () => [
          remember({ analysis: wanted, upTo: isEnd && upTo === last ? null : upTo }),
        ])
        written += ids.length
        bytes += group.reduce((sum, one) => sum + one.bytes, 0)
        if (bytes >= MAX_BYTES && upTo !== last) return { written, more: true }
        await scheduler.yield()
      }
      return { written, more: !isEnd }
    },

    async merge() {
      const { mergeIndex: parts } = connection.dialect
      return parts !== null && (await changed(parts, parts.merge))
    },

    async forget(org, key) {
      const { mergeIndex: parts } = connection.dialect
      if (parts === null) return
      if (key === ERASED && !(await changed(parts, parts.forget.begin))) return
      for (let step = 0; step < FORGETTING; step++) {
        await scheduler.yield()
        if (!(await changed(parts, parts.forget.goOn))) return
      }
      await new Batch(queueForgetting(sql`SELECT ${org} AS org`, 0, 'begun')).run(connection)
    },

    async write(org, id) {
      const written = await writer.write([id], { org })
      const standing = await runOne(connection, sql`SELECT id FROM entries WHERE id = ${id} AND org = ${org}`, howMany)
      if (!written.has(id) && standing > 0) throw unavailable('the entry changes while its words are written')
    },
  }
}
