import { sql } from 'drizzle-orm'
import type { AuditRow } from '../../../../domain/identity/audit'
import type { Millis } from '../../../../domain/time'
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

/**
 * Returns the number of the first row at or after a time, by binary search over the numbers, which increase with time; a number after the
 * last row if all are earlier.
 */
const firstSince = (org: string, at: Millis) => {
  const middle = sql`((s.low + s.high) / 2)`
  const isBefore = sql`coalesce((SELECT a.at FROM audit a WHERE a.org = ${org} AND a.seq >= ${middle} ORDER BY a.seq LIMIT 1), ${at}) < ${at}`
  return sql`
    WITH RECURSIVE s (low, high) AS (
      SELECT CAST(0 AS BIGINT), coalesce((SELECT max(a.seq) FROM audit a WHERE a.org = ${org}), 0) + 1
      UNION ALL
      SELECT CASE WHEN ${isBefore} THEN ${middle} ELSE s.low END, CASE WHEN ${isBefore} THEN s.high ELSE ${middle} END
      FROM s WHERE s.high - s.low > 1
    )
    SELECT s.high FROM s ORDER BY s.high - s.low LIMIT 1`
}

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

  async newest(org, { before, limit, keys, action, allowed, since = null, until = null, entryId = null }) {
    const { dialect } = connection
    const below = before === null ? sql`` : sql` AND seq < ${before}`
    const earlier = until === null ? sql`` : sql` AND seq < (${firstSince(org, until)})`
    const wanted = JSON.stringify(keys ?? [])
    const conditions = [
      TRUE,
      ...(keys ? [sql`key_id IN (SELECT value FROM ${dialect.jsonRows(sql`${wanted}`)})`] : []),
      ...(action === null ? [] : [sql`action = ${action}`]),
      ...(allowed === null ? [] : [sql`allowed = ${allowed ? 1 : 0}`]),
      ...(since === null ? [] : [sql`at >= ${since}`]),
      ...(until === null ? [] : [sql`at < ${until}`]),
      ...(entryId === null
        ? []
        : [sql`EXISTS (SELECT 1 FROM ${dialect.jsonNumbers(sql`looked.ids`)} AS one WHERE one.value = ${entryId})`]),
    ]
    const looked = sql`SELECT ${COLUMNS}, times FROM audit WHERE org = ${org}${below}${earlier} ORDER BY seq DESC LIMIT ${SCANNED_ROWS}`
    const batch = new Batch()
    const found = batch.add(
      sql`SELECT * FROM (${looked}) AS looked WHERE ${sql.join(conditions, sql` AND `)} ORDER BY seq DESC LIMIT ${limit}`,
      each(toAuditRow),
    )
    const lowest = batch.add(
      sql`SELECT min(seq) AS lowest, count(*) AS looked, min(at) AS earliest FROM (${looked}) AS looked`,
      onlyRow((row) =>
        num(row, 'looked') < SCANNED_ROWS || (since !== null && num(row, 'earliest') < since)
          ? null
          : num(row, 'lowest'),
      ),
    )
    const result = await batch.read(connection)
    const rows = result.of(found)
    const last = rows.length === limit ? rows.at(-1)?.seq : null
    return { rows, scannedDownTo: last ?? result.of(lowest) }
  },
})
