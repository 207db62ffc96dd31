import { type SQL, sql } from 'drizzle-orm'
import type { Generated } from '../../../../domain/entry/entry'
import type { Metadata } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/terms'
import { changedParts, VERSION_ACTIONS, type Version } from '../../../../domain/history/version'
import type { Scope } from '../../../../domain/identity/scope'
import type { Quotas } from '../../../../domain/quota'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { indexText } from '../../../../domain/search/indexed-text'
import { sha256Hex } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { History, Kept, Restoration, ToRestore } from '../../../../ports/history'
import { Batch, readOne, runOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import {
  asRows,
  countOf,
  each,
  firstRow,
  flag,
  jsonOrNull,
  num,
  numOrNull,
  oneOf,
  str,
  strOrNull,
  textsOf,
} from '../../core/rows'
import { changeable } from '../../core/visibility'
import { beyondShare } from '../../core/write-share'
import { auditStatement } from '../../tables/changes/audit-log'
import { takenBy } from '../../tables/changes/quota'
import { createUnfinishedDeletes } from '../../tables/changes/unfinished-deletes'
import { createWrite } from '../../tables/changes/writing'
import { entriesById } from '../../tables/entries/read-statements'
import { isVersion, readWithin, toEntry } from '../../tables/entries/rows'
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
  edgesStatements,
  mayRestore,
  type Returning,
  restoreGuard,
  returnStatements,
  revertStatement,
} from '../../tables/writes/restore-statements'

const actionOf = oneOf(VERSION_ACTIONS)

const toVersion = (row: Row): Version => ({
  version: num(row, 'version'),
  at: num(row, 'at'),
  action: actionOf(row, 'action'),
  agent: strOrNull(row, 'agent'),
  keyId: strOrNull(row, 'key_id') ?? '',
  changed: row.changed === null ? (row.action === 'updated' ? null : []) : changedParts(num(row, 'changed')),
  preview: str(row, 'preview'),
})

const toTotals = (row: Row) => ({
  currentVersion: num(row, 'newest'),
  deleted: num(row, 'live') === 0,
  total: numOrNull(row, 'total') ?? 0,
})

/** The earlier of two instants; null where there is neither. */
const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** The last state `v` of its entry. */
const LAST = sql`v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`

const MADE_BY = sql`coalesce(e.changed_agent, e.changed_by, e.agent, e.created_by)`
const STANDING_COLUMNS = sql`e.id, e.version, e.updated_at, ${MADE_BY} AS made_by`

const toStanding = (row: Row) => ({
  version: num(row, 'version'),
  at: num(row, 'updated_at'),
  by: str(row, 'made_by'),
})

const toKept = (row: Row): Kept => ({
  id: num(row, 'id'),
  kept: num(row, 'kept'),
  currentVersion: num(row, 'current_version'),
  currentAt: num(row, 'current_at'),
  currentBy: strOrNull(row, 'current_by') ?? '',
  live: flag(row, 'live'),
  edges: strOrNull(row, 'edges'),
  expiresAt: earliest(numOrNull(row, 'expires_at'), numOrNull(row, 'gone_expires_at')),
  state: toEntry(row),
  present:
    row.present_metadata === undefined
      ? null
      : { metadata: jsonOrNull<Metadata>(row, 'present_metadata'), project: strOrNull(row, 'present_project') },
})

const LOST = 'What is to be restored changes at this moment; nothing was restored, try again'

/** History over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlHistory(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  quotas: Quotas,
  terms: HistoryTerms,
): History {
  const { dialect } = connection
  const write = createWrite(connection, clock, terms)
  const indexWriter = createIndexWriter(connection, analyzer)
  const unfinishedDeletes = createUnfinishedDeletes(connection)
  const context = (scope: Scope) => ({ dialect, scope, now: clock.now() })

  const among = (id: SQL, ids: readonly number[]): SQL =>
    sql`${id} ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)}`)}`

  /** Beside a kept state `v`, the entry that stands there. */
  const entryOf = dialect.plan.followLeft('entries', 'e', sql`e.id = v.entry_id`)

  /** States that were deleted by a call and whose entries are gone. */
  const goneBy = ({ org }: Scope, changeId: string): SQL =>
    sql`v.org = ${org} AND v.change_id = ${changeId} AND v.deleted = 1 AND e.id IS NULL`

  /** The kept states that are meant, as conditions on `v`, beside `e`, the entry that stands there. */
  function meant(scope: Scope, what: Restoration): SQL {
    if ('changeId' in what) return sql`${goneBy(scope, what.changeId)} AND ${LAST}`
    const wanted = sql`${among(sql`v.entry_id`, what.ids)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}`
    return what.version === undefined
      ? sql`${wanted} AND e.id IS NULL AND v.deleted = 1 AND ${LAST}`
      : sql`${wanted} AND ${isVersion(sql`v.version`, what.version)}`
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
    states: readonly ToRestore[],
    generated: readonly (Generated | null)[],
  ): Promise<readonly Returning[]> {
    const later = beyondShare(states.map(({ live, state }) => (live ? Number.POSITIVE_INFINITY : state.text.length)))
    const all: Returning[] = []
    for (const [i, kept] of states.entries())
      all.push({
        kept,
        textHash: await sha256Hex(kept.state.text),
        generated: generated[i] ?? null,
        indexed: later[i] ? null : await scheduler.run(indexText(analyzer, kept.state)),
      })
    return all
  }

  return {
    async versions(scope, id, window) {
      const { totals, page } = versionStatements(context(scope), id, window)
      const batch = new Batch()
      const sums = batch.add(totals, firstRow(toTotals))
      const versions = batch.add(page, each(toVersion))
      const result = await batch.read(connection)
      const state = result.of(sums)
      return state === null || state.total === 0 ? null : { ...state, versions: result.of(versions) }
    },

    async state(scope, id, version) {
      const one = firstRow((row) => (row.text === null ? null : toEntry(row)))
      return readOne(connection, stateStatement(context(scope), id, version), one)
    },

    async texts(scope, id, versions, maxBytes) {
      if (versions.length === 0) return new Map()
      const known = (rows: readonly Row[]) => rows.filter(({ text }) => text !== null)
      return readOne(
        connection,
        textsStatement(context(scope), id, versions, maxBytes),
        (rows) => new Map(known(rows).map((row) => [num(row, 'version'), str(row, 'text')])),
      )
    },

    async asOf(scope, ids, at, maxBytes) {
      const rows = await runOne(connection, asOfStatement(context(scope), ids, at, maxBytes), asRows)
      const known = rows.filter(({ id, text }) => id === null || text !== null)
      return readWithin(known)
    },

    async restorable(scope, what, most) {
      const { limit, maxBytes } = most
      const now = clock.now()
      const from = sql`
        FROM entry_versions v ${entryOf}
        WHERE ${meant(scope, what)} AND ${mayRestore(dialect, scope, now)}`
      const ids = 'ids' in what ? what.ids : []
      const pending = 'changeId' in what ? sql`change_id = ${what.changeId}` : among(sql`entry_id`, ids)
      // Without a version the state is the entry's last one.
      const present =
        'ids' in what && what.version !== undefined
          ? sql`, ${current(sql`e.metadata`, sql`d.metadata`)} AS present_metadata,
            ${current(sql`e.project`, sql`d.project`)} AS present_project`
          : sql``
      const batch = new Batch()
      const states = batch.add(
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
            ${current(MADE_BY, sql`coalesce(d.ended_agent, d.ended_by)`)} AS current_by${present}
          FROM sized ${dialect.plan.follow('entry_versions', 'v', sql`v.id = sized.id`)} ${entryOf}
          WHERE sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.bytes
          ORDER BY v.entry_id`,
        (rows) => ({ kept: rows.filter(({ text }) => text !== null).map(toKept), read: rows.length }),
      )
      const total = batch.add(sql`SELECT count(*) AS n ${from}`, countOf())
      const standing = batch.add(
        'changeId' in what
          ? sql`
            SELECT ${STANDING_COLUMNS}
            FROM entry_versions v ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}
            WHERE v.org = ${scope.org} AND v.change_id = ${what.changeId} AND v.deleted = 1 AND ${changeable(dialect, scope, now)}
            ORDER BY e.id LIMIT ${limit}`
          : sql`SELECT ${STANDING_COLUMNS} FROM ${entriesById(dialect, ids)} WHERE ${TRUE} AND ${changeable(dialect, scope, now)}`,
        (rows) => new Map(rows.map((row) => [num(row, 'id'), toStanding(row)])),
      )
      const again =
        'changeId' in what &&
        batch.add(
          sql`
            SELECT v.entry_id AS id FROM entry_versions v ${entryOf}
            WHERE ${goneBy(scope, what.changeId)} AND NOT (${LAST}) AND ${mayRestore(dialect, scope, now)}
            ORDER BY v.entry_id LIMIT ${limit}`,
          each((row) => num(row, 'id')),
        )
      const unfinished = batch.add(
        sql`SELECT DISTINCT change_id FROM pending_deletes WHERE org = ${scope.org} AND ${pending}`,
        textsOf('change_id'),
      )
      const result = await batch.run(connection)
      // What is deleted and not yet removed is not yet kept either.
      const left = result.of(unfinished)
      for (const changeId of left) await unfinishedDeletes.finish(scope.org, changeId)
      if (left.length > 0) return this.restorable(scope, what, most)
      const { kept, read } = result.of(states)
      return {
        kept,
        more: result.of(total) - read,
        standing: result.of(standing),
        again: again ? result.of(again) : [],
      }
    },

    async restore(caller, states, generated) {
      const now = clock.now()
      const gone = states.filter(({ live }) => !live)
      const all = await returning(states, generated)
      const context = { dialect, scope: caller, now, sent: new Set<string>() }
      const event = { ...caller, allowed: true, ids: states.map(({ id }) => id), detail: { restored: states.length } }
      const statements = [
        restoreGuard(dialect, caller, now, states),
        ...returnStatements(context, gone),
        ...states.filter(({ live }) => live).map((state) => revertStatement(context, state)),
        ...edgesStatements(dialect, caller, edgesOf(gone)),
        ...besideStatements(dialect, caller.org, now, all),
        auditStatement(caller.org, now, event),
      ]
      try {
        await write(caller, new Batch(...statements), {
          quotas,
          takes: () => takenBy(states.map(({ state }) => state)),
        })
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
