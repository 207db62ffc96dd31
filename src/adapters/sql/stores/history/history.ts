import { type SQL, sql } from 'drizzle-orm'
import type { Generated } from '../../../../domain/entry/entry'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/terms'
import { changedParts, type Version, type VersionAction } from '../../../../domain/history/version'
import type { Scope } from '../../../../domain/identity/scope'
import type { Pace } from '../../../../domain/pace'
import type { Quotas } from '../../../../domain/quota'
import type { Analyzer } from '../../../../domain/search/analysis'
import { indexText } from '../../../../domain/search/indexed-text'
import { sha256Hex } from '../../../../domain/text'
import { beyondShare } from '../../../../domain/write-share'
import type { Clock } from '../../../../ports/clock'
import type { History, Kept, Restoration } from '../../../../ports/history'
import { TRUE } from '../../core/compile-filter'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { changeable } from '../../core/visibility'
import { auditStatement } from '../../tables/changes/audit-log'
import { takenBy } from '../../tables/changes/quota'
import { createUnfinishedDeletes } from '../../tables/changes/unfinished-deletes'
import { createWrite } from '../../tables/changes/writing'
import { entriesById } from '../../tables/entries/read-statements'
import { readRows, toEntry } from '../../tables/entries/rows'
import { premiseProblem } from '../../tables/links/related-links'
import { createIndexWriter } from '../../tables/vectors/index-writer'
import {
  asOfStatement,
  KEPT_COLUMNS,
  keptText,
  stateStatement,
  textsStatement,
  versionStatements,
} from '../../tables/writes/history-statements'
import {
  besideStatements,
  edgesOf,
  edgesStatement,
  mayRestore,
  type Returning,
  restoreGuard,
  returnStatement,
  revertStatement,
} from '../../tables/writes/restore-statements'

const toVersion = (row: Row): Version => ({
  version: Number(row.version),
  at: Number(row.at),
  action: row.action as VersionAction,
  agent: row.agent as string | null,
  keyId: (row.key_id as string | null) ?? '',
  changed: row.changed === null ? (row.action === 'updated' ? null : []) : changedParts(Number(row.changed)),
  preview: row.preview as string,
})

/** The earlier of two instants; null where there is neither. */
const earliest = (...instants: readonly unknown[]): number | null =>
  instants.reduce<number | null>((first, at) => (at === null ? first : Math.min(first ?? Infinity, Number(at))), null)

const toKept = (row: Row): Kept => ({
  id: Number(row.id),
  kept: Number(row.kept),
  currentVersion: Number(row.current_version),
  currentAt: Number(row.current_at),
  currentBy: (row.current_by as string | null) ?? '',
  live: Number(row.live) === 1,
  edges: row.edges as string | null,
  expiresAt: earliest(row.expires_at, row.gone_expires_at),
  state: toEntry(row),
})

const LOST = 'What is to be restored changes at this moment; nothing was restored, try again'

/** History over any SQL connection. */
export function createSqlHistory(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  pace: Pace,
  quotas: Quotas,
  terms: HistoryTerms,
): History {
  const { dialect } = connection
  const write = createWrite(connection, clock, terms, pace)
  const indexWriter = createIndexWriter(connection, analyzer, pace)
  const unfinishedDeletes = createUnfinishedDeletes(connection, pace)
  const context = (scope: Scope) => ({ dialect, scope, now: clock.now() })

  const among = (id: SQL, ids: readonly number[]): SQL =>
    sql`${id} ${dialect.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}`)}`

  /** Beside a kept state `v`, the entry that stands there. */
  const entryOf = dialect.followLeft('entries', 'e', sql`e.id = v.entry_id`)

  /** The kept states that are meant, as conditions on `v`, beside `e`, the entry that stands there. */
  function meant({ org }: Scope, what: Restoration): SQL {
    const last = sql`v.deleted = 1 AND v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`
    const ofOrg = sql`v.org = ${org}`
    if ('changeId' in what) return sql`${ofOrg} AND v.change_id = ${what.changeId} AND e.id IS NULL AND ${last}`
    const wanted = sql`${among(sql`v.entry_id`, what.ids)} AND ${dialect.aside(ofOrg)}`
    return what.version === undefined
      ? sql`${wanted} AND e.id IS NULL AND ${last}`
      : sql`${wanted} AND v.version = ${what.version}`
  }

  /** What stands there, or the last deletion: version, time and maker. */
  const current = (live: SQL, gone: SQL): SQL => sql`
    CASE WHEN e.id IS NOT NULL THEN ${live} ELSE (
      SELECT ${gone} FROM entry_versions d WHERE d.entry_id = v.entry_id ORDER BY d.version DESC LIMIT 1
    ) END`

  /**
   * What is written with each state. Of one whose entry stands there, words follow behind the commit: where it stands for them (layer,
   * owner) is the entry's to say, not the state's.
   */
  async function returning(
    states: readonly Kept[],
    generated: readonly (Generated | null)[],
  ): Promise<readonly Returning[]> {
    const later = beyondShare(states.map(({ live, state }) => (live ? Number.POSITIVE_INFINITY : state.text.length)))
    const all: Returning[] = []
    for (const [i, kept] of states.entries())
      all.push({
        kept,
        textHash: await sha256Hex(kept.state.text),
        generated: generated[i] ?? null,
        indexed: later[i] ? null : await pace.run(indexText(analyzer, kept.state)),
      })
    return all
  }

  return {
    async versions(scope, id, window) {
      const [totals, rows] = await connection.read(versionStatements(context(scope), id, window))
      const { total: all, newest, live } = totals?.[0] ?? {}
      const total = Number(all ?? 0)
      if (total === 0) return null
      return {
        currentVersion: Number(newest),
        deleted: Number(live) === 0,
        versions: (rows ?? []).map(toVersion),
        total,
      }
    },

    async state(scope, id, version) {
      const [rows] = await connection.read([stateStatement(context(scope), id, version)])
      return rows?.[0] === undefined || rows[0].text === null ? null : toEntry(rows[0])
    },

    async texts(scope, id, versions, maxBytes) {
      if (versions.length === 0) return new Map()
      const [rows] = await connection.read([textsStatement(context(scope), id, versions, maxBytes)])
      const known = (rows ?? []).filter(({ text }) => text !== null)
      return new Map(known.map((row) => [Number(row.version), row.text as string]))
    },

    async asOf(scope, ids, at, maxBytes) {
      const [rows = []] = await connection.batch([asOfStatement(dialect, scope, ids, at, maxBytes)])
      return {
        entries: await readRows(
          rows.filter(({ id, text }) => id !== null && text !== null),
          pace,
          toEntry,
        ),
        omitted: rows.filter(({ id }) => id === null).map(({ wanted_id: id }) => Number(id)),
      }
    },

    async restorable(scope, what, most) {
      const { limit, maxBytes } = most
      const now = clock.now()
      const from = sql`
        FROM entry_versions v ${entryOf}
        WHERE ${meant(scope, what)} AND ${mayRestore(dialect, scope, now)}`
      const ids = 'ids' in what ? what.ids : []
      const leaving = 'changeId' in what ? sql`change_id = ${what.changeId}` : among(sql`entry_id`, ids)
      const [rows, totals, standing, unfinished = []] = await connection.batch([
        sql`
          WITH sized AS (
            SELECT v.id, sum(v.bytes) OVER (ORDER BY v.entry_id) AS up_to_here, v.bytes
            ${from} ORDER BY v.entry_id LIMIT ${limit}
          )
          SELECT ${KEPT_COLUMNS}, ${keptText} AS text, v.id AS kept, v.expires_at,
            ${current(sql`NULL`, sql`d.expires_at`)} AS gone_expires_at,
            ${current(sql`NULL`, sql`d.edges`)} AS edges,
            CASE WHEN e.id IS NULL THEN 0 ELSE 1 END AS live,
            ${current(sql`e.version`, sql`d.ended_version`)} AS current_version,
            ${current(sql`e.updated_at`, sql`d.ended_at`)} AS current_at,
            ${current(
              sql`coalesce(e.changed_agent, e.changed_by, e.agent, e.created_by)`,
              sql`coalesce(d.ended_agent, d.ended_by)`,
            )} AS current_by
          FROM sized ${dialect.follow('entry_versions', 'v', sql`v.id = sized.id`)} ${entryOf}
          WHERE sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.bytes
          ORDER BY v.entry_id`,
        sql`SELECT count(*) AS n ${from}`,
        'changeId' in what
          ? sql`
            SELECT e.id
            FROM entry_versions v ${dialect.follow('entries', 'e', sql`e.id = v.entry_id`)}
            WHERE v.org = ${scope.org} AND v.change_id = ${what.changeId} AND v.deleted = 1 AND ${changeable(dialect, scope, now)}
            ORDER BY e.id LIMIT ${limit}`
          : sql`SELECT e.id FROM ${entriesById(dialect, ids)} WHERE ${TRUE} AND ${changeable(dialect, scope, now)}`,
        sql`SELECT DISTINCT change_id FROM leaving WHERE org = ${scope.org} AND ${leaving}`,
      ])
      // What is deleted and not yet removed is not yet kept either.
      for (const { change_id: changeId } of unfinished) await unfinishedDeletes.finish(scope.org, changeId as string)
      if (unfinished.length > 0) return this.restorable(scope, what, most)
      const kept = (rows ?? []).filter(({ text }) => text !== null).map(toKept)
      return {
        kept,
        more: Number(totals?.[0]?.n ?? 0) - (rows?.length ?? 0),
        standing: (standing ?? []).map(({ id }) => Number(id)),
      }
    },

    async restore(caller, states, generated) {
      const now = clock.now()
      const gone = states.filter(({ live }) => !live)
      const all = await returning(states, generated)
      const event = { ...caller, allowed: true, ids: states.map(({ id }) => id), detail: { restored: states.length } }
      const statements = [
        restoreGuard(dialect, caller, now, states),
        ...(gone.length > 0 ? [returnStatement(dialect, caller, now, gone)] : []),
        ...states.filter(({ live }) => live).map((state) => revertStatement(dialect, caller, now, state)),
        ...edgesStatement(dialect, caller, edgesOf(gone)),
        ...besideStatements(dialect, caller.org, now, all),
        auditStatement(caller.org, now, event),
      ]
      try {
        await write(caller, statements, { quotas, takes: () => takenBy(states.map(({ state }) => state)) })
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        throw premiseProblem(error.premise) ?? new Problem('conflict', LOST)
      }
      await indexWriter.complete(
        caller.org,
        all
          .filter(({ indexed }) => indexed === null)
          .map(({ kept: { id }, textHash, generated }) => ({ id, textHash, vectors: generated?.vectors ?? null })),
      )
      return states.map(({ currentVersion }) => currentVersion + 1)
    },
  }
}
