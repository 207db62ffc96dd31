import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import { indexText } from '../../domain/indexed-text'
import { type Pace, WITHOUT_REST } from '../../domain/pace'
import type { IndexMaintenance } from '../../ports/index-maintenance'
import type { SqlConnection } from './connection'
import { ENTRY_COLUMNS, toEntry } from './rows'

/** Raised when the analysis in `domain/analysis.ts`, a stemmer or the terms of scopes change, so that every index is written anew. */
const ANALYSIS = 5

interface Progress {
  readonly analysis: string
  /** Entries up to this id are written by `analysis`; null when all are. */
  readonly upTo: number | null
  /** Nothing was ever written about this index. */
  readonly isNew?: true
}

/** Which analysis wrote the index stands in `settings`; without a row the index is as old as the database. */
export function createSqlIndexMaintenance(
  connection: SqlConnection,
  analyzer: Analyzer,
  pace: Pace = WITHOUT_REST,
): IndexMaintenance {
  const { dialect } = connection
  const wanted = `${analyzer.language}/${ANALYSIS}`

  async function progress(): Promise<Progress> {
    const [rows, entries] = await connection.batch([
      sql`SELECT value FROM settings WHERE name = 'full_text'`,
      sql`SELECT id FROM entries LIMIT 1`,
    ])
    const value = rows?.[0]?.value as string | undefined
    if (value !== undefined) return JSON.parse(value) as Progress
    // English is what a new database begins with, and databases of earlier releases say what theirs is (migration 0010); an
    // empty index suits every language.
    return { analysis: entries?.length === 0 ? wanted : `english/${ANALYSIS}`, upTo: null, isNew: true }
  }

  const remember = (state: Progress) =>
    sql`INSERT INTO settings (name, value) VALUES ('full_text', ${JSON.stringify(state)})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`

  const isDone = (state: Progress): boolean => state.analysis === wanted && state.upTo === null

  return {
    async isCurrent() {
      return isDone(await progress())
    },

    async rebuild(limit) {
      const state = await progress()
      if (isDone(state)) {
        if (state.isNew) await connection.batch([remember({ analysis: wanted, upTo: null })])
        return 0
      }
      const from = state.analysis === wanted ? (state.upTo ?? 0) : 0
      const [rows] = await connection.batch([
        sql`SELECT ${ENTRY_COLUMNS}, e.org, e.text FROM entries e WHERE e.id > ${from} ORDER BY e.id LIMIT ${limit}`,
      ])
      const found = rows ?? []
      const last = found.at(-1)
      const writes: SQL[] = []
      for (const row of found) {
        const entry = toEntry(row)
        const indexed = await pace.run(indexText(analyzer, entry))
        // The version keeps a row that has changed meanwhile from being indexed by its old words.
        const same = sql`e.id = ${entry.id} AND e.version = ${entry.version}`
        writes.push(dialect.indexEntry(row.org as string, entry, indexed, same))
      }
      const upTo = found.length < limit ? null : Number(last?.id)
      await connection.batch([...writes, remember({ analysis: wanted, upTo })], 'all')
      return found.length
    },
  }
}
