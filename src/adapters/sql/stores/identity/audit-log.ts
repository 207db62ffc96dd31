import { sql } from 'drizzle-orm'
import type { AuditRow } from '../../../../domain/identity/audit'
import type { AuditLog } from '../../../../ports/audit-log'
import type { Clock } from '../../../../ports/clock'
import { Batch, runOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { each, flag, json, num, onlyRow, str, strOrNull } from '../../core/rows'
import {
  auditRepeatedStatements,
  auditStatement,
  AUDIT_COLUMNS as COLUMNS,
} from '../../tables/changes/audit-statements'

/** Rows that one call of `newest` scans, for any filter. */
const SCANNED_ROWS = 5_000

export const toAuditRow = (row: Row): AuditRow => ({
  seq: num(row, 'seq'),
  at: num(row, 'at'),
  keyId: str(row, 'key_id'),
  agent: strOrNull(row, 'agent'),
  action: str(row, 'action'),
  tool: strOrNull(row, 'tool'),
  ids: json<number[]>(row, 'ids'),
  allowed: flag(row, 'allowed'),
  detail: {
    ...json<AuditRow['detail']>(row, 'detail'),
    ...(Number(row.times ?? 1) > 1 ? { count: num(row, 'times') } : {}),
  },
})

export const createSqlAuditLog = (connection: SqlConnection, clock: Clock): AuditLog => ({
  async record(org, event) {
    await new Batch(auditStatement(org, clock.now(), event)).run(connection, { org, usesReserve: true })
  },
  async recordRepeated(org, event) {
    await new Batch(...auditRepeatedStatements(connection.dialect, org, clock.now(), event)).run(connection, {
      org,
      usesReserve: true,
    })
  },
  async page(org, { after, limit, keys }) {
    const wanted = JSON.stringify(keys ?? [])
    const own = keys ? sql` AND key_id IN (SELECT value FROM ${connection.dialect.jsonRows(sql`${wanted}`)})` : sql``
    return runOne(
      connection,
      sql`SELECT ${COLUMNS}, times FROM audit WHERE org = ${org} AND seq > ${after}${own} ORDER BY seq LIMIT ${limit}`,
      each(toAuditRow),
    )
  },

  async newest(org, { before, limit, keys, action, allowed }) {
    const below = before === null ? sql`` : sql` AND seq < ${before}`
    const wanted = JSON.stringify(keys ?? [])
    const conditions = [
      TRUE,
      ...(keys ? [sql`key_id IN (SELECT value FROM ${connection.dialect.jsonRows(sql`${wanted}`)})`] : []),
      ...(action === null ? [] : [sql`action = ${action}`]),
      ...(allowed === null ? [] : [sql`allowed = ${allowed ? 1 : 0}`]),
    ]
    const looked = sql`SELECT ${COLUMNS}, times FROM audit WHERE org = ${org}${below} ORDER BY seq DESC LIMIT ${SCANNED_ROWS}`
    const batch = new Batch()
    const found = batch.add(
      sql`SELECT * FROM (${looked}) AS looked WHERE ${sql.join(conditions, sql` AND `)} ORDER BY seq DESC LIMIT ${limit}`,
      each(toAuditRow),
    )
    const lowest = batch.add(
      sql`SELECT min(seq) AS lowest, count(*) AS looked FROM (${looked}) AS looked`,
      onlyRow((row) => (num(row, 'looked') === SCANNED_ROWS ? num(row, 'lowest') : null)),
    )
    const result = await batch.read(connection)
    const rows = result.of(found)
    const last = rows.length === limit ? rows.at(-1)?.seq : null
    return { rows, scannedDownTo: last ?? result.of(lowest) }
  },
})
