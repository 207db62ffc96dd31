import { type SQL, sql } from 'drizzle-orm'
import type { Generated } from '../../../../domain/entry/entry'
import { linksOfMetadata } from '../../../../domain/entry/link'
import type { Metadata } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import { changedParts, type HistoryTerms, VERSION_ACTIONS, type Version } from '../../../../domain/history/version'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import type { Quotas } from '../../../../domain/quota'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { type IndexedText, indexText } from '../../../../domain/search/indexed-text'
import { sha256Hex, utf8Length } from '../../../../domain/text'
import type { Millis } from '../../../../domain/time'
import { addressesAgent } from '../../../../domain/trust/agent-directed'
import type { Clock } from '../../../../ports/clock'
import type { History, Restoration, RetainedVersion, ToRestore } from '../../../../ports/history'
import { Batch, readOne, runOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
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
import { changeable, wasChangeable } from '../../core/visibility'
import { indexedAfterCommit } from '../../core/write-budget'
import { auditStatement } from '../../tables/changes/audit-statements'
import { createUnfinishedDeletes } from '../../tables/changes/pending-deletion'
import { createWrite } from '../../tables/changes/publish-changes'
import { maxBytesOf } from '../../tables/changes/quota'
import { isVersion, readWithin, toEntry } from '../../tables/entries/entry-rows'
import { entriesById } from '../../tables/entries/read-statements'
import { mayReturn, preconditionProblem } from '../../tables/links/links'
import { storeLineIndexes } from '../../tables/texts/long-texts'
import { createIndexWriter, insertVectorsOf, queueIndexing, wordStatements } from '../../tables/vectors/index-writer'
import { type Assignments, metadataColumns, type WriteContext } from '../../tables/writes/entry-columns'
import {
  asOfStatement,
  RETAINED_COLUMNS,
  retainedInlineText,
  retainedText,
  stateStatement,
  textsStatement,
  versionStatements,
} from '../../tables/writes/history-statements'

/** Restores retained versions (history contract §3). */

/** Columns of a version that a restore sets; for an existing entry, its content, but not its later usage. */
const CONTENT =
  'thread_id named_kind tag_kind work_item title project domain agent audience diary status named_weight named_pinned ' +
  'named_expires_at confidence text_hash bytes text_words image_count tags images summary'
const LIFE = 'source layer given_weight given_pinned layer_expires_at owner created_by imported_from created_at'

const columns = (names: string, alias = ''): SQL =>
  sql.raw(
    names
      .split(' ')
      .map((name) => alias + name)
      .join(', '),
  )

/** Returns links of a version's metadata to entries that exist or may be restored; they are restored with it. */
function linksOf(dialect: SqlDialect, caller: Caller, states: readonly RetainedVersion[]): SQL {
  const returning = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(states.map(({ id }) => id))}`)})`
  const wanted = dialect.jsonTable(sql`v.links`, { relation: 'text', id: 'integer' })
  return sql`CASE WHEN v.links IS NULL THEN NULL ELSE (
    SELECT ${dialect.jsonArrays([sql`l.relation`, sql`l.id`])} FROM ${wanted} l
    WHERE l.id IN ${returning} OR ${dialect.plan.exists(sql`
      SELECT 1 FROM entries t
      WHERE t.id = l.id AND ${dialect.plan.filterOnly(sql`t.org = ${caller.org}`)}`)} OR ${mayReturn(dialect, sql`l.id`)}
  ) END`
}

/** Matches the last version `d` of the deleted entry of `v`. */
const lastOf = sql`d.entry_id = v.entry_id AND d.deleted = 1
  AND d.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`

/**
 * Returns whether a retained version `v` of the organization may be restored over the present entry `e`, or over none: the caller may write
 * the
 * version, and may change the present entry, or the last version of the deleted one.
 *
 * @param asRead further conditions on `e`, and on `d`, the last version of a deleted entry
 */
function mayRestore(
  dialect: SqlDialect,
  scope: Scope,
  now: Millis,
  asRead: { readonly standing: SQL; readonly gone: SQL } = { standing: sql``, gone: sql`` },
): SQL {
  return sql`${wasChangeable(dialect, scope, 'v')} AND (
    (e.id IS NOT NULL AND ${changeable(dialect, scope, now)}${asRead.standing})
    OR (e.id IS NULL AND EXISTS (
      SELECT 1 FROM entry_versions d WHERE ${lastOf} AND ${wasChangeable(dialect, scope, 'd')}${asRead.gone}
    ))
  )`
}

/**
 * Returns a precondition that every version may still be restored, and that its entry is unchanged since it was read.
 */
function restoreGuard(dialect: SqlDialect, caller: Caller, now: Millis, states: readonly RetainedVersion[]): SQL {
  const given = JSON.stringify(states.map(({ kept, currentVersion }) => [kept, currentVersion]))
  return sql`
    INSERT INTO guards (holds) SELECT (
      SELECT count(*) FROM ${dialect.jsonTable(sql`${given}`, { kept: 'integer', version: 'integer' })} given
      ${dialect.plan.follow('entry_versions', 'v', sql`v.id = given.kept`)}
      ${dialect.plan.followLeft('entries', 'e', sql`e.id = v.entry_id`)}
      WHERE ${dialect.plan.filterOnly(sql`v.org = ${caller.org}`)} AND ${mayRestore(dialect, caller, now, {
        standing: sql` AND e.version = given.version`,
        // It may have been restored and deleted again meanwhile.
        gone: sql` AND d.ended_version = given.version`,
      })}
    ) = ${states.length}`
}

const stamped = ({ keyId, agent }: Caller): SQL => sql`${keyId}, ${agent}, 1`

/** Returns whether the written entry is captured, by its own or its narrowed metadata. */
const isCapturedAgain = ({ state, narrowed }: ToRestore): boolean => narrowed?.lifted.captured ?? state.captured

/** Returns the columns that narrowed metadata replace. */
function narrowedColumns(context: WriteContext, state: ToRestore, changed: SQL | null) {
  const { narrowed = null } = state
  const { captured: _, ...given }: Assignments =
    narrowed === null
      ? {}
      : metadataColumns(context, { ...narrowed, links: linksOfMetadata(narrowed.metadata) }, changed)
  if (narrowed !== null) given.bytes = sql`${utf8Length(state.state.text) + utf8Length(jsonText(narrowed.metadata))}`
  const rest = (all: string) =>
    all
      .split(' ')
      .filter((name) => !(name in given))
      .join(' ')
  return { given, rest }
}

/** Returns the statements that restore deleted entries under their IDs; archived or captured ones are not listed. */
const returnStatements = (context: WriteContext, states: readonly ToRestore[]): SQL[] => {
  const together = states.filter(({ narrowed = null }) => narrowed === null)
  const alone = states.filter(({ narrowed = null }) => narrowed !== null).map((state) => [state])
  return (together.length > 0 ? [together, ...alone] : alone).map((group) => returnStatement(context, group))
}

/** Restores several versions, or one with narrowed metadata. */
function returnStatement(context: WriteContext, states: readonly ToRestore[]): SQL {
  const { dialect, scope: caller, now } = context
  const rows = states.map((state) => {
    const captured = isCapturedAgain(state)
    const addresses = addressesAgent(state.state)
    return [
      ...[state.kept, state.currentVersion + 1, Number(state.state.archived || captured), Number(captured)],
      Number(addresses),
    ]
  })
  const { given, rest } = narrowedColumns(context, states[0] as ToRestore, null)
  const kept = rest(`${CONTENT} ${LIFE}`)
  const { links = linksOf(dialect, caller, states), metadata = sql`v.metadata`, ...other } = given
  const others = Object.entries(other)
  const extra = others.map(([name]) => sql.raw(`, ${name}`))
  const values = others.map(([, value]) => sql`, ${value}`)
  return sql`
    INSERT INTO entries (
      id, org, version, updated_at, accessed_at, archived, captured, addresses_agent, changed_by, changed_agent, restored, links, text,
      metadata, ${columns(kept)}${sql.join(extra)}
    )
    SELECT v.entry_id, v.org, given.version, ${now}, ${now}, given.archived, given.captured, given.addresses, ${stamped(caller)},
      ${links}, ${retainedInlineText}, ${metadata}, ${columns(kept, 'v.')}${sql.join(values)}
    FROM ${dialect.jsonTable(sql`${JSON.stringify(rows)}`, {
      ...{ kept: 'integer', version: 'integer', archived: 'integer', captured: 'integer', addresses: 'integer' },
    })} given
      ${dialect.plan.follow('entry_versions', 'v', sql`v.id = given.kept`)}`
}

/** Returns the statement that restores the content of an existing entry. */
const revertStatement = (context: WriteContext, state: ToRestore): SQL => {
  const { dialect, scope: caller, now } = context
  const written = sql`(SELECT metadata FROM entry_versions WHERE id = ${state.kept})`
  const { given, rest } = narrowedColumns(context, state, sql`${state.id}`)
  const own = !state.narrowed ? [] : Object.entries(given).map(([name, value]) => sql`, ${sql.raw(name)} = ${value}`)
  const content = rest(CONTENT)
  const [names, values] = !state.narrowed
    ? [
        sql`${columns(content)}, metadata, links, text`,
        sql`${columns(content, 'v.')}, ${dialect.asWritten(sql`${state.id}`, () => written)},
            ${linksOf(dialect, caller, [state])}, ${retainedInlineText}`,
      ]
    : [sql`${columns(content)}, text`, sql`${columns(content, 'v.')}, ${retainedInlineText}`]
  const captured = Number(isCapturedAgain(state))
  return sql`
  UPDATE entries SET (${names}) = (SELECT ${values} FROM entry_versions v WHERE v.id = ${state.kept})${sql.join(own)},
    version = version + 1, updated_at = ${now}, accessed_at = ${now}, archived = ${captured}, captured = ${captured},
    addresses_agent = ${Number(addressesAgent(state.state))},
    changed_by = ${caller.keyId}, changed_agent = ${caller.agent}, restored = 1
  WHERE id = ${state.id} AND org = ${caller.org}`
}

/** Links stored before migration 0018 have no maker. */
type Edge = readonly [from: number, relation: string, to: number, origin: string, madeBy?: string | null]

/** Returns the links of deleted versions: all own links, and the makers of some that the metadata name. */
const linksOfVersions = (states: readonly RetainedVersion[]): Edge[] =>
  states.flatMap(({ edges }) => (edges === null ? [] : (JSON.parse(edges) as Edge[])))

const isNamed = ([, , , origin]: Edge): boolean => origin === 'metadata'

/**
 * Inserts links to entries that exist or may be restored, and sets the makers of those that the metadata name, which exist already.
 */
function linksStatements(dialect: SqlDialect, { org }: Caller, edges: readonly Edge[]): SQL[] {
  const rows = (some: readonly Edge[]): SQL =>
    dialect.jsonTable(
      sql`${JSON.stringify(some.map(([from, relation, to, origin, by = null]) => [from, relation, to, origin, by]))}`,
      {
        ...{ from_id: 'integer', relation: 'text', to_id: 'integer', origin: 'text', made_by: 'text' },
      },
    )
  const [named, others] = [edges.filter(isNamed), edges.filter((edge) => !isNamed(edge))]
  const linked = sql`
      INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
      SELECT ${org}, l.from_id, l.relation, l.to_id, l.origin, l.made_by
      FROM ${rows(others)} l ${dialect.plan.follow('entries', 'one', sql`one.id = l.from_id`)}
      WHERE one.org = ${org} AND (${mayReturn(dialect, sql`l.to_id`)} OR ${dialect.plan.exists(sql`
        SELECT 1 FROM entries other WHERE other.id = l.to_id AND ${dialect.plan.filterOnly(sql`other.org = ${org}`)}`)})
      ON CONFLICT DO NOTHING`
  const made = sql`
      INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
      SELECT stands.org, stands.from_id, stands.relation, stands.to_id, stands.origin, l.made_by
      FROM ${rows(named)} l ${dialect.plan.follow(
        'links',
        'stands',
        sql`stands.org = ${org} AND stands.from_id = l.from_id AND stands.relation = l.relation AND stands.to_id = l.to_id
          AND stands.origin = l.origin`,
      )}
      WHERE stands.made_by IS DISTINCT FROM l.made_by
      ON CONFLICT (org, from_id, relation, to_id, origin) DO UPDATE SET made_by = excluded.made_by`
  return [...(others.length > 0 ? [linked] : []), ...(named.length > 0 ? [made] : [])]
}

/** A restored entry, and the analysis of its text; null when it is indexed after the commit. */
export interface RestoredRow {
  readonly kept: RetainedVersion
  readonly textHash: string
  readonly generated: Generated | null
  readonly indexed: IndexedText | null
}

/**
 * Returns line indexes, and the words and vectors of deleted entries that fit into a transaction. The others are queued, to be written
 * right after the commit, or by the next search.
 */
function auxiliaryStatements(dialect: SqlDialect, org: string, now: Millis, all: readonly RestoredRow[]): SQL[] {
  const later = all.filter(({ indexed }) => indexed === null)
  const queued = (topic: 'index' | 'embed', of: readonly RestoredRow[]): SQL[] => {
    const ids = dialect.jsonNumbers(sql`${JSON.stringify(of.map(({ kept }) => kept.id))}`)
    return of.length === 0
      ? []
      : queueIndexing([topic], sql`e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${ids}`)}`, now)
  }
  const whole = all.flatMap(({ kept: { id, currentVersion, state }, indexed, generated }) =>
    indexed === null
      ? []
      : [{ id, version: currentVersion + 1, org, content: state, indexed, vectors: generated?.vectors ?? [] }],
  )
  return [
    ...storeLineIndexes(
      dialect,
      all.map(({ kept: { id, state }, textHash }) => ({ id, text: state.text, textHash })),
    ),
    ...wordStatements(dialect, whole),
    ...insertVectorsOf(dialect, whole),
    ...queued('index', later),
    ...queued(
      'embed',
      all.filter(
        ({ indexed, generated: made }) => made?.queued.includes('embed') || (indexed === null && made?.vectors),
      ),
    ),
  ]
}

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

/** Returns the earlier of two times; null without any. */
const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** Matches the last version `v` of its entry. */
const LAST = sql`v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`

const MADE_BY = sql`coalesce(e.changed_agent, e.changed_by, e.agent, e.created_by)`
const STANDING_COLUMNS = sql`e.id, e.version, e.updated_at, ${MADE_BY} AS made_by`

const toStanding = (row: Row) => ({
  version: num(row, 'version'),
  at: num(row, 'updated_at'),
  by: str(row, 'made_by'),
})

const toKept = (row: Row): RetainedVersion => ({
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

const LOST = 'An entry to restore is being changed by another call; nothing was restored, try again'

/** Creates the history over any SQL connection. */
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

  /** Joins the present entry of a retained version `v`. */
  const entryOf = dialect.plan.followLeft('entries', 'e', sql`e.id = v.entry_id`)

  /** Matches versions that a call has deleted and whose entries are deleted. */
  const goneBy = ({ org }: Scope, changeId: string): SQL =>
    sql`v.org = ${org} AND v.change_id = ${changeId} AND v.deleted = 1 AND e.id IS NULL`

  /** Returns conditions on the requested retained versions `v` and their present entries `e`. */
  function meant(scope: Scope, what: Restoration): SQL {
    if ('changeId' in what) return sql`${goneBy(scope, what.changeId)} AND ${LAST}`
    const wanted = sql`${among(sql`v.entry_id`, what.ids)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}`
    const { ids, version } = what
    if (version === undefined) return sql`${wanted} AND e.id IS NULL AND v.deleted = 1 AND ${LAST}`
    if (typeof version === 'number') return sql`${wanted} AND ${isVersion(sql`v.version`, version)}`
    const named = dialect.jsonTable(sql`${JSON.stringify(ids.map((id, i) => [id, version[i]]))}`, {
      ...{ id: 'integer', version: 'integer' },
    })
    return sql`${wanted} AND EXISTS (SELECT 1 FROM ${named} n WHERE n.id = v.entry_id AND n.version = v.version)`
  }

  /** Returns version, time and author of the present entry, or of the last deletion. */
  const current = (live: SQL, gone: SQL): SQL => sql`
    CASE WHEN e.id IS NOT NULL THEN ${live} ELSE (
      SELECT ${gone} FROM entry_versions d WHERE d.entry_id = v.entry_id ORDER BY d.version DESC LIMIT 1
    ) END`

  /**
   * Returns what is written for each version. The words of an existing entry follow after the commit: their scope (layer, owner) is that of
   * the entry, not of the version.
   */
  async function returning(
    states: readonly ToRestore[],
    generated: readonly (Generated | null)[],
  ): Promise<readonly RestoredRow[]> {
    const later = indexedAfterCommit(
      states.map(({ live, state }) => (live ? Number.POSITIVE_INFINITY : state.text.length)),
    )
    const all: RestoredRow[] = []
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
      // Without a version, the last one is requested.
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
          SELECT ${RETAINED_COLUMNS}, ${retainedText} AS text, v.id AS kept, v.expires_at,
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
      // Entries whose rows are not removed yet have no retained version either.
      const left = result.of(unfinished)
      for (const changeId of left) await unfinishedDeletes.finish(scope.org, changeId)
      if (left.length > 0) return this.restorable(scope, what, most)
      const { kept, read } = result.of(states)
      return {
        kept,
        more: result.of(total) - read,
        existing: result.of(standing),
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
        ...linksStatements(dialect, caller, linksOfVersions(gone)),
        ...auxiliaryStatements(dialect, caller.org, now, all),
        auditStatement(caller.org, now, event),
      ]
      try {
        await write(caller, new Batch(...statements), {
          quotas,
          restores: true,
          takes: () => maxBytesOf(states.map(({ state }) => state)),
        })
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error
        throw preconditionProblem(error.premise) ?? new Problem('conflict', LOST)
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
