import type { SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { unavailable } from '../../domain/errors'
import type { DatabaseHealth } from '../../ports/health'
import { PremiseFailed, premiseIn, type Row, type SqlConnection } from '../sql/connection'
import type { SqlDialect } from '../sql/dialect'
import { sharingReads } from '../sql/sharing-reads'

/** What one batch cost, for logs, budgets and benches. */
export interface BatchCost {
  readonly statements: number
  /** As D1 bills them. */
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** Counts since this isolate started. */
const counts = { total: 0, failed: 0, lastFailed: false, latencyMs: 0 }

const renderer = new SQLiteSyncDialect()

/** Statements that are wrong, as opposed to a database that does not answer: these are bugs and stay visible as such. */
const OUR_FAULT = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG)|syntax error|no such (table|column)|too many/i

function translate(error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('premise no longer holds')) return new PremiseFailed(premiseIn(message))
  if (/SQLITE_FULL|maximum DB size/i.test(message))
    return unavailable('The database is full; delete entries or move to a larger database', error)
  if (OUR_FAULT.test(message)) return error
  return unavailable('The database did not answer; nothing was changed, try again', error)
}

/** D1 runs a batch as one transaction in one round trip. */
export function createD1Connection(
  db: D1Database,
  dialect: SqlDialect,
  observe: (cost: BatchCost) => void = () => {},
): SqlConnection & { readonly health: DatabaseHealth } {
  const batch = async (statements: readonly SQL[]): Promise<Row[][]> => {
    const started = Date.now()
    counts.total += statements.length
    try {
      const prepared = statements.map((statement) => {
        const { sql, params } = renderer.sqlToQuery(statement)
        return db.prepare(sql).bind(...params)
      })
      const results = await db.batch<Row>(prepared)
      counts.lastFailed = false
      counts.latencyMs = Date.now() - started
      observe({
        statements: statements.length,
        rowsRead: results.reduce((sum, { meta }) => sum + (meta.rows_read ?? 0), 0),
        rowsWritten: results.reduce((sum, { meta }) => sum + (meta.rows_written ?? 0), 0),
      })
      return results.map(({ results: rows }) => rows)
    } catch (error) {
      const translated = translate(error)
      if (!(translated instanceof PremiseFailed)) {
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
        await db.prepare('SELECT 1').first()
      },
      counts: () => ({ ...counts }),
    },
  }
}
