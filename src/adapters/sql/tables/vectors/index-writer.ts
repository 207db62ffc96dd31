// Writes the words of entries to the search index when they are not part of the write itself: from the current rows, a bounded part at a
// time.

import { type SQL, sql } from 'drizzle-orm'
import { inBatches } from '../../../../domain/batches'
import type { TextVector } from '../../../../domain/entry/entry'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { indexText } from '../../../../domain/search/indexed-text'
import type { Millis } from '../../../../domain/time'
import { Batch, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { ReadToIndex, SqlDialect } from '../../core/dialect'
import { asRows, each, jsonGroups, num, numbersOf, str } from '../../core/rows'
import { WRITE_BUDGET } from '../../core/write-budget'
import { ENTRY_COLUMNS, toEntry } from '../entries/entry-rows'
import { entriesById } from '../entries/read-statements'
import { LEASE_MS } from '../outbox/outbox-rows'
import { textOf } from '../texts/long-texts'

const VECTOR = { model: 'text', chunk: 'integer', start: 'integer', length: 'integer', data: 'text' } as const

const INTO = sql`
  INSERT INTO entry_vectors (org, entry_id, layer, project, reader, model, chunk, start, length, data)
  SELECT e.org, e.id, CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader,
    made.model, made.chunk, made.start, made.length, made.data`

/** Inserts the vectors of the entry that `row` selects (a condition on `e`); usually one statement. */
export function insertVectors(dialect: SqlDialect, vectors: readonly TextVector[], row: SQL): SQL[] {
  const rows = vectors.map(({ model, chunk, start, length, data }) => [model, chunk, start, length, data])
  return jsonGroups(rows).map(
    (json) => sql`${INTO}
      FROM ${dialect.jsonTable(sql`${json}`, VECTOR)} made ${dialect.plan.follow('entries', 'e', sql`${row}`)}`,
  )
}

/** Inserts vectors of many entries that still have the given versions; existing chunks stay. Few statements. */
export function insertVectorsOf(
  dialect: SqlDialect,
  entries: readonly { readonly id: number; readonly version: number; readonly vectors: readonly TextVector[] }[],
): SQL[] {
  const rows = entries.flatMap(({ id, version, vectors }) =>
    vectors.map(({ model, chunk, start, length, data }) => [model, chunk, start, length, data, id, version]),
  )
  const columns = { ...VECTOR, id: 'integer', version: 'integer' } as const
  return jsonGroups(rows).map(
    (json) => sql`${INTO}
      FROM ${dialect.jsonTable(sql`${json}`, columns)} made
        ${dialect.plan.follow('entries', 'e', sql`e.id = made.id AND e.version = made.version`)}
      WHERE 1 = 1 ON CONFLICT (entry_id, model, chunk) DO NOTHING`,
  )
}

/** An entry that is not indexed yet, and its size. */
export interface Sized {
  readonly id: number
  readonly bytes: number
}

/** An entry that was committed without its words, and the vectors of its text. */
interface Unsearchable {
  readonly id: number
  readonly textHash: string
  /** Null if none were made, or if they are queued anyway. */
  readonly vectors: readonly TextVector[] | null
}

/** An entry that was read to be indexed. */
interface ReadEntry {
  readonly id: number
  readonly version: number
  readonly textHash: string
}

/** Attempts for entries that change while they are read; then the schedule indexes them. */
const TRIES = 5

/**
 * Queues work that the writer does itself right after its commit. If it dies before, the schedule does it.
 *
 * @param row a condition on `e` that selects the entry
 */
export const queueIndexing = (topics: readonly ('index' | 'embed')[], row: SQL, now: Millis): SQL[] =>
  topics.map(
    (topic) => sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
      SELECT e.org, ${topic}, CAST(e.id AS TEXT), ${now}, ${now + LEASE_MS} FROM entries e WHERE ${row}
      ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
  )

/** Writes the words of entries with these versions, and counts them, since a commit without words has counted none. */
export function wordStatements(dialect: SqlDialect, entries: readonly ReadToIndex[]): SQL[] {
  if (entries.length === 0) return []
  const [only] = entries
  const counted = JSON.stringify(entries.map(({ id, version, indexed }) => [id, version, indexed.words]))
  const seen = dialect.jsonTable(sql`${counted}`, { id: 'integer', version: 'integer', words: 'integer' })
  return [
    // One long text may be larger than a value.
    ...(only !== undefined && entries.length === 1
      ? [dialect.indexEntry(only, sql`e.id = ${only.id} AND e.version = ${only.version}`)]
      : dialect.indexEntries(entries)),
    sql`UPDATE entries SET text_words = counted.words
      FROM (
        SELECT e.id, seen.words FROM ${seen} seen ${dialect.plan.follow('entries', 'e', sql`e.id = seen.id AND e.version = seen.version`)}
        WHERE e.text_words <> seen.words
      ) counted
      WHERE entries.id = counted.id`,
  ]
}

export function createIndexWriter(connection: SqlConnection, analyzer: Analyzer) {
  const { dialect } = connection

  /**
   * Rewrites the words of these entries in one transaction of few statements; they should fit the write budget.
   *
   * @param lock the organization of all of them, or 'all'
   * @param further returns further statements of the transaction from the entries read; those on entries apply to the rows of `same` (`e`)
   * @returns the IDs of the entries that were unchanged when they were written
   */
  async function write(
    ids: readonly number[],
    lock: { readonly org: string } | 'all',
    further: (read: readonly ReadEntry[], same: SQL) => readonly SQL[] = () => [],
  ): Promise<Set<number>> {
    const rows = await runOne(
      connection,
      sql`SELECT ${ENTRY_COLUMNS}, e.org, ${textOf()} AS text FROM ${entriesById(dialect, ids)}`,
      asRows,
    )
    const entries: (ReadToIndex & ReadEntry)[] = []
    for (const row of rows) {
      const content = toEntry(row)
      const { id, version } = content
      const indexed = await scheduler.run(indexText(analyzer, content))
      entries.push({ id, version, textHash: str(row, 'text_hash'), org: str(row, 'org'), content, indexed })
    }
    // The version prevents that a changed row is indexed by its old words.
    const read = JSON.stringify(entries.map(({ id, version }) => [id, version]))
    const seen = dialect.jsonTable(sql`${read}`, { id: 'integer', version: 'integer' })
    const same = sql`${seen} seen ${dialect.plan.follow('entries', 'e', sql`e.id = seen.id AND e.version = seen.version`)}`
    const batch = new Batch()
    const unchanged = batch.add(sql`SELECT e.id FROM ${same}`, numbersOf('id'))
    batch.do(wordStatements(dialect, entries)).do(further(entries, same))
    return new Set((await batch.run(connection, lock)).of(unchanged))
  }

  /** Returns those of the entries whose words are not written yet, and their sizes. */
  async function unwritten(org: string, ids: readonly number[]): Promise<Sized[]> {
    return runOne(
      connection,
      sql`SELECT e.id, e.bytes FROM ${entriesById(dialect, ids)}
        ${dialect.plan.follow('outbox', 'o', sql`o.org = e.org AND o.topic = 'index' AND o.key = CAST(e.id AS TEXT)`)}
        WHERE e.org = ${org}`,
      each((row) => ({ id: num(row, 'id'), bytes: num(row, 'bytes') })),
    )
  }

  const done = (topic: string, same: SQL): SQL =>
    sql`DELETE FROM outbox WHERE id ${dialect.plan.oneOf(sql`SELECT o.id FROM ${same}
      ${dialect.plan.follow('outbox', 'o', sql`o.org = e.org AND o.topic = ${topic} AND o.key = CAST(e.id AS TEXT)`)}`)}`

  return {
    write,

    /**
     * Indexes entries of an organization that were committed without their words, in bounded chunks, with yields in between. It never
     * fails: the
     * entries are stored, and after an error a caller would store them again.
     *
     * @returns whether all were indexed; if not, the schedule continues
     */
    async complete(org: string, entries: readonly Unsearchable[]): Promise<boolean> {
      if (entries.length === 0) return true
      const made = new Map(entries.map((entry) => [entry.id, entry]))
      /** Returns the vectors of the texts that were read. */
      const vectorsOf = (read: readonly ReadEntry[]): SQL[] => {
        const known = read.flatMap(({ id, version, textHash }) => {
          const entry = made.get(id)
          return entry?.vectors && entry.textHash === textHash ? [{ id, version, vectors: entry.vectors }] : []
        })
        if (known.length === 0) return []
        const json = JSON.stringify(known.map(({ id, version }) => [id, version]))
        const given = dialect.jsonTable(sql`${json}`, { id: 'integer', version: 'integer' })
        const same = sql`${given} given ${dialect.plan.follow('entries', 'e', sql`e.id = given.id AND e.version = given.version`)}`
        return [
          sql`DELETE FROM entry_vectors WHERE entry_id ${dialect.plan.oneOf(sql`SELECT e.id FROM ${same}`)}`,
          ...insertVectorsOf(dialect, known),
          done('embed', same),
        ]
      }
      try {
        let left = await unwritten(org, [...made.keys()])
        for (let tries = 0; left.length > 0 && tries < TRIES; tries++) {
          const missed: Sized[] = []
          for (const group of inBatches(left, ({ bytes }) => bytes, WRITE_BUDGET)) {
            const written = await write(
              group.map(({ id }) => id),
              { org },
              (read, same) => [...vectorsOf(read), done('index', same)],
            )
            missed.push(...group.filter(({ id }) => !written.has(id)))
            await scheduler.yield()
          }
          left =
            missed.length === 0
              ? []
              : await unwritten(
                  org,
                  missed.map(({ id }) => id),
                )
        }
        return left.length === 0
      } catch {
        return false
      }
    },
  }
}

/** Key of the removal of erased words that has not begun. */
export const ERASED = 'erased'
/** Time to wait for further erasures. */
export const GATHERED_MS = 60_000

/** Queues the removal of erased words. @param orgs a query of the `org` with erased entries, or of none */
export const queueForgetting = (orgs: SQL, dueAt: Millis, key: typeof ERASED | 'begun' = ERASED): SQL => sql`
  INSERT INTO outbox (org, topic, key, created_at, due_at)
  SELECT work.org, 'words', ${key}, ${dueAt}, ${dueAt} FROM (${orgs}) work WHERE true
  ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at`
