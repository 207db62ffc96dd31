import { type SQL, sql } from 'drizzle-orm'
import { type AuditEvent, MAX_AUDIT_IDS } from '../../../../domain/identity/audit'
import type { Actor } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { changedSince, changesOf, NEWEST_FIRST } from './change-rows'

/** Statements that write audit rows, in the batch of a write or by themselves. */
export const AUDIT_COLUMNS = sql.raw('org, seq, at, key_id, agent, action, tool, ids, allowed, detail, bytes_before')

type Head = Pick<AuditEvent, 'keyId' | 'agent' | 'action' | 'tool' | 'allowed'>

const json = (value: unknown): SQL => sql`${JSON.stringify(value)}`

/** Returns the head of a row for an allowed action. */
const done = (caller: Actor): Head => ({ ...caller, allowed: true })

/** @param ids,detail JSON texts */
function values(org: string, now: Millis, event: Head, ids: SQL, detail: SQL): SQL {
  const { keyId, agent, action, tool, allowed } = event
  const next = (column: SQL, first: SQL) =>
    sql`coalesce((SELECT ${column} FROM audit a WHERE a.org = ${org} ORDER BY a.seq DESC LIMIT 1), ${first})`
  const seq = next(sql`a.seq + 1`, sql`1`)
  const before = next(sql`a.bytes_before + a.bytes`, sql`0`)
  return sql`${org}, ${seq}, ${now}, ${keyId}, ${agent}, ${action}, ${tool}, ${ids}, ${allowed ? 1 : 0}, ${detail}, ${before}`
}

/** Returns the row of an event whose IDs are known. */
export const auditStatement = (org: string, now: Millis, event: AuditEvent): SQL =>
  sql`INSERT INTO audit (${AUDIT_COLUMNS})
    VALUES (${values(org, now, event, json(event.ids.slice(0, MAX_AUDIT_IDS)), json(event.detail))})`

/** Time in which equal events share a row. */
const REPEATED_MS = 60_000
/** Maximum number of IDs in a row for several calls. */
const REPEATED_IDS = 1_000

/**
 * Returns the row of an event that a caller may repeat without limit, such as a denial or a read. Equal events of a key within a minute
 * share one row, with their number and their entries, so that a caller cannot flood the log.
 */
export function auditRepeatedStatements(dialect: SqlDialect, org: string, now: Millis, event: AuditEvent): SQL[] {
  const { keyId, action, tool, allowed } = event
  const ids = json(event.ids.slice(0, REPEATED_IDS))
  const before = sql`
    SELECT a.seq FROM audit a
    WHERE a.org = ${org} AND a.key_id = ${keyId} AND a.action = ${action} AND a.times IS NOT NULL
      AND a.at > ${now - REPEATED_MS} AND a.at <= ${now}
      AND a.allowed = ${allowed ? 1 : 0} AND coalesce(a.tool, '') = ${tool ?? ''}
    ORDER BY a.at DESC, a.seq DESC LIMIT 1`
  const both = sql`SELECT value FROM (
      SELECT value FROM ${dialect.jsonNumbers(sql`audit.ids`)} AS known UNION SELECT value FROM ${dialect.jsonNumbers(ids)} AS more
    ) AS touched ORDER BY value`
  return [
    // The list never becomes shorter: a full one stays unchanged.
    sql`UPDATE audit SET times = times + 1,
        ids = CASE WHEN (SELECT count(*) FROM (${both}) AS counted) <= ${REPEATED_IDS} THEN ${dialect.jsonList(both)} ELSE ids END
      WHERE org = ${org} AND seq = (${before})`,
    sql`INSERT INTO audit (${AUDIT_COLUMNS}, times)
      SELECT ${values(org, now, event, ids, json(event.detail))}, 1 WHERE NOT EXISTS (${before})`,
  ]
}

/** Returns the row of a write of one entry, if a condition holds. */
export const auditOneStatement = (caller: Actor, now: Millis, id: number, verb: string, condition: SQL): SQL =>
  sql`INSERT INTO audit (${AUDIT_COLUMNS})
    SELECT ${values(caller.org, now, done(caller), json([id]), json({ [verb]: 1 }))}
    WHERE ${condition}`

/**
 * Returns the row of the entries that earlier statements of the batch have stored, each with one row of `changes`.
 *
 * @param evicting whether memories may have been evicted for them
 * @param archived entries that they replace
 */
export const auditStoredStatement = (
  caller: Actor,
  now: Millis,
  dialect: SqlDialect,
  { count, evicting, archived }: { count: number; evicting: boolean; archived: readonly number[] },
): SQL => {
  const ofOrg = sql`FROM ${changesOf(caller.org)} AND c.action`
  const stored = sql`SELECT seq, entry_id FROM (SELECT c.seq, c.entry_id ${ofOrg} <> 'delete' ${NEWEST_FIRST} LIMIT ${count}) newest`
  const gone = sql`SELECT c.seq, c.entry_id FROM changes c
    WHERE ${changedSince(dialect, caller.org, sql`(SELECT c.seq ${ofOrg} <> 'delete' ${NEWEST_FIRST} LIMIT 1)`)}
      AND c.action = 'delete'`
  const replaced = sql`SELECT NULL AS seq, value AS entry_id FROM ${dialect.jsonNumbers(json(archived))} replaced`
  const parts = [stored, ...(evicting ? [gone] : []), ...(archived.length === 0 ? [] : [replaced])]
  const touched = sql`SELECT entry_id AS value FROM (${sql.join(parts, sql` UNION ALL `)}) touched
    ORDER BY seq IS NULL, seq, entry_id LIMIT ${MAX_AUDIT_IDS}`
  const detail = json({ stored: count, ...(archived.length === 0 ? {} : { archived: archived.length }) })
  const evicted = sql`(SELECT count(*) FROM (${gone}) gone)`
  const counts = evicting
    ? sql`CASE WHEN ${evicted} = 0 THEN CAST(${detail} AS text)
        ELSE CAST(${`{"stored":${count},"evicted":`} AS text) || ${evicted} || '}' END`
    : detail
  return sql`INSERT INTO audit (${AUDIT_COLUMNS})
    VALUES (${values(caller.org, now, done(caller), dialect.jsonList(touched), counts)})`
}

/** Returns the row of a batch that has changed entries, each with one row of `changes` since a number. */
export const auditChangedStatement = (
  caller: Actor,
  now: Millis,
  dialect: SqlDialect,
  since: SQL,
  detail: AuditEvent['detail'],
): SQL => {
  const changed = sql`SELECT c.entry_id AS value FROM changes c WHERE ${changedSince(dialect, caller.org, since)}`
  const ids = dialect.jsonList(sql`${changed} ORDER BY value LIMIT ${MAX_AUDIT_IDS}`)
  return sql`INSERT INTO audit (${AUDIT_COLUMNS})
    VALUES (${values(caller.org, now, done(caller), ids, json(detail))})`
}

/**
 * Returns the row of a delete, to run before it. Its `detail` states the number of deleted entries.
 *
 * @param gone a query of the deleted IDs, as `value`
 */
export const auditDeleteStatement = (caller: Actor, now: Millis, dialect: SqlDialect, gone: SQL): SQL => {
  const ids = dialect.jsonList(sql`${gone} ORDER BY value LIMIT ${MAX_AUDIT_IDS}`)
  const detail = sql`'{"deleted":' || (SELECT count(*) FROM (${gone}) gone) || '}'`
  return sql`INSERT INTO audit (${AUDIT_COLUMNS})
    VALUES (${values(caller.org, now, done(caller), ids, detail)})
    RETURNING detail`
}
