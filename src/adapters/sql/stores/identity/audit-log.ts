import { sql } from 'drizzle-orm'
import type { AuditRow } from '../../../../domain/identity/audit'
import type { AuditLog } from '../../../../ports/audit-log'
import type { Clock } from '../../../../ports/clock'
import type { Row, SqlConnection } from '../../core/connection'
import { auditRepeatedStatements, auditStatement, AUDIT_COLUMNS as COLUMNS } from '../../tables/changes/audit-log'

const toRow = (row: Row): AuditRow => ({
  seq: Number(row.seq),
  at: Number(row.at),
  keyId: row.key_id as string,
  agent: row.agent as string | null,
  action: row.action as string,
  tool: row.tool as string | null,
  ids: JSON.parse(row.ids as string) as number[],
  allowed: Number(row.allowed) === 1,
  detail: {
    ...(JSON.parse(row.detail as string) as AuditRow['detail']),
    ...(Number(row.times ?? 1) > 1 ? { count: Number(row.times) } : {}),
  },
})

export const createSqlAuditLog = (connection: SqlConnection, clock: Clock): AuditLog => ({
  async record(org, event) {
    await connection.batch([auditStatement(org, clock.now(), event)], { org })
  },
  async recordRepeated(org, event) {
    await connection.batch(auditRepeatedStatements(connection.dialect, org, clock.now(), event), { org })
  },
  async page(org, { after, limit, keys }) {
    const json = JSON.stringify(keys ?? [])
    const own = keys ? sql` AND key_id IN (SELECT value FROM ${connection.dialect.jsonRows(sql`${json}`)})` : sql``
    const [rows] = await connection.batch([
      sql`SELECT ${COLUMNS}, times FROM audit WHERE org = ${org} AND seq > ${after}${own} ORDER BY seq LIMIT ${limit}`,
    ])
    return (rows ?? []).map(toRow)
  },
})
