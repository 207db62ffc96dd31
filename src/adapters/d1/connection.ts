import type { SQL } from 'drizzle-orm'
import { Problem, unavailable } from '../../domain/errors'
import { Unsettled } from '../../domain/search/filter'
import type { DatabaseHealth } from '../../ports/health'
import { PremiseFailed, premiseIn, type Row, type SqlConnection } from '../sql/connection'
import { type SqlDialect, UNSETTLED } from '../sql/dialect'
import { isReading, unanswered } from '../sql/failures'
import { render } from '../sql/render'
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

/** After this a number stands as it is: SQLite looks at it to plan, and so would compile a cached statement anew at every call. */
const LIMITS = /\bLIMIT $/

/**
 * A statement as D1 takes it. Each value once, however often it stands in it: the database reads and checks each of them, and takes 100
 * a statement.
 */
export function toQuery(statement: SQL): { sql: string; params: unknown[] } {
  const places = new Map<unknown, string>()
  const sql = render(statement, (value, before) => {
    if (Number.isSafeInteger(value) && LIMITS.test(before)) return String(value)
    const place = places.get(value) ?? `?${places.size + 1}`
    places.set(value, place)
    return place
  })
  return { sql, params: [...places.keys()] }
}

const MAKE_ROOM = 'nothing was changed, delete entries or give it more room'
const TOO_BIG = 'An entry of this size does not fit into the database; nothing was changed, split it into several'

/** Statements that are wrong, as opposed to a database that does not answer: these are bugs and stay visible as such. */
const OUR_FAULT = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)|syntax error|no such (table|column)|too many/i

/** @param wrote whether the batch would have written: its commit may have succeeded although the answer was lost */
export function translate(error: unknown, wrote: boolean): unknown {
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes(UNSETTLED)) return new Unsettled()
  if (message.includes('premise no longer holds')) return new PremiseFailed(premiseIn(message))
  // These are refused by the database itself, which rolls the whole batch back.
  if (/maximum DB size/i.test(message))
    return new Problem('limit_exceeded', `The database has reached its largest size; ${MAKE_ROOM}`, {}, error)
  if (/SQLITE_FULL|disk is full/i.test(message))
    return unavailable(`The database, or the disk that it is on, is full; ${MAKE_ROOM}`, error)
  if (/SQLITE_TOOBIG|too big/i.test(message)) return new Problem('limit_exceeded', TOO_BIG, {}, error)
  if (OUR_FAULT.test(message)) return error
  return unavailable(unanswered('The database did not answer', wrote), error)
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
      observe({
        statements: statements.length,
        rowsRead: results.reduce((sum, { meta }) => sum + (meta.rows_read ?? 0), 0),
        rowsWritten: results.reduce((sum, { meta }) => sum + (meta.rows_written ?? 0), 0),
      })
      return results.map(({ results: rows }) => rows)
    } catch (error) {
      const translated = translate(error, !texts.every(isReading))
      if (!(translated instanceof PremiseFailed || translated instanceof Unsettled)) {
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
