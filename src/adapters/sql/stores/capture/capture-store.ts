// Stores captured events and sessions. Old rows are found by scanning the tables in the order of their keys, because every event would have
// to update an index by time, while the tables are scanned once a day.

import { type SQL, sql } from 'drizzle-orm'
import { type Fields, SESSION_LEASE_MS, SILENT_MS } from '../../../../domain/capture/hook-event'
import { isFields, textOf } from '../../../../domain/capture/json-fields'
import { APPROVED_AUDIENCE, type ReviewedEntry, type ReviewQuery } from '../../../../domain/capture/review'
import { currentForm, type SessionState } from '../../../../domain/capture/session-state'
import {
  type ComparedMemory,
  type MemoryUse,
  MOST_SESSIONS,
  type NamedMemory,
  type SessionUse,
} from '../../../../domain/capture/usage'
import { citationsOf, placeOf as placeOfLines } from '../../../../domain/entry/citation'
import type { JsonObject } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import type { Scope } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import { utf8Length } from '../../../../domain/text'
import type { Millis } from '../../../../domain/time'
import type { CapturedSession, CaptureStore, PendingSession, StartPlace, Written } from '../../../../ports/capture'
import type { Clock } from '../../../../ports/clock'
import { Batch, readOne, runOne } from '../../core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { each, firstRow, flag, howMany, json, jsonOrNull, num, numOrNull, str, strOrNull } from '../../core/rows'
import {
  changeable,
  inProject,
  listed,
  listedToChange,
  projectsOf,
  reachesProject,
  visible,
} from '../../core/visibility'
import { readStartMemories } from '../../tables/capture/start-memories'
import { runInFrame } from '../../tables/changes/publish-changes'
import { quotaGuards, withinQuotas } from '../../tables/changes/quota'
import { isVersion } from '../../tables/entries/entry-rows'
import { previewOf } from '../../tables/texts/long-texts'

/** Rows scanned in one batch. */
const SCANNED_ROWS = 1_000

interface Table {
  readonly name: string
  /** The third column of the key; the first two are organization and owner. */
  readonly key: string
  readonly isOld: SQL
}

/** Parses the cursor of a batch: a table, and the key after which it continues. */
const toCursor = (cursor: string | null): [table?: number, ...key: string[]] =>
  cursor === null ? [] : JSON.parse(cursor)

/** Returns the next rows of a table, and those of them that are old. */
async function partOf(connection: SqlConnection, { name, key, isOld }: Table, behind: readonly string[]) {
  const places = sql.join(
    behind.map((one) => sql`${one}`),
    sql`, `,
  )
  const beyond = behind.length === 0 ? sql`` : sql`WHERE (org, owner, ${sql.raw(key)}) > (${places})`
  const rows = await readOne(
    connection,
    sql`SELECT org, owner, ${sql.raw(key)} AS name, CASE WHEN ${isOld} THEN 1 ELSE 0 END AS is_old
      FROM ${sql.raw(name)} ${beyond}
      ORDER BY org, owner, ${sql.raw(key)} LIMIT ${sql.raw(String(SCANNED_ROWS))}`,
    each((row) => ({ id: [str(row, 'org'), str(row, 'owner'), str(row, 'name')], isOld: num(row, 'is_old') === 1 })),
  )
  return {
    old: rows.flatMap((row) => (row.isOld ? [row.id] : [])),
    last: rows.length < SCANNED_ROWS ? null : (rows.at(-1)?.id ?? null),
  }
}

/** Deletes old rows, except those that have changed meanwhile. @returns the number of deleted rows */
async function remove(connection: SqlConnection, { name, key, isOld }: Table, old: readonly string[][]) {
  if (old.length === 0) return 0
  const columns = { org: 'text', owner: 'text', name: 'text' } as const
  const given = connection.dialect.jsonTable(sql`${JSON.stringify(old)}`, columns)
  return runOne(
    connection,
    sql`DELETE FROM ${sql.raw(name)}
      WHERE (org, owner, ${sql.raw(key)}) IN (SELECT given.org, given.owner, given.name FROM ${given} given) AND ${isOld}
      RETURNING org`,
    howMany,
    'all',
  )
}

/** Runs one batch of `CaptureStore.forget`. */
async function forgetRound(
  connection: SqlConnection,
  { events, sessions, uses }: { readonly events: Millis; readonly sessions: Millis; readonly uses: Millis },
  cursor: string | null,
): Promise<{ readonly gone: number; readonly next: string | null }> {
  const tables: readonly Table[] = [
    { name: 'capture_events', key: 'id', isOld: sql`at < ${events}` },
    { name: 'capture_start_digests', key: 'place', isOld: sql`at < ${sessions}` },
    { name: 'session_memories', key: 'session', isOld: sql`at < ${uses}` },
    // Sessions with a pending checkpoint stay.
    { name: 'capture_sessions', key: 'session', isOld: sql`seen_at < ${sessions} AND due_at IS NULL` },
  ]
  const [first = 0, ...behind] = toCursor(cursor)
  const table = tables[first]
  if (table === undefined) return { gone: 0, next: null }
  const { old, last } = await partOf(connection, table, behind)
  const gone = await remove(connection, table, old)
  const next = last ? [first, ...last] : first + 1 < tables.length ? [first + 1] : null
  return { gone, next: next && JSON.stringify(next) }
}

const PREVIEW = 300

/** Matches the sessions of a client: they are named `session:<client>:<id>`, so they are adjacent in an index. */
const ofClient = (client: string): SQL =>
  sql` AND e.thread_id >= ${`session:${client}:`} AND e.thread_id < ${`session:${client};`}`

function reviewStatement(
  { dialect, scope, now }: { readonly dialect: SqlDialect; readonly scope: Scope; readonly now: Millis },
  { project, client, after, limit }: ReviewQuery,
): SQL {
  const ofProject = project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  const behind =
    after === null
      ? sql``
      : sql` AND e.updated_at <= ${after.updatedAt} AND (e.updated_at < ${after.updatedAt} OR e.id < ${after.id})`
  return sql`
    SELECT e.id, e.title, e.kind, e.thread_id, e.project, e.updated_at, e.expires_at, e.version, e.metadata,
      ${previewOf(dialect, PREVIEW)} AS preview
    FROM entries e
    WHERE ${changeable(dialect, scope, now)} AND e.captured = 1${ofProject}${client === null ? sql`` : ofClient(client)}${behind}
    ORDER BY e.updated_at DESC, e.id DESC LIMIT ${limit}`
}

/** Returns the places that a proposal cites, and the commit whose message it is. */
const placesOf = (metadata: Fields): string[] => {
  const commit = textOf(metadata, 'commit')
  return [
    ...citationsOf(metadata as JsonObject).map(placeOfLines),
    ...(commit === null ? [] : [`commit ${commit.slice(0, 12)}`]),
  ]
}

function toReviewed(row: Row): ReviewedEntry {
  const parsed: unknown = typeof row.metadata === 'string' ? JSON.parse(row.metadata) : null
  const metadata = isFields(parsed) ? parsed : {}
  return {
    id: num(row, 'id'),
    title: strOrNull(row, 'title'),
    kind: str(row, 'kind'),
    threadId: str(row, 'thread_id'),
    quote: textOf(metadata, 'quote'),
    sources: placesOf(metadata),
    approvedAudience: textOf(metadata, APPROVED_AUDIENCE),
    project: strOrNull(row, 'project'),
    branch: textOf(metadata, 'branch'),
    client: textOf(metadata, 'client'),
    updatedAt: num(row, 'updated_at'),
    expiresAt: numOrNull(row, 'expires_at'),
    version: num(row, 'version'),
    preview: str(row, 'preview'),
  }
}

/** Characters of a memory that are compared: as many as a start text includes. */
const COMPARED = 1_300
/** Characters of a memory in a list. */
const SHOWN = 200

interface Place {
  readonly org: string
  readonly owner: string
  readonly name: string
  readonly project: string | null
}

/** Stores the usage row of a session; writes nothing when it is unchanged. */
export const noteUse = ({ org, owner, name, project }: Place, use: readonly MemoryUse[], now: Millis): SQL => sql`
  INSERT INTO session_memories (org, owner, session, project, at, memories)
  VALUES (${org}, ${owner}, ${name}, ${project ?? ''}, ${now}, ${JSON.stringify(use)})
  ON CONFLICT (org, owner, session) DO UPDATE SET project = excluded.project, at = excluded.at, memories = excluded.memories
  WHERE session_memories.memories <> excluded.memories OR session_memories.project <> excluded.project`

const comparedStatement = (dialect: SqlDialect, scope: Scope, ids: readonly number[], now: Millis): SQL => sql`
  SELECT e.id, e.title, ${previewOf(dialect, COMPARED)} AS text,
    ${dialect.textAt(['fileContext', 'path'])} AS opened_file, ${dialect.textAt(['codeBlock', 'filePath'])} AS code_file
  FROM (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}) wanted
  ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
  WHERE ${dialect.plan.filterOnly(visible(dialect, scope, now))}`

const toCompared = (row: Row): ComparedMemory => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  files: [strOrNull(row, 'opened_file'), strOrNull(row, 'code_file')].filter((file) => file !== null),
})

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  readonly now: Millis
}

/**
 * Returns usage rows of sessions of every owner, in the projects of the scope, newest first. The rows contain no text.
 *
 * @param id only sessions that used this memory; null for all
 */
function usesStatement({ dialect, scope }: Omit<Context, 'now'>, since: Millis, id: number | null): SQL {
  const projects = projectsOf(scope)
  const ofMemory = id === null ? sql`` : sql` AND s.memories LIKE ${`%[${id},%`}`
  return sql`
    SELECT s.session, s.at, s.memories FROM session_memories s
    WHERE s.org = ${scope.org} AND s.at >= ${since}${reachesProject(dialect, { projects }, sql`s.project`)}${ofMemory}
    ORDER BY s.at DESC LIMIT ${MOST_SESSIONS}`
}

const toSessionUse = (row: Row): SessionUse => ({
  session: str(row, 'session'),
  at: num(row, 'at'),
  memories: JSON.parse(str(row, 'memories')),
})

/** Returns the time of the oldest usage row in the projects of the scope. */
const firstUseStatement = ({ dialect, scope }: Omit<Context, 'now'>): SQL =>
  sql`SELECT min(s.at) AS at FROM session_memories s
    WHERE s.org = ${scope.org}${reachesProject(dialect, { projects: projectsOf(scope) }, sql`s.project`)}`

/** Returns the listed memories with these IDs. */
const namedStatement = ({ dialect, scope, now }: Context, ids: readonly number[]): SQL => sql`
  SELECT e.id, e.title, e.kind, e.version, e.project, e.created_at, ${previewOf(dialect, SHOWN)} AS text
  FROM (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}) wanted
  ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
  WHERE ${dialect.plan.filterOnly(listed(dialect, scope, now))}`

/** Returns the oldest listed memories that the scope may change, created before a time, except these. */
const unusedStatement = (
  { dialect, scope, now }: Context,
  before: Millis,
  used: readonly number[],
  limit: number,
): SQL => sql`
  SELECT e.id, e.title, e.kind, e.version, e.project, e.created_at, ${previewOf(dialect, SHOWN)} AS text
  FROM entries e
  WHERE ${listedToChange(dialect, scope, now)} AND e.layer <> 1 AND e.pinned = 0 AND e.created_at < ${before}
    AND e.updated_at < ${before}
    AND e.id NOT IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(used)}`)} known)
  ORDER BY e.created_at, e.id LIMIT ${limit}`

export const toNamed = (row: Row): NamedMemory => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  kind: str(row, 'kind'),
  version: num(row, 'version'),
  project: strOrNull(row, 'project'),
  createdAt: num(row, 'created_at'),
})

/** Approximate maximum bytes of a session, whose lists are bounded. */
const MOST_STATE = 120_000

/** Returns the kilobytes of a session for the usage of its organization, as the triggers compute them for changes. */
const inKilobytes = (session: string, state: string): number => Math.ceil(utf8Length(session + state) / 1024) * 1024

const toSession = (row: Row): CapturedSession => ({
  name: str(row, 'session'),
  revision: num(row, 'revision'),
  gathered: currentForm(json<SessionState>(row, 'state')),
  written: jsonOrNull<Written>(row, 'written'),
  claimedAt: numOrNull(row, 'claimed_at'),
  dueAt: numOrNull(row, 'due_at'),
})

const toDue = (row: Row): PendingSession => ({
  ...toSession(row),
  org: str(row, 'org'),
  owner: str(row, 'owner'),
  keyId: str(row, 'key_id'),
  agent: strOrNull(row, 'agent'),
})

const placeOf = ({ project, branch }: StartPlace): string => JSON.stringify([project, branch])

/** Characters of a text in the list of texts that address an agent. */
const ADDRESSING_PREVIEW = 400

const sessionPreview = (text: string) => ({
  preview: text.length > ADDRESSING_PREVIEW ? text.slice(0, ADDRESSING_PREVIEW) : text,
  isCut: text.length > ADDRESSING_PREVIEW,
})

/** Queues the proposal of memories for a session, to run when no event has arrived for a while. */
const queueProposals = (org: string, entryId: number, now: Millis): SQL =>
  sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
    VALUES (${org}, 'propose', ${String(entryId)}, ${now}, ${now + SILENT_MS})
    ON CONFLICT (org, topic, key) DO UPDATE SET due_at = excluded.due_at WHERE outbox.state = 'pending'`

/** Creates the capture store over any SQL connection. Every statement names the organization. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlCaptureStore(
  connection: SqlConnection,
  clock: Clock,
  {
    quotas = NO_QUOTAS,
    proposes = false,
  }: {
    readonly quotas?: Quotas
    /** Whether a model proposes memories from sessions. */
    readonly proposes?: boolean
  } = {},
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
      const batch = new Batch()
      const arrived = batch.add(
        sql`SELECT e.id, e.output FROM capture_events e
          WHERE ${own(scope, 'e')} AND e.id IN (SELECT value FROM ${strings(events)} wanted)`,
        (rows) => new Map(rows.map((row) => [str(row, 'id'), strOrNull(row, 'output')])),
      )
      const states = batch.add(
        sql`SELECT s.session, s.revision, s.state, s.written, s.claimed_at, s.due_at FROM capture_sessions s
          WHERE ${own(scope, 's')} AND s.session IN (SELECT value FROM ${strings(sessions)} wanted)`,
        each(toSession),
      )
      const result = await batch.read(connection)
      return { events: result.of(arrived), sessions: result.of(states) }
    },

    async store(scope, { keyId, agent }, { events, sessions }) {
      const now = clock.now()
      const ids = JSON.stringify(events.map(({ id }) => id))
      const revisions = JSON.stringify(
        sessions.map(({ name, revision, dueAt }) => [name, revision, dueAt === 'stays' ? 1 : 0]),
      )
      const read = dialect.jsonTable(sql`${revisions}`, { session: 'text', revision: 'integer', stays: 'integer' })
      const guard = sql`INSERT INTO guards (holds) SELECT (
        NOT EXISTS (
          SELECT 1 FROM capture_events e
          WHERE ${own(scope, 'e')} AND e.id IN (SELECT value FROM ${dialect.jsonRows(sql`${ids}`)} given))
        AND NOT EXISTS (
          SELECT 1 FROM ${read} seen WHERE seen.revision <> coalesce((
            SELECT s.revision FROM capture_sessions s
            WHERE ${own(scope, 's')} AND s.session = seen.session AND (seen.stays = 0 OR s.due_at IS NOT NULL)), 0)
        ))`
      const arrived = JSON.stringify(events.map(({ id, output }) => [id, output]))
      const upserts = sessions.map(
        ({ name, revision, gathered, claimedAt, dueAt }) => sql`
          INSERT INTO capture_sessions (org, owner, session, revision, project, key_id, agent, state, seen_at, claimed_at, due_at)
          VALUES (${scope.org}, ${ownerOf(scope)}, ${name}, ${revision + 1}, ${gathered.place.project ?? ''}, ${keyId}, ${agent},
            ${JSON.stringify(gathered)}, ${now}, ${claimedAt}, ${dueAt === 'stays' ? null : dueAt})
          ON CONFLICT (org, owner, session) DO UPDATE SET revision = excluded.revision, project = excluded.project,
            key_id = excluded.key_id, agent = excluded.agent, state = excluded.state, seen_at = excluded.seen_at,
            claimed_at = excluded.claimed_at${dueAt === 'stays' ? sql`` : sql`, due_at = excluded.due_at`}`,
      )
      const insert = sql`
        INSERT INTO capture_events (org, owner, id, at, output)
        SELECT ${scope.org}, ${ownerOf(scope)}, given.id, ${now}, given.output
        FROM ${dialect.jsonTable(sql`${arrived}`, { id: 'text', output: 'text' })} given`
      const added = sessions.filter(({ revision }) => revision === 0)
      const bytes =
        events.reduce((sum, { id, output }) => sum + utf8Length(id) + utf8Length(output ?? ''), 0) +
        added.reduce((sum, { name, gathered }) => sum + inKilobytes(name, JSON.stringify(gathered)), 0)
      const count = sql`INSERT INTO usage_counters AS u (org, part, items, bytes)
        VALUES (${scope.org}, 'capture', ${events.length + added.length}, ${bytes})
        ON CONFLICT (org, part) DO UPDATE SET items = u.items + excluded.items, bytes = u.bytes + excluded.bytes`
      const guards = quotaGuards(dialect, quotas, scope.org)
      const statements = [...guards.before, guard, insert, ...upserts, count, ...guards.after]
      const takes = () => arrived.length + upserts.length * MOST_STATE
      try {
        await withinQuotas({ connection, quotas, scope, takes }, () =>
          new Batch(...statements).run(connection, { org: scope.org }),
        )
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error
        throw new Problem('conflict', 'Other events of the session arrived at the same time; send these again')
      }
    },

    async recordCheckpoint(scope, { name, revision, gathered }, written, use) {
      const { project } = gathered.place
      await new Batch(
        ...(use.length === 0
          ? []
          : [noteUse({ org: scope.org, owner: ownerOf(scope), name, project }, use, clock.now())]),
        sql`UPDATE capture_sessions
            SET written = ${written === null ? null : JSON.stringify(written)}, entry_id = ${written?.entryId ?? null},
              claimed_at = NULL,
              due_at = CASE WHEN revision = ${revision} THEN NULL ELSE due_at END
            WHERE org = ${scope.org} AND owner = ${ownerOf(scope)} AND session = ${name}`,
        ...(proposes && written !== null && !written.closed
          ? [queueProposals(scope.org, written.entryId, clock.now())]
          : []),
      ).run(connection, { org: scope.org })
    },

    async compared(scope, ids) {
      if (ids.length === 0) return []
      return readOne(connection, comparedStatement(dialect, scope, ids, clock.now()), each(toCompared))
    },

    async uses(scope, since, id) {
      return readOne(connection, usesStatement({ dialect, scope }, since, id), each(toSessionUse))
    },

    async firstUse(scope) {
      return readOne(
        connection,
        firstUseStatement({ dialect, scope }),
        firstRow((row) => numOrNull(row, 'at')),
      )
    },

    async named(scope, ids) {
      if (ids.length === 0) return []
      return readOne(connection, namedStatement({ dialect, scope, now: clock.now() }, ids), each(toNamed))
    },

    async unused(scope, before, used, limit) {
      const context = { dialect, scope, now: clock.now() }
      return readOne(connection, unusedStatement(context, before, used, limit), each(toNamed))
    },

    async archive(caller, memories, isArchived) {
      const given = dialect.jsonTable(sql`${JSON.stringify(memories)}`, { id: 'integer', version: 'integer' })
      const ids = dialect.jsonNumbers(sql`${JSON.stringify(memories.map(([id]) => id))}`)
      const [from, to] = isArchived ? [0, 1] : [1, 0]
      const chosen = sql`
        SELECT e.id FROM ${given} given ${dialect.plan.follow('entries', 'e', sql`e.id = given.id`)}
        WHERE e.version = given.version AND e.archived = ${from} AND e.captured = 0 AND e.diary = 0
          AND ${dialect.plan.filterOnly(changeable(dialect, caller, clock.now()))}`
      const batch = new Batch(
        sql`INSERT INTO guards (holds) SELECT (SELECT count(*) FROM (${chosen}) found) = ${memories.length}`,
        sql`UPDATE entries SET archived = ${to} WHERE ${dialect.plan.filterOnly(sql`org = ${caller.org}`)}
          AND id ${dialect.plan.oneOf(sql`SELECT value FROM ${ids} named`)}`,
      )
      try {
        await runInFrame(connection, caller, { keeps: false }, () => batch, { org: caller.org })
        return true
      } catch (error) {
        if (error instanceof PreconditionFailed) return false
        throw error
      }
    },

    async entryOf(scope, threadId) {
      return readOne(
        connection,
        sql`SELECT e.id FROM entries e
          WHERE ${listed(dialect, scope, clock.now(), 'e', { captured: 'alone' })} AND e.thread_id = ${threadId}
            AND e.kind = 'session' AND e.owner = ${ownerOf(scope)}
          ORDER BY e.id LIMIT 1`,
        firstRow((row) => num(row, 'id')),
      )
    },

    async due(silentSince, limit) {
      const now = clock.now()
      return runOne(
        connection,
        sql`SELECT s.org, s.owner, s.session, s.revision, s.key_id, s.agent, s.state, s.written, s.claimed_at, s.due_at
          FROM capture_sessions s
          WHERE s.due_at IS NOT NULL AND coalesce(s.claimed_at, 0) <= ${now - SESSION_LEASE_MS}
            AND (s.claimed_at IS NOT NULL OR (s.due_at <= ${now} AND s.seen_at <= ${silentSince}))
          ORDER BY s.due_at LIMIT ${limit}`,
        each(toDue),
      )
    },

    async claim({ org, owner, name, revision }) {
      const now = clock.now()
      const claimed = await runOne(
        connection,
        sql`UPDATE capture_sessions SET claimed_at = ${now}
            WHERE org = ${org} AND owner = ${owner} AND session = ${name} AND revision = ${revision}
              AND coalesce(claimed_at, 0) <= ${now - SESSION_LEASE_MS}
            RETURNING session`,
        howMany,
        { org },
      )
      return claimed === 1
    },

    async startMemories(scope, place, except, isApproved = false) {
      return readStartMemories(connection, { dialect, scope, now: clock.now(), isApproved }, place, except)
    },

    async lastStart(scope, place) {
      return readOne(
        connection,
        sql`SELECT s.digest FROM capture_start_digests s WHERE ${own(scope, 's')} AND s.place = ${placeOf(place)}`,
        firstRow((row) => strOrNull(row, 'digest')),
      )
    },

    async noteStart(scope, place, digest) {
      await new Batch(
        sql`INSERT INTO capture_start_digests (org, owner, place, digest, at)
            VALUES (${scope.org}, ${ownerOf(scope)}, ${placeOf(place)}, ${digest}, ${clock.now()})
            ON CONFLICT (org, owner, place) DO UPDATE SET digest = excluded.digest, at = excluded.at`,
      ).run(connection, { org: scope.org, isNote: true })
    },

    async captured(scope, project, owner, limit) {
      const place = (alias: string): SQL => {
        const t = sql.raw(alias)
        const ofOwner = owner === null ? sql`` : sql` AND ${t}.owner = ${owner}`
        return sql`${t}.org = ${scope.org} AND ${inProject(dialect, scope, project, sql`${t}.project`)}${ofOwner}`
      }
      const batch = new Batch()
      const toOwned = each((row: Row) => ({ id: num(row, 'id'), owner: strOrNull(row, 'owner') }))
      const standing = batch.add(
        sql`SELECT e.id, e.owner FROM entries e WHERE ${place('e')} AND e.captured = 1 ORDER BY e.id LIMIT ${limit}`,
        toOwned,
      )
      // Threads of sessions and of learned memories contain only captured entries, and those that a person approved or stored there.
      const dropped = batch.add(
        sql`SELECT DISTINCT v.entry_id AS id, v.owner FROM entry_versions v
          WHERE ${place('v')} AND v.deleted = 1
            AND ((v.thread_id >= 'session:' AND v.thread_id < 'session;') OR (v.thread_id >= 'learn:' AND v.thread_id < 'learn;'))
            AND v.archived = 1 AND v.metadata LIKE ${'%"captured":true%'}
            AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)
          ORDER BY v.entry_id LIMIT ${limit}`,
        toOwned,
      )
      const result = await batch.read(connection)
      return [...result.of(standing), ...result.of(dropped)]
    },

    async review(scope, query) {
      return readOne(connection, reviewStatement({ dialect, scope, now: clock.now() }, query), each(toReviewed))
    },

    async waiting(scope, most) {
      const { plan } = dialect
      return readOne(
        connection,
        sql`SELECT s.session, ${dialect.numberAt('proposed')} AS proposed FROM capture_sessions s ${plan.follow('entries', 'e', sql`e.id = s.entry_id`)}
          WHERE ${own(scope, 's')} AND s.entry_id IS NOT NULL
            AND ${plan.filterOnly(sql`e.captured = 1`)} AND ${changeable(dialect, scope, clock.now())}
          LIMIT ${most}`,
        each((row) => ({ name: str(row, 'session'), proposed: Number(row.proposed ?? 0) })),
      )
    },

    async approved(scope, ids) {
      if (ids.length === 0) return new Set()
      const found = await readOne(
        connection,
        sql`SELECT e.id FROM (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}) wanted
          ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
          WHERE ${dialect.plan.filterOnly(sql`e.org = ${scope.org}`)} AND e.approved_version = e.version`,
        each((row) => num(row, 'id')),
      )
      return new Set(found)
    },

    async addressing(scope, limit, all = false) {
      return readOne(
        connection,
        sql`SELECT e.id, e.version, e.title, e.project, e.addresses_agent, substr(e.text, 1, ${ADDRESSING_PREVIEW + 1}) AS preview
          FROM entries e
          WHERE e.org = ${scope.org}${all ? sql`` : sql` AND e.addresses_agent = 1`}
            AND (e.approved_version IS NULL OR e.approved_version <> e.version)
            AND ${listedToChange(dialect, scope, clock.now())}
          ORDER BY e.id DESC LIMIT ${limit}`,
        each((row) => ({
          id: num(row, 'id'),
          version: num(row, 'version'),
          title: strOrNull(row, 'title'),
          project: strOrNull(row, 'project'),
          addresses: flag(row, 'addresses_agent'),
          ...sessionPreview(str(row, 'preview')),
        })),
      )
    },

    async approve(caller, id, version) {
      const approved = await runOne(
        connection,
        sql`UPDATE entries AS e SET approved_by = ${caller.keyId}, approved_version = e.version
          WHERE e.id = ${id} AND ${isVersion(sql`e.version`, version)} AND ${changeable(dialect, caller, clock.now())}
          RETURNING id`,
        howMany,
        { org: caller.org },
      )
      return approved === 1
    },

    async forgetSessions(scope, project, owner) {
      const ofOwner = owner === null ? sql`` : sql` AND owner = ${owner}`
      const gone = ['capture_sessions', 'session_memories'].map(
        (table) =>
          sql`DELETE FROM ${sql.raw(table)} WHERE org = ${scope.org} AND ${inProject(dialect, scope, project, sql`project`)}${ofOwner}`,
      )
      await new Batch(...gone).run(connection, { org: scope.org })
    },

    forget: (before, cursor) => forgetRound(connection, before, cursor),
  }
}
