import { sql } from 'drizzle-orm'
import type { UsageStore } from '../../../../ports/usage'
import { Batch, readOne, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { each, howMany, jsonGroups, num, str } from '../../core/rows'

const COUNTS = ['requests', 'calls', 'failed', 'entries', 'rows_read', 'rows_written', 'tokens'] as const

/** Creates the store of usage over any SQL connection. */
export function createSqlUsageStore(connection: SqlConnection): UsageStore {
  const { dialect } = connection
  const columns = { org: 'text', day: 'integer', key_id: 'text', project: 'text' } as const
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 'integer' as const]))
  const names = sql.raw(['org', 'day', 'key_id', 'project', ...COUNTS].join(', '))
  const added = sql.raw(COUNTS.map((name) => `${name} = u.${name} + excluded.${name}`).join(', '))
  const sums = sql.raw(COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', '))
  return {
    async add(rows) {
      const values = rows.map((row) => [
        ...[row.org, row.day, row.keyId, row.project, row.requests, row.calls, row.failed, row.entries],
        ...[row.rowsRead, row.rowsWritten, row.tokens],
      ])
      const statements = jsonGroups(values).map(
        (json) => sql`INSERT INTO key_usage AS u (${names})
          SELECT ${names} FROM ${dialect.jsonTable(sql`${json}`, { ...columns, ...counts })} given WHERE 1 = 1
          ON CONFLICT (org, day, key_id, project) DO UPDATE SET ${added}`,
      )
      await new Batch(...statements).run(connection)
    },

    async sums(org, from) {
      return readOne(
        connection,
        sql`SELECT key_id, project, ${sums} FROM key_usage WHERE org = ${org} AND day >= ${from}
          GROUP BY key_id, project HAVING sum(calls) > 0 ORDER BY 1, 2`,
        each((row) => ({
          ...{ keyId: str(row, 'key_id'), project: str(row, 'project') },
          ...{ requests: num(row, 'requests'), calls: num(row, 'calls') },
          ...{ failed: num(row, 'failed'), entries: num(row, 'entries'), tokens: num(row, 'tokens') },
          ...{ rowsRead: num(row, 'rows_read'), rowsWritten: num(row, 'rows_written') },
        })),
      )
    },

    async days(org, from) {
      const whose = org === null ? sql`` : sql`org = ${org} AND`
      return readOne(
        connection,
        sql`SELECT day, sum(requests) AS requests, sum(rows_read) AS rows_read, sum(rows_written) AS rows_written
          FROM key_usage WHERE ${whose} day >= ${from} GROUP BY day ORDER BY day`,
        each((row) => ({
          ...{ day: num(row, 'day'), requests: num(row, 'requests') },
          ...{ rowsRead: num(row, 'rows_read'), rowsWritten: num(row, 'rows_written') },
        })),
      )
    },

    async forget(before, limit) {
      const old = sql`SELECT org, day, key_id, project FROM key_usage WHERE day < ${before} ORDER BY day LIMIT ${limit}`
      return runOne(
        connection,
        sql`DELETE FROM key_usage WHERE (org, day, key_id, project) IN (${old}) RETURNING day`,
        howMany,
        'all',
      )
    },
  }
}
