import { type SQL, sql } from 'drizzle-orm'
import { type AuditEvent, type AuditRow, MAX_AUDIT_IDS } from '../../domain/audit'
import type { Actor } from '../../domain/scope'
import type { AuditLog } from '../../ports/audit-log'
import type { Clock } from '../../ports/clock'
import type { Row, SqlConnection } from './connection'
import type { SqlDialect } from './dialect'

/** Audit rows, over any SQL connection: as statements inside the batch of a write, and by themselves. */
const COLUMNS = sql.raw('org, seq, at, key_id, agent, action, tool, ids, allowed, detail')

type Head = Pick<AuditEvent, 'keyId' | 'agent' | 'action' | 'tool' | 'allowed'>

const json = (value: unknown): SQL => sql`${JSON.stringify(value)}`

/** What a caller did, as against what it was denied. */
const done = (caller: Actor): Head => ({ ...caller, allowed: true })

/** @param ids,detail JSON texts */
function values(org: string, now: number, event: Head, ids: SQL, detail: SQL): SQL {
  const { keyId, agent, action, tool, allowed } = event
  const seq = sql`(SELECT coalesce(max(a.seq), 0) + 1 FROM audit a WHERE a.org = ${org})`
  return sql`${org}, ${seq}, ${now}, ${keyId}, ${agent}, ${action}, ${tool}, ${ids}, ${allowed ? 1 : 0}, ${detail}`
}

/** The row of an event whose ids are known. */
export const auditStatement = (org: string, now: number, event: AuditEvent): SQL =>
  sql`INSERT INTO audit (${COLUMNS})
    VALUES (${values(org, now, event, json(event.ids.slice(0, MAX_AUDIT_IDS)), json(event.detail))})`

/** The row of a write of one entry that happens only where a condition holds. */
export const auditOneStatement = (caller: Actor, now: number, id: number, verb: string, condition: SQL): SQL =>
  sql`INSERT INTO audit (${COLUMNS})
    SELECT ${values(caller.org, now, done(caller), json([id]), json({ [verb]: 1 }))}
    WHERE ${condition}`

/** The row of the `count` entries that earlier statements of the batch have written, each with one row of `changes`. */
export const auditWrittenStatement = (
  caller: Actor,
  now: number,
  dialect: SqlDialect,
  count: number,
  verb: string,
): SQL => {
  const written = sql`SELECT entry_id AS value FROM (SELECT seq, entry_id FROM changes WHERE org = ${caller.org}
    ORDER BY seq DESC LIMIT ${count}) newest ORDER BY seq`
  return sql`INSERT INTO audit (${COLUMNS})
    VALUES (${values(caller.org, now, done(caller), dialect.jsonList(written), json({ [verb]: count }))})`
}

/**
 * The row of a delete, before it happens; returns its `detail`, which holds how many entries go.
 *
 * @param where a condition on `entries`
 */
export const auditDeleteStatement = (caller: Actor, now: number, dialect: SqlDialect, where: SQL): SQL => {
  const ids = dialect.jsonList(sql`SELECT id AS value FROM entries WHERE ${where} ORDER BY id LIMIT ${MAX_AUDIT_IDS}`)
  const detail = sql`'{"deleted":' || (SELECT count(*) FROM entries WHERE ${where}) || '}'`
  return sql`INSERT INTO audit (${COLUMNS})
    VALUES (${values(caller.org, now, done(caller), ids, detail)})
    RETURNING detail`
}

const toRow = (row: Row): AuditRow => ({
  seq: Number(row.seq),
  at: Number(row.at),
  keyId: row.key_id as string,
  agent: row.agent as string | null,
  action: row.action as string,
  tool: row.tool as string | null,
  ids: JSON.parse(row.ids as string) as number[],
  allowed: Number(row.allowed) === 1,
  detail: JSON.parse(row.detail as string) as AuditRow['detail'],
})

export const createSqlAuditLog = (connection: SqlConnection, clock: Clock): AuditLog => ({
  async record(org, event) {
    await connection.batch([auditStatement(org, clock.now(), event)], { org })
  },
  async page(org, { after, limit, keys }) {
    const json = JSON.stringify(keys ?? [])
    const own = keys ? sql` AND key_id IN (SELECT value FROM ${connection.dialect.jsonRows(sql`${json}`)})` : sql``
    const [rows] = await connection.batch([
      sql`SELECT ${COLUMNS} FROM audit WHERE org = ${org} AND seq > ${after}${own} ORDER BY seq LIMIT ${limit}`,
    ])
    return (rows ?? []).map(toRow)
  },
})
