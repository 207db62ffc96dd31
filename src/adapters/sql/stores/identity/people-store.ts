// The data of one owner, for a person who leaves or asks for it. Statements name organization and owner; the scope of the administrator is
// checked by the service, because these are the only statements that change private entries of another owner.

import { type SQL, sql } from 'drizzle-orm'
import { isNothing, type PersonalData } from '../../../../domain/identity/person'
import type { Analyzer } from '../../../../domain/search/analysis'
import { DAY_MS } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { PeopleStore } from '../../../../ports/people'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { each, howMany, num, numbersOf, onlyRow, str } from '../../core/rows'
import { privateTo, unerased } from '../../core/visibility'
import { AUDIT_COLUMNS, auditChangedStatement, auditStatement } from '../../tables/changes/audit-statements'
import { PART_BYTES, PART_ENTRIES } from '../../tables/changes/pending-deletion'
import { runInFrame } from '../../tables/changes/publish-changes'
import { createIndexWriter, queueIndexing } from '../../tables/vectors/index-writer'
import { retainedInlineText } from '../../tables/writes/history-statements'
import { toAuditRow } from './audit-log'
import { KEY_COLUMNS, toKey } from './identity-store'

/** Retained versions and rows of other tables that one transaction changes. */
const MOST_ROWS = 250

/** Tables with one row for each thing that an owner did, and the columns after organization and owner in their keys. */
const TRACES = [
  { table: 'capture_events', key: 'id' },
  { table: 'capture_start_digests', key: 'place' },
  { table: 'session_memories', key: 'session' },
  { table: 'last_seen', key: 'agent, project, session' },
] as const

const ofOwner = (alias: string, org: string, owner: string): SQL =>
  sql`${sql.raw(alias)}.org = ${org} AND ${sql.raw(alias)}.owner = ${owner}`

/** Matches the last version `v` of an entry that was deleted. */
const isLastOfDeleted = sql`v.deleted = 1 AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)
  AND v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`

/** Matches deletions `c` in the change log of private entries that are still named there. */
const namedDeletion = (org: string, owner: string): SQL => sql`
  c.org = ${org} AND c.action = 'delete' AND c.erased = 0 AND c.last_reader = ${owner}
  AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = c.entry_id)
  AND NOT EXISTS (SELECT 1 FROM changes l WHERE l.entry_id = c.entry_id AND l.org = c.org AND l.seq > c.seq)`

/** Selects the IDs of private entries that were deleted, as `id`. */
const deletedIds = (org: string, owner: string): SQL => sql`
  SELECT v.entry_id AS id FROM entry_versions v
  WHERE ${privateTo({ org }, owner, 'v')} AND ${isLastOfDeleted} AND ${unerased('v', 'entry_id')}
  UNION
  SELECT c.entry_id AS id FROM changes c WHERE ${namedDeletion(org, owner)} AND ${unerased('c', 'entry_id')}`

const keysOf = (org: string, owner: string): SQL => sql`SELECT k.id FROM api_keys k WHERE ${ofOwner('k', org, owner)}`

const toCounts = (row: Row): PersonalData => ({
  keys: num(row, 'live_keys'),
  entries: num(row, 'entries'),
  diaryPages: num(row, 'diary_pages'),
  captured: num(row, 'captured'),
  deleted: num(row, 'deleted'),
  versions: num(row, 'versions'),
  sessions: num(row, 'sessions'),
  traces: num(row, 'traces'),
})

function countStatement(org: string, owner: string): SQL {
  const entries = (condition: string): SQL =>
    sql`(SELECT count(*) FROM entries e WHERE ${privateTo({ org }, owner, 'e')} AND ${unerased('e', 'id')} AND ${sql.raw(condition)})`
  const traces = TRACES.map(
    ({ table }) => sql`(SELECT count(*) FROM ${sql.raw(table)} t WHERE ${ofOwner('t', org, owner)})`,
  )
  const receipts = sql`(SELECT count(*) FROM receipts r WHERE r.org = ${org} AND r.key_id IN (${keysOf(org, owner)}))`
  return sql`SELECT
    (SELECT count(*) FROM api_keys k WHERE ${ofOwner('k', org, owner)} AND (k.revoked_at IS NULL OR k.email IS NOT NULL)) AS live_keys,
    ${entries('e.diary = 0 AND e.captured = 0')} AS entries,
    ${entries('e.diary = 1')} AS diary_pages,
    ${entries('e.diary = 0 AND e.captured = 1')} AS captured,
    (SELECT count(*) FROM (${deletedIds(org, owner)}) gone) AS deleted,
    (SELECT count(*) FROM entry_versions v WHERE ${privateTo({ org }, owner, 'v')} AND ${unerased('v', 'entry_id')}) AS versions,
    (SELECT count(*) FROM capture_sessions s WHERE ${ofOwner('s', org, owner)}) AS sessions,
    ${sql.join([...traces, receipts], sql` + `)} AS traces`
}

/** Deletes a bounded part of the rows that only the owner's programs used; returns one row for each. */
const traceStatements = (org: string, owner: string): SQL[] => [
  ...TRACES.map(({ table, key }) => {
    const columns = sql.raw(`org, owner, ${key}`)
    return sql`DELETE FROM ${sql.raw(table)} WHERE (${columns}) IN (
        SELECT ${columns} FROM ${sql.raw(table)} t WHERE ${ofOwner('t', org, owner)} LIMIT ${MOST_ROWS}
      ) RETURNING 1 AS one`
  }),
  sql`DELETE FROM receipts WHERE (org, key_id, key) IN (
      SELECT r.org, r.key_id, r.key FROM receipts r WHERE r.org = ${org} AND r.key_id IN (${keysOf(org, owner)}) LIMIT ${MOST_ROWS}
    ) RETURNING 1 AS one`,
]

/** Revokes the keys, and removes the addresses of the person from all of them. */
const revokeStatement = (org: string, owner: string, now: number): SQL =>
  sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${now}), email = NULL
    WHERE org = ${org} AND owner = ${owner} AND (revoked_at IS NULL OR email IS NOT NULL) RETURNING id`

/** Selects the first private entries, as `id`, within the size of one transaction. */
const firstEntries = (org: string, owner: string): SQL => sql`
  SELECT sized.id FROM (
    SELECT few.id, few.bytes, sum(few.bytes) OVER (ORDER BY few.id) AS up_to_here
    FROM (
      SELECT e.id, e.bytes FROM entries e WHERE ${privateTo({ org }, owner, 'e')} ORDER BY e.id LIMIT ${PART_ENTRIES}
    ) few
  ) sized WHERE sized.up_to_here = sized.bytes OR sized.up_to_here <= ${PART_BYTES}`

const firstVersions = (org: string, owner: string): SQL =>
  sql`SELECT v.id FROM entry_versions v WHERE ${privateTo({ org }, owner, 'v')} ORDER BY v.id LIMIT ${MOST_ROWS}`

/** Hands over the sessions of hooks once no entry is left, so that a session and its entry change their owner in one order. */
function sessionStatements(org: string, owner: string, to: string): SQL[] {
  const nothingLeft = sql`NOT EXISTS (SELECT 1 FROM entries e WHERE ${privateTo({ org }, owner, 'e')})`
  const own = sql`org = ${org} AND owner = ${owner} AND ${nothingLeft}`
  return [
    sql`DELETE FROM capture_sessions WHERE ${own} AND EXISTS (
        SELECT 1 FROM capture_sessions t WHERE ${ofOwner('t', org, to)} AND t.session = capture_sessions.session)`,
    sql`UPDATE capture_sessions SET owner = ${to}, revision = revision + 1 WHERE ${own} RETURNING session`,
  ]
}

/** Creates the store of the data of persons over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlPeopleStore(connection: SqlConnection, analyzer: Analyzer, clock: Clock): PeopleStore {
  const { dialect } = connection
  const indexWriter = createIndexWriter(connection, analyzer)
  const count = (org: string, owner: string) => runOne(connection, countStatement(org, owner), onlyRow(toCounts))

  return {
    count,

    async record(org, owner) {
      const batch = new Batch()
      const keys = batch.add(
        sql`SELECT ${KEY_COLUMNS} FROM api_keys k WHERE ${ofOwner('k', org, owner)} ORDER BY k.created_at, k.id`,
        each(toKey),
      )
      const sessions = batch.add(
        sql`SELECT s.session, s.project, s.seen_at, s.state FROM capture_sessions s WHERE ${ofOwner('s', org, owner)} ORDER BY s.session`,
        each((row) => ({
          ...{ session: str(row, 'session'), project: str(row, 'project') },
          ...{ seenAt: num(row, 'seen_at'), state: str(row, 'state') },
        })),
      )
      const uses = batch.add(
        sql`SELECT m.session, m.at, m.memories FROM session_memories m WHERE ${ofOwner('m', org, owner)} ORDER BY m.session`,
        each((row) => ({ session: str(row, 'session'), at: num(row, 'at'), memories: str(row, 'memories') })),
      )
      const lastSeen = batch.add(
        sql`SELECT l.agent, l.project, l.seen_at FROM last_seen l WHERE ${ofOwner('l', org, owner)} ORDER BY l.seen_at`,
        each((row) => ({ agent: str(row, 'agent'), project: str(row, 'project'), at: num(row, 'seen_at') })),
      )
      const usage = batch.add(
        sql`SELECT u.key_id, u.day, sum(u.calls) AS calls, sum(u.tokens) AS tokens FROM key_usage u
          WHERE u.org = ${org} AND u.key_id IN (${keysOf(org, owner)}) GROUP BY u.key_id, u.day ORDER BY u.day, u.key_id`,
        each((row) => ({
          ...{ key: str(row, 'key_id'), at: num(row, 'day') * DAY_MS },
          ...{ calls: num(row, 'calls'), tokens: num(row, 'tokens') },
        })),
      )
      const result = await batch.run(connection)
      return {
        usage: result.of(usage),
        ...{ keys: result.of(keys), sessions: result.of(sessions) },
        ...{ uses: result.of(uses), lastSeen: result.of(lastSeen) },
      }
    },

    async actions(org, owner, after, limit) {
      return runOne(
        connection,
        sql`SELECT ${AUDIT_COLUMNS}, times FROM audit
          WHERE org = ${org} AND seq > ${after} AND key_id IN (${keysOf(org, owner)}) ORDER BY seq LIMIT ${limit}`,
        each(toAuditRow),
      )
    },

    async handOver(caller, owner, to) {
      const { org } = caller
      const left = await count(org, owner)
      if (isNothing(left)) return 0
      const now = clock.now()
      const ids = await runOne(connection, sql`SELECT id FROM (${firstEntries(org, owner)}) first`, numbersOf('id'))
      const among = dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)
      const chosen = sql`id ${dialect.plan.oneOf(sql`SELECT value FROM ${among}`)}`
      const batch = new Batch(revokeStatement(org, owner, now), ...traceStatements(org, owner))
      const moved = batch.add(
        sql`UPDATE entries SET owner = ${to} WHERE ${chosen} AND ${privateTo(caller, owner, 'entries')} RETURNING id`,
        howMany,
      )
      const versions = batch.add(
        sql`UPDATE entry_versions SET owner = ${to}
          WHERE id ${dialect.plan.oneOf(sql`SELECT id FROM (${firstVersions(org, owner)}) first`)} RETURNING id`,
        howMany,
      )
      const deleted = batch.add(
        sql`UPDATE changes SET last_reader = ${to} WHERE org = ${org} AND seq IN (
            SELECT c.seq FROM changes c WHERE c.org = ${org} AND c.action = 'delete' AND c.last_reader = ${owner} LIMIT ${MOST_ROWS}
          ) RETURNING seq`,
        howMany,
      )
      // The words of an entry hold its reader.
      batch.do(
        queueIndexing(
          ['index'],
          sql`e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${among}`)} AND e.org = ${org}`,
          now,
        ),
      )
      batch.do(sessionStatements(org, owner, to))
      const detail = { owner, to, keys: left.keys, entries: ids.length, versions: Math.min(left.versions, MOST_ROWS) }
      const result = await runInFrame(
        connection,
        caller,
        { keeps: false, at: now },
        (since) => batch.do([auditChangedStatement(caller, now, dialect, since, detail)]),
        { org },
      )
      await indexWriter.complete(
        org,
        ids.map((id) => ({ id, textHash: '', vectors: null })),
      )
      return result.of(moved) + result.of(versions) + result.of(deleted)
    },

    async eraseTraces(caller, owner) {
      const { org } = caller
      const left = await count(org, owner)
      if (left.keys + left.sessions + left.traces === 0) return 0
      const now = clock.now()
      const { keys, sessions, diaryPages } = left
      const detail = { owner, erase: 1, keys, sessions, entries: left.entries + diaryPages + left.captured }
      const batch = new Batch(auditStatement(org, now, { ...caller, ids: [], allowed: true, detail }))
      const gone = [
        revokeStatement(org, owner, now),
        sql`DELETE FROM capture_sessions WHERE org = ${org} AND owner = ${owner} RETURNING 1 AS one`,
        ...traceStatements(org, owner),
      ].map((statement) => batch.add(statement, howMany))
      const result = await batch.run(connection, { org, usesReserve: true })
      return gone.reduce((sum, handle) => sum + result.of(handle), 0)
    },

    async privateIds({ org }, owner, limit) {
      return runOne(
        connection,
        sql`SELECT id FROM (
            SELECT e.id FROM entries e WHERE ${privateTo({ org }, owner, 'e')} AND ${unerased('e', 'id')}
            UNION ${deletedIds(org, owner)}
          ) owned ORDER BY id LIMIT ${limit}`,
        numbersOf('id'),
      )
    },

    async eraseVersions(caller, owner) {
      const { org } = caller
      const left = await count(org, owner)
      if (left.versions === 0) return 0
      const detail = { owner, erase: 1, versions: Math.min(left.versions, MOST_ROWS) }
      const first = sql`SELECT id FROM (${firstVersions(org, owner)}) first`
      const batch = new Batch(
        auditStatement(org, clock.now(), { ...caller, ids: [], allowed: true, detail }),
        // A version without a text of its own reads that of a later one.
        sql`UPDATE entry_versions SET text = (SELECT ${retainedInlineText} FROM entry_versions v WHERE v.id = entry_versions.id)
          WHERE org = ${org} AND text IS NULL AND reader <> ${owner} AND entry_id IN (
            SELECT l.entry_id FROM entry_versions l WHERE l.id IN (${first})
          )`,
      )
      const gone = batch.add(sql`DELETE FROM entry_versions WHERE id IN (${first}) RETURNING id`, howMany)
      return (await batch.run(connection, { org, usesReserve: true })).of(gone)
    },
  }
}
