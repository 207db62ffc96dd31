import { type SQL, sql } from 'drizzle-orm'
import type { Gathered } from '../../../../domain/capture/gathered'
import { CLAIM_MS } from '../../../../domain/capture/times'
import { Problem } from '../../../../domain/errors'
import type { Scope } from '../../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../../domain/pace'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { CapturedSession, CaptureStore, DueSession, StartPlace, Written } from '../../../../ports/capture'
import type { Clock } from '../../../../ports/clock'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { listed } from '../../core/visibility'
import { reviewStatement, toReviewed } from '../../tables/capture/review'
import { standingStatements, toStanding } from '../../tables/capture/standing'
import { quotaGuards, withinQuotas } from '../../tables/changes/quota'

/** Bytes that a session takes at most, about: its lists are bounded (domain/capture/gathered.ts). */
const MOST_STATE = 60_000

const toSession = (row: Row): CapturedSession => ({
  name: row.session as string,
  revision: Number(row.revision),
  gathered: JSON.parse(row.state as string) as Gathered,
  written: row.written === null ? null : (JSON.parse(row.written as string) as Written),
  claimedAt: row.claimed_at === null ? null : Number(row.claimed_at),
})

const toDue = (row: Row): DueSession => ({
  ...toSession(row),
  org: row.org as string,
  owner: row.owner as string,
  keyId: row.key_id as string,
  agent: row.agent as string | null,
})

const placeOf = ({ project, branch }: StartPlace): string => JSON.stringify([project, branch])

/** Captured sessions over any SQL connection. Whose they are is told by org and owner, so that nobody else's are ever met. */
export function createSqlCaptureStore(
  connection: SqlConnection,
  clock: Clock,
  { quotas = NO_QUOTAS, pace = WITHOUT_REST }: { readonly quotas?: Quotas; readonly pace?: Pace } = {},
): CaptureStore {
  const { dialect } = connection
  const ownerOf = ({ owner }: Scope): string => owner ?? ''
  const own = (scope: Scope, alias: string): SQL => {
    const t = sql.raw(alias)
    return sql`${t}.org = ${scope.org} AND ${t}.owner = ${ownerOf(scope)}`
  }
  const strings = (list: readonly string[]): SQL => dialect.jsonRows(sql`${JSON.stringify(list)}`)

  return {
    async known(scope, events, sessions) {
      const [arrived = [], rows = []] = await connection.read([
        sql`SELECT e.id, e.output FROM capture_events e
          WHERE ${own(scope, 'e')} AND e.id IN (SELECT value FROM ${strings(events)} wanted)`,
        sql`SELECT s.session, s.revision, s.state, s.written, s.claimed_at FROM capture_sessions s
          WHERE ${own(scope, 's')} AND s.session IN (SELECT value FROM ${strings(sessions)} wanted)`,
      ])
      return {
        events: new Map(arrived.map(({ id, output }) => [id as string, output as string | null])),
        sessions: rows.map(toSession),
      }
    },

    async keep(scope, { keyId, agent }, { events, sessions }) {
      const now = clock.now()
      const ids = JSON.stringify(events.map(({ id }) => id))
      const revisions = JSON.stringify(sessions.map(({ name, revision }) => [name, revision]))
      const read = dialect.jsonTable(sql`${revisions}`, { session: 'text', revision: 'integer' })
      const guard = sql`INSERT INTO guards (holds) SELECT (
        NOT EXISTS (
          SELECT 1 FROM capture_events e
          WHERE ${own(scope, 'e')} AND e.id IN (SELECT value FROM ${dialect.jsonRows(sql`${ids}`)} given))
        AND NOT EXISTS (
          SELECT 1 FROM ${read} seen WHERE seen.revision <> coalesce((
            SELECT s.revision FROM capture_sessions s WHERE ${own(scope, 's')} AND s.session = seen.session), 0)
        ))`
      const arrived = JSON.stringify(events.map(({ id, output }) => [id, output]))
      const upserts = sessions.map(
        ({ name, revision, gathered, claimedAt, dueAt }) => sql`
          INSERT INTO capture_sessions (org, owner, session, revision, project, key_id, agent, state, seen_at, claimed_at, due_at)
          VALUES (${scope.org}, ${ownerOf(scope)}, ${name}, ${revision + 1}, ${gathered.place.project ?? ''}, ${keyId}, ${agent},
            ${JSON.stringify(gathered)}, ${now}, ${claimedAt}, ${dueAt})
          ON CONFLICT (org, owner, session) DO UPDATE SET revision = excluded.revision, project = excluded.project,
            key_id = excluded.key_id, agent = excluded.agent, state = excluded.state, seen_at = excluded.seen_at,
            claimed_at = excluded.claimed_at, due_at = excluded.due_at`,
      )
      const insert = sql`
        INSERT INTO capture_events (org, owner, id, at, output)
        SELECT ${scope.org}, ${ownerOf(scope)}, given.id, ${now}, given.output
        FROM ${dialect.jsonTable(sql`${arrived}`, { id: 'text', output: 'text' })} given`
      const room = quotaGuards(dialect, quotas, scope.org)
      const statements = [...room.before, guard, insert, ...upserts, ...room.after]
      const takes = () => arrived.length + upserts.length * MOST_STATE
      try {
        await withinQuotas({ connection, pace, quotas, scope, takes }, () =>
          connection.batch(statements, { org: scope.org }),
        )
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        throw new Problem('conflict', 'Other events of the session arrived at the same moment; send these again')
      }
    },

    async wrote(scope, { name, revision }, written) {
      await connection.batch(
        [
          sql`UPDATE capture_sessions
            SET written = ${written === null ? null : JSON.stringify(written)}, entry_id = ${written?.entryId ?? null},
              claimed_at = NULL,
              due_at = CASE WHEN revision = ${revision} THEN NULL ELSE due_at END
            WHERE org = ${scope.org} AND owner = ${ownerOf(scope)} AND session = ${name}`,
        ],
        { org: scope.org },
      )
    },

    async entryOf(scope, threadId) {
      const [rows] = await connection.read([
        sql`SELECT e.id FROM entries e
          WHERE ${listed(dialect, scope, clock.now(), 'e', { captured: 'alone' })} AND e.thread_id = ${threadId}
            AND e.owner = ${ownerOf(scope)}
          ORDER BY e.id LIMIT 1`,
      ])
      return rows?.[0] === undefined ? null : Number(rows[0].id)
    },

    async due(limit) {
      const now = clock.now()
      const [rows] = await connection.batch([
        sql`SELECT s.org, s.owner, s.session, s.revision, s.key_id, s.agent, s.state, s.written, s.claimed_at
          FROM capture_sessions s
          WHERE s.due_at <= ${now} AND coalesce(s.claimed_at, 0) <= ${now - CLAIM_MS}
          ORDER BY s.due_at LIMIT ${limit}`,
      ])
      return (rows ?? []).map(toDue)
    },

    async claim({ org, owner, name, revision }) {
      const now = clock.now()
      const [rows] = await connection.batch(
        [
          sql`UPDATE capture_sessions SET claimed_at = ${now}
            WHERE org = ${org} AND owner = ${owner} AND session = ${name} AND revision = ${revision}
              AND coalesce(claimed_at, 0) <= ${now - CLAIM_MS}
            RETURNING session`,
        ],
        { org },
      )
      return rows?.length === 1
    },

    async standing(scope, place, except) {
      const statements = standingStatements({ dialect, scope, now: clock.now() }, place)
      return toStanding(await connection.read(statements), place, except)
    },

    async lastStart(scope, place) {
      const [rows] = await connection.read([
        sql`SELECT s.digest FROM capture_starts s WHERE ${own(scope, 's')} AND s.place = ${placeOf(place)}`,
      ])
      return (rows?.[0]?.digest as string | undefined) ?? null
    },

    async noteStart(scope, place, digest) {
      await connection.batch(
        [
          sql`INSERT INTO capture_starts (org, owner, place, digest, at)
            VALUES (${scope.org}, ${ownerOf(scope)}, ${placeOf(place)}, ${digest}, ${clock.now()})
            ON CONFLICT (org, owner, place) DO UPDATE SET digest = excluded.digest, at = excluded.at`,
        ],
        { org: scope.org, isNote: true },
      )
    },

    async captured(scope, project, owner, limit) {
      const place = (alias: string): SQL => {
        const t = sql.raw(alias)
        const ofOwner = owner === null ? sql`` : sql` AND ${t}.owner = ${owner}`
        return sql`${t}.org = ${scope.org} AND ${t}.project = ${project}${ofOwner}`
      }
      const [standing = [], dropped = []] = await connection.read([
        sql`SELECT e.id, e.owner FROM entries e WHERE ${place('e')} AND e.captured = 1 ORDER BY e.id LIMIT ${limit}`,
        // Threads of sessions alone hold what was captured.
        sql`SELECT DISTINCT v.entry_id AS id, v.owner FROM entry_versions v
          WHERE ${place('v')} AND v.deleted = 1 AND v.thread_id >= 'session:' AND v.thread_id < 'session;'
            AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)
          ORDER BY v.entry_id LIMIT ${limit}`,
      ])
      return [...standing, ...dropped].map(({ id, owner: whose }) => ({
        id: Number(id),
        owner: whose as string | null,
      }))
    },

    async review(scope, query) {
      const [rows = []] = await connection.read([reviewStatement({ dialect, scope, now: clock.now() }, query)])
      return rows.map(toReviewed)
    },

    async forgetSessions(scope, project, owner) {
      const ofOwner = owner === null ? sql`` : sql` AND owner = ${owner}`
      await connection.batch(
        [sql`DELETE FROM capture_sessions WHERE org = ${scope.org} AND project = ${project}${ofOwner}`],
        { org: scope.org },
      )
    },

    async forget(before, limit) {
      const remove = (table: string, key: string, time: string, than: number): SQL => {
        const [t, k, at] = [sql.raw(table), sql.raw(key), sql.raw(time)]
        return sql`DELETE FROM ${t} WHERE (org, owner, ${k}) IN (
          SELECT org, owner, ${k} FROM ${t} WHERE ${at} < ${than} ORDER BY ${at} LIMIT ${limit}) RETURNING ${k}`
      }
      const gone = await connection.batch(
        [
          remove('capture_events', 'id', 'at', before.events),
          remove('capture_starts', 'place', 'at', before.sessions),
          // What is still to be written stays.
          sql`DELETE FROM capture_sessions WHERE (org, owner, session) IN (
            SELECT org, owner, session FROM capture_sessions WHERE seen_at < ${before.sessions} AND due_at IS NULL
            ORDER BY seen_at LIMIT ${limit}) RETURNING session`,
        ],
        'all',
      )
      return Math.max(...gone.map((rows) => rows.length))
    },
  }
}
