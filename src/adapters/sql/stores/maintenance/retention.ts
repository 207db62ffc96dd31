import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, historyCutoff, NO_HISTORY, receiptCutoff } from '../../../../domain/history/version'
import { DAY_MS, type Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { Ids } from '../../../../ports/ids'
import type { Retention } from '../../../../ports/retention'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { each, firstRow, flag, howMany, num, numbersOf, numOrNull, str, textsOf } from '../../core/rows'
import { expired } from '../../core/visibility'
import { changesOf, newestChange, OLDEST_FIRST } from '../../tables/changes/change-rows'
import { PART_BYTES } from '../../tables/changes/pending-deletion'
import { runInFrame } from '../../tables/changes/publish-changes'
import { mayReturn } from '../../tables/links/links'

/** Days after which an unused semantic memory is archived (fabric contract §2.3). */
const DAYS = 45
const MIN_VITALITY = 0.2

export interface Use {
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  /** The last access; null without one. */
  readonly accessedAt: Millis | null
  readonly accessCount: number
}

/** Returns the vitality of a memory from its age, its last use and its number of uses. */
function vitality({ createdAt, accessedAt, accessCount }: Use, now: Millis): number {
  const age = (now - createdAt) / DAY_MS
  const idle = (now - (accessedAt ?? createdAt)) / DAY_MS
  return (
    0.3 * Math.exp(-age / (2 * DAYS)) +
    0.7 * Math.exp(-idle / DAYS) +
    Math.min(accessCount / 10, 0.5) * Math.exp(-idle / (6 * DAYS))
  )
}

const hasDecayed = (use: Use, now: Millis): boolean => vitality(use, now) < MIN_VITALITY

const RANDOM: Ids = { next: () => crypto.randomUUID().replaceAll('-', '') }

/**
 * Maximum bytes of the texts of old versions that one transaction deletes: a database visits every page that it frees.
 */
const FORGOTTEN_BYTES = 20_000_000
/** Maximum number of organizations that one call processes. */
const ORGS = 100
/** Entries whose links are deleted together. */
const DANGLING = 100
/** Number of remembered removals of vectors. An older index keeps a few removed vectors, which searches drop. */
const REMOVALS = 50_000

/** Rows of the entry with the highest ID are retained: new IDs follow it (src/adapters/sqlite/entry-ids.ts). */
const isNotHighest = sql`(entry_id < (SELECT max(entry_id) FROM changes)) IS TRUE`

/** Returns organizations with rows of the change log from before a time, apart from retained ones. */
const agedOrgs = (before: Millis): SQL => sql`
  WITH RECURSIVE orgs (org) AS (
    SELECT min(c.org) FROM changes c
    UNION ALL SELECT (SELECT min(c.org) FROM changes c WHERE c.org > o.org) FROM orgs o WHERE o.org IS NOT NULL
  )
  SELECT o.org FROM orgs o
  WHERE (
    SELECT CASE WHEN c.seq < (SELECT max(n.seq) FROM changes n WHERE n.org = o.org) THEN c.at END
    FROM changes c WHERE c.org BETWEEN o.org AND o.org AND ${isNotHighest} ORDER BY c.org, c.seq LIMIT 1
  ) < ${before} LIMIT ${sql.raw(String(ORGS))}`

/** Returns organizations with expired entries, by one index lookup for each organization with entries that expire. */
const expiredOrgs = (now: Millis): SQL => sql`
  WITH RECURSIVE orgs (org) AS (
    SELECT min(e.org) FROM entries e WHERE e.expires_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(e.org) FROM entries e WHERE e.expires_at IS NOT NULL AND e.org > o.org) FROM orgs o WHERE o.org IS NOT NULL
  )
  SELECT o.org FROM orgs o
  WHERE EXISTS (SELECT 1 FROM entries e WHERE e.org = o.org AND ${expired(now)}) LIMIT ${sql.raw(String(ORGS))}`

const timeOf = (name: string) => (row: Row) => num(row, name)

/** Converts a memory that may have decayed. */
const toUsed = (row: Row): Use & { readonly id: number; readonly org: string; readonly stays: boolean } => ({
  org: str(row, 'org'),
  id: num(row, 'id'),
  stays: flag(row, 'stays'),
  createdAt: num(row, 'created_at'),
  accessedAt: numOrNull(row, 'accessed_at'),
  accessCount: num(row, 'access_count'),
})

/** Processes organizations until a number of rows is removed. @returns that number */
async function eachOrg(
  orgs: readonly string[],
  limit: number,
  remove: (org: string, limit: number) => Promise<number>,
) {
  let removed = 0
  for (const org of orgs) if (removed < limit) removed += await remove(org, limit - removed)
  return removed
}

/**
 * Creates the retention steps over any SQL connection. Each first checks, by one row of an index, whether there is anything to do.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlRetention(
  connection: SqlConnection,
  clock: Clock,
  terms: HistoryTerms = NO_HISTORY,
  ids: Ids = RANDOM,
): Retention {
  return {
    async expireEntries(most) {
      const now = clock.now()
      const orgs = await runOne(connection, expiredOrgs(now), textsOf('org'))
      return eachOrg(orgs, most, async (org, limit) => {
        const due = sql`
        SELECT id FROM (
          SELECT d.id, row_number() OVER (ORDER BY d.expires_at, d.id) AS place,
            sum(d.bytes) OVER (ORDER BY d.expires_at, d.id) AS up_to_here
          FROM (
            SELECT e.id, e.expires_at, e.bytes FROM entries e
            WHERE ${connection.dialect.plan.rangeOf(sql`e.org`, sql`${org}`)} AND ${expired(now)}
            ORDER BY e.org, e.expires_at LIMIT ${limit}
          ) d
        ) sized WHERE place = 1 OR up_to_here <= ${PART_BYTES}`
        const schedule = { org, changeId: ids.next(), keyId: null, agent: null }
        const manner = { keeps: terms.days > 0, at: now }
        const remove = sql`DELETE FROM entries WHERE id IN (${due}) RETURNING id`
        const batch = new Batch()
        const gone = batch.add(remove, howMany)
        return (await runInFrame(connection, schedule, manner, () => batch, { org })).of(gone)
      })
    },

    async archiveDecayed(after, limit) {
      const now = clock.now()
      const { dialect } = connection
      const wanted = sql`coalesce(${dialect.textAt(['source'])}, CASE WHEN e.source = 'user' THEN 'user_explicit' ELSE '' END)`
      const used = await runOne(
        connection,
        sql`
          SELECT e.id, e.org, e.created_at, e.accessed_at, e.access_count,
            CASE WHEN e.pinned = 1 OR ${wanted} = 'user_explicit' THEN 1 ELSE 0 END AS stays
          FROM entries e
          WHERE e.id > ${after} AND e.layer = 3 AND e.archived = 0
          ORDER BY e.id LIMIT ${limit}`,
        each(toUsed),
      )
      const decayed = used.filter((one) => !one.stays && hasDecayed(one, now))
      for (const [org, own] of Map.groupBy(decayed, (one) => one.org)) {
        // An entry that was used or pinned in between is not archived.
        const unused = JSON.stringify(own.map(({ id, accessedAt }) => [id, accessedAt ?? 0]))
        const archive = sql`
            UPDATE entries SET archived = 1
            WHERE id IN (
              SELECT e.id FROM ${dialect.jsonTable(sql`${unused}`, { id: 'integer', used: 'integer' })} decayed
              ${dialect.plan.follow('entries', 'e', sql`e.id = decayed.id`)}
              WHERE coalesce(e.accessed_at, 0) = decayed.used AND e.pinned = 0 AND e.archived = 0
            )`
        const schedule = { org, changeId: ids.next(), keyId: null, agent: null }
        await runInFrame(connection, schedule, { keeps: false }, () => new Batch(archive), { org })
      }
      return { archived: decayed.length, last: used.at(-1)?.id ?? null }
    },

    async forgetChanges(until, most) {
      // The log decides who may erase what a receipt contains of a deleted entry, so it is retained as long as receipts.
      const before = Math.min(until, receiptCutoff(terms, clock.now()))
      const orgs = await runOne(connection, agedOrgs(before), textsOf('org'))
      return eachOrg(orgs, most, async (org, limit) => {
        // The newest row stays: it names the last written entry.
        const rows = await runOne(
          connection,
          sql`SELECT c.seq, c.at FROM ${changesOf(org)} AND ${isNotHighest} AND c.seq < (${newestChange(org)})
          ${OLDEST_FIRST} LIMIT ${limit}`,
          each((row) => ({ seq: num(row, 'seq'), at: num(row, 'at') })),
        )
        const young = rows.findIndex(({ at }) => at >= before)
        const old = young < 0 ? rows : rows.slice(0, young)
        const last = old.at(-1)
        if (last === undefined) return 0
        await new Batch(
          // Readers of the feed get an error for older cursors.
          sql`
            INSERT INTO feed_retention (org, purged_seq) VALUES (${org}, ${last.seq})
            ON CONFLICT (org) DO UPDATE SET purged_seq = excluded.purged_seq`,
          sql`DELETE FROM changes WHERE org = ${org} AND seq <= ${last.seq} AND ${isNotHighest}`,
        ).run(connection, { org })
        return old.length
      })
    },

    async forgetAudit(after, before, limit) {
      const orgs = await runOne(
        connection,
        sql`
          WITH RECURSIVE of_org (org, step) AS (
            SELECT min(a.org), 1 FROM audit a WHERE a.org > ${after}
            UNION ALL
            SELECT (SELECT min(a.org) FROM audit a WHERE a.org > o.org), o.step + 1
            FROM of_org o WHERE o.org IS NOT NULL AND o.step < ${ORGS}
          )
          SELECT o.org, (SELECT a.at FROM audit a WHERE a.org = o.org ORDER BY a.seq LIMIT 1) AS oldest
          FROM of_org o WHERE o.org IS NOT NULL ORDER BY o.org`,
        each((row) => ({ org: str(row, 'org'), oldest: num(row, 'oldest') })),
      )
      const due = orgs.findIndex(({ oldest }) => oldest < before)
      const org = orgs[due]?.org
      const [behind = after] = orgs
        .slice(0, Math.max(due, 0))
        .map((one) => one.org)
        .slice(-1)
      if (org === undefined) return { removed: 0, last: orgs.length < ORGS ? null : (orgs.at(-1)?.org ?? null) }
      const old = sql`SELECT a.seq FROM audit a WHERE a.org = ${org} ORDER BY a.seq LIMIT ${limit}`
      // Without gaps, since the usage of the log is computed from its first and last row.
      const young = sql`coalesce(
        (SELECT min(a.seq) FROM audit a WHERE a.org = ${org} AND a.at >= ${before}),
        (SELECT max(a.seq) FROM audit a WHERE a.org = ${org})
      )`
      const batch = new Batch(sql`INSERT INTO audit_purge (before) VALUES (${before})`)
      const gone = batch.add(
        sql`DELETE FROM audit WHERE org = ${org} AND seq IN (${old}) AND seq < ${young} RETURNING seq`,
        howMany,
      )
      batch.do([sql`DELETE FROM audit_purge`])
      const removed = (await batch.run(connection, { org })).of(gone)
      return { removed, last: removed < limit ? org : behind }
    },

    async forgetVersions(limit) {
      const before = historyCutoff(terms, clock.now())
      // In the order of commits, so that a text is never deleted before an older version with the same text.
      const oldest = sql`
        SELECT id, ended_at FROM (
          SELECT id, ended_at, bytes, sum(bytes) OVER (ORDER BY id) AS up_to_here
          FROM (SELECT id, ended_at, bytes FROM entry_versions ORDER BY id LIMIT ${limit}) oldest
        ) sized WHERE up_to_here = bytes OR up_to_here <= ${FORGOTTEN_BYTES}`
      const young = sql`SELECT min(id) FROM (${oldest}) oldest WHERE ended_at > ${before}`
      const ended = sql`SELECT ended_at FROM entry_versions ORDER BY id LIMIT 1`
      const earliest = await runOne(connection, ended, firstRow(timeOf('ended_at')))
      if (earliest === null || earliest > before) return 0
      return runOne(
        connection,
        sql`
            DELETE FROM entry_versions
            WHERE id IN (SELECT id FROM (${oldest}) page) AND id < coalesce((${young}), ${Number.MAX_SAFE_INTEGER})
            RETURNING id`,
        howMany,
        'all',
      )
    },

    async forgetDanglingLinks(limit) {
      const noted = await runOne(
        connection,
        sql`SELECT entry_id FROM dangling_links ORDER BY entry_id LIMIT ${DANGLING}`,
        numbersOf('entry_id'),
      )
      if (noted.length === 0) return 0
      const { dialect } = connection
      const ids = dialect.jsonNumbers(sql`${JSON.stringify(noted)}`)
      // An entry with such an ID was copied from another database.
      const gone = sql`
        (SELECT value AS id FROM ${ids} AS noted WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = value)
          AND NOT ${mayReturn(dialect, sql`value`)}) AS gone`
      const batch = new Batch()
      const links = batch.add(
        sql`
            DELETE FROM links WHERE (org, from_id, relation, to_id, origin) IN (
              SELECT l.org, l.from_id, l.relation, l.to_id, l.origin
              FROM ${gone} ${dialect.plan.follow('links', 'l', sql`l.to_id = gone.id`)} LIMIT ${limit}
            ) RETURNING 1`,
        howMany,
      )
      const notes = batch.add(
        sql`
            DELETE FROM dangling_links
            WHERE entry_id ${dialect.plan.oneOf(sql`SELECT value FROM ${ids} AS noted`)} AND entry_id NOT IN (
              SELECT gone.id FROM ${gone} WHERE EXISTS (SELECT 1 FROM links l WHERE l.to_id = gone.id)
            ) RETURNING 1`,
        howMany,
      )
      const result = await batch.run(connection, 'all')
      return result.of(links) + result.of(notes)
    },

    async forgetReceipts(limit) {
      const before = receiptCutoff(terms, clock.now())
      const due = sql`SELECT org, key_id, key FROM receipts WHERE at <= ${before} ORDER BY at LIMIT ${limit}`
      const gone = sql`DELETE FROM receipts WHERE (org, key_id, key) IN (${due}) RETURNING key`
      return runOne(connection, gone, howMany, 'all')
    },

    async forgetRemovedVectors(limit) {
      const old = sql`
        WITH RECURSIVE orgs (org) AS (
          SELECT min(r.org) FROM vector_removals r
          UNION ALL SELECT (SELECT min(r.org) FROM vector_removals r WHERE r.org > o.org) FROM orgs o WHERE o.org IS NOT NULL
        )
        SELECT r.org, r.id FROM orgs o ${connection.dialect.plan.follow(
          'vector_removals',
          'r',
          sql`r.org = o.org
          AND r.id <= (SELECT max(n.id) FROM vector_removals n WHERE n.org = o.org) - ${REMOVALS}`,
        )} LIMIT ${limit}`
      return runOne(connection, sql`DELETE FROM vector_removals WHERE (org, id) IN (${old}) RETURNING id`, howMany)
    },

    async forgetImageRemovals(before, limit) {
      return runOne(
        connection,
        sql`
          DELETE FROM image_removals
          WHERE id IN (SELECT id FROM image_removals WHERE at < ${before} ORDER BY at LIMIT ${limit})
          RETURNING id`,
        howMany,
      )
    },
  }
}
