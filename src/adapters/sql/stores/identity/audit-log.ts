import { sql } from 'drizzle-orm'
import type { AuditRow } from '../../../../domain/identity/audit'
import type { AuditLog } from '../../../../ports/audit-log'
import type { Clock } from '../../../../ports/clock'
import { TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { auditRepeatedStatements, auditStatement, AUDIT_COLUMNS as COLUMNS } from '../../tables/changes/audit-log'

/** Rows that one call of `newest` looks at, whatever it asks for. */
const LOOKED_AT = 5_000

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

  async newest(org, { before, limit, keys, action, allowed }) {
    const below = before === null ? sql`` : sql` AND seq < ${before}`
    const json = JSON.stringify(keys ?? [])
    const conditions = [
      TRUE,
      ...(keys ? [sql`key_id IN (SELECT value FROM ${connection.dialect.jsonRows(sql`${json}`)})`] : []),
      ...(action === null ? [] : [sql`action = ${action}`]),
      ...(allowed === null ? [] : [sql`allowed = ${allowed ? 1 : 0}`]),
    ]
    const looked = sql`SELECT ${COLUMNS}, times FROM audit WHERE org = ${org}${below} ORDER BY seq DESC LIMIT ${LOOKED_AT}`
    const [rows = [], ends = []] = await connection.read([
      sql`SELECT * FROM (${looked}) AS looked WHERE ${sql.join(conditions, sql` AND `)} ORDER BY seq DESC LIMIT ${limit}`,
      sql`SELECT min(seq) AS lowest, count(*) AS looked FROM (${looked}) AS looked`,
    ])
    const last = rows.length === limit ? Number(rows.at(-1)?.seq) : null
    const end = Number(ends[0]?.looked) === LOOKED_AT ? Number(ends[0]?.lowest) : null
    return { rows: rows.map(toRow), lookedDownTo: last ?? end }
  },
})
