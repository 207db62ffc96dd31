import type { SQL } from 'drizzle-orm'
import type { DatabaseHealth } from '../../ports/models'
import { isReading, sharingReads } from '../sql/core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../sql/core/connection'
import type { SqlDialect } from '../sql/core/dialect'
import { toQuery } from '../sqlite/match'
import { translate } from './errors'

/** Maximum size of a D1 database on the Paid plan, in bytes. */
const D1_LIMIT = 10_000_000_000

/** Cost of one batch, for logs, budgets and benchmarks. */
export interface BatchCost {
  readonly statements: number
  /** As billed by D1. */
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly milliseconds: number
}

/** Counts since this isolate started. */
const counts = { total: 0, failed: 0, lastFailed: false, latencyMs: 0 }

/** Last reported size of each database, in bytes. */
const sizes = new WeakMap<D1Database, number>()

/** Creates a connection to D1, which runs a batch as one transaction in one round trip. */
export function createD1Connection(
  db: D1Database,
  dialect: SqlDialect,
  observe: (cost: BatchCost) => void = () => {},
): SqlConnection & { readonly health: DatabaseHealth } {
  const batch = async (statements: readonly SQL[]): Promise<Row[][]> => {
    const started = Date.now()
    counts.total += statements.length
    const texts: string[] = []
    try {
      const prepared = statements.map((statement) => {
        const { sql, params } = toQuery(statement)
        texts.push(sql)
        return db.prepare(sql).bind(...params)
      })
      const results = await db.batch<Row>(prepared)
      counts.lastFailed = false
      counts.latencyMs = Date.now() - started
      const size = results.at(-1)?.meta.size_after
      if (typeof size === 'number') sizes.set(db, size)
      observe({
        milliseconds: counts.latencyMs,
        statements: statements.length,
        rowsRead: results.reduce((sum, { meta }) => sum + (meta.rows_read ?? 0), 0),
        rowsWritten: results.reduce((sum, { meta }) => sum + (meta.rows_written ?? 0), 0),
      })
      return results.map(({ results: rows }) => rows)
    } catch (error) {
      const translated = translate(error, !texts.every(isReading))
      if (!(translated instanceof PreconditionFailed)) {
        counts.failed += statements.length
        counts.lastFailed = true
      }
      throw translated
    }
  }
  return {
    dialect,
    batch,
    read: sharingReads(batch),
    health: {
      backend: 'sqlite',
      ping: async () => {
        try {
          const [result] = await db.batch([db.prepare('SELECT 1')])
          const size = result?.meta.size_after
          if (typeof size === 'number') sizes.set(db, size)
        } catch (error) {
          throw translate(error, false)
        }
      },
      counts: () => ({ ...counts }),
      bytes: () => sizes.get(db) ?? null,
      limit: D1_LIMIT,
    },
  }
}
