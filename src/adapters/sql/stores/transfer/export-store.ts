import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { Exported, ExportSelection, ExportStore, Named, ToExport } from '../../../../ports/export-store'
import type { Ids } from '../../../../ports/ids'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { asRows, countOf, each, num, onlyRow, str } from '../../core/rows'
import { accessScope, inProject, lastAccessScope, projectsOf, visible, visibleState } from '../../core/visibility'
import { changedSince, newestChange, OLDEST_FIRST } from '../../tables/changes/change-rows'
import { textOf } from '../../tables/texts/long-texts'
import {
  ENTRY_RECORD_COLUMNS,
  idsJson,
  inOrder,
  isoOf,
  originOf,
  toEntryRecord,
  toVersionRecord,
  VERSION_RECORD_COLUMNS,
} from '../../tables/transfer/record-rows'
import { retainedText } from '../../tables/writes/history-statements'

/** Selects the rows of an organization for an export. */

/** The exporting scope, the selection and the time. */
export interface ExportContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
  readonly selection: ExportSelection
}

export const list = ({ dialect }: ExportContext, ids: readonly number[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonNumbers(idsJson(ids))} AS ids)`

export const ofProject = ({ dialect, scope, selection: { project } }: ExportContext, alias: string): SQL =>
  project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql.raw(`${alias}.project`))}`

const ofOwner = ({ selection: { owner } }: ExportContext, alias: string): SQL =>
  owner === undefined ? sql`` : sql` AND coalesce(${sql.raw(alias)}.owner, ${sql.raw(alias)}.created_by) = ${owner}`

/** The entry `e` was not stored, or restored, after the time of the export. */
const existedThen = ({ selection: { until } }: ExportContext): SQL => sql`NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.action = 'store' AND c.seq > ${until})`

/** Matches entries `e` of the export. */
const exportable = (context: ExportContext): SQL =>
  sql`${visible(context.dialect, context.scope, context.now)}${ofProject(context, 'e')}${ofOwner(context, 'e')} AND ${existedThen(context)}`

/** Matches retained versions `v` of the export. */
const exportableState = (context: ExportContext): SQL =>
  sql`${visibleState(context.dialect, context.scope, context.now)}${ofProject(context, 'v')}${ofOwner(context, 'v')}`

/** Matches the last version `v` of an entry that was deleted before the time of the export. */
export const isDeleted = sql`v.deleted = 1 AND NOT EXISTS (SELECT 1 FROM entries s WHERE s.id = v.entry_id)
  AND v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`

/** Statements that read an organization for an export. */

/** Approximate bytes of a vector in the export. */
const VECTOR_BYTES = 1_200

const sizeOf = ({ selection: { history, vectors } }: ExportContext, id: SQL): SQL[] => [
  ...(history ? [sql`(SELECT coalesce(sum(w.bytes), 0) FROM entry_versions w WHERE w.entry_id = ${id})`] : []),
  ...(vectors ? [sql`${VECTOR_BYTES} * (SELECT count(*) FROM entry_vectors w WHERE w.entry_id = ${id})`] : []),
]

const sum = (parts: readonly SQL[]): SQL => sql.join([...parts], sql` + `)

const entryToExport = (context: ExportContext): SQL =>
  sql`e.id, 'entry' AS what, ${sum([sql`e.bytes`, ...sizeOf(context, sql`e.id`)])} AS bytes`

const goneToExport = (context: ExportContext): SQL =>
  sql`v.entry_id AS id, 'deleted' AS what, ${sum([sql`0`, ...sizeOf(context, sql`v.entry_id`)])} AS bytes`

/** Returns the exported IDs after one, in order. */
export function listStatement(context: ExportContext, beyond: number, limit: number): SQL {
  const { dialect, scope, selection } = context
  const ofOrg = dialect.plan.rangeOf(sql`e.org`, sql`${scope.org}`)
  const part = (index: string, led: SQL) => sql`SELECT * FROM (
      SELECT ${entryToExport(context)} FROM ${dialect.plan.entriesBy(index, led)}
      WHERE ${led} AND ${ofOrg} AND e.id > ${beyond} AND ${exportable(context)}
      ORDER BY ${dialect.plan.inOrder(sql`e.org`, sql`e.id`)} LIMIT ${limit}
    ) ${sql.raw(index)}`
  const deleted = sql`SELECT * FROM (
      SELECT ${goneToExport(context)} FROM entry_versions v
      WHERE ${dialect.plan.rangeOf(sql`v.org`, sql`${scope.org}`)} AND v.entry_id > ${beyond} AND ${isDeleted} AND ${exportableState(context)}
      ORDER BY ${dialect.plan.inOrder(sql`v.org`, sql`v.entry_id`)} LIMIT ${limit}
    ) kept`
  const parts = [
    part('entries_org_id_idx', sql`e.listed = 1`),
    part('entries_unlisted_id_idx', sql`e.listed = 0`),
    ...(selection.history ? [deleted] : []),
  ]
  return sql`${sql.join(parts, sql` UNION ALL `)} ORDER BY id LIMIT ${limit}`
}

/** Returns rows of the log between two changes. */
const changedStatement = ({ dialect, scope }: ExportContext, after: number, until: number, limit: number): SQL =>
  sql`SELECT c.seq, c.entry_id FROM changes c
    WHERE ${changedSince(dialect, scope.org, sql`${after}`)} AND c.seq <= ${until} ${OLDEST_FIRST} LIMIT ${limit}`

/** Returns which changed IDs are exported, and which the scope could read and can no longer. */
function listChangedStatements(
  context: ExportContext,
  ids: readonly number[],
): { readonly entries: SQL; readonly gone: SQL; readonly deleted: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const { project } = selection
  const wasThere = project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`c.was_project`)}`
  const seen = sql`(${accessScope(dialect, scope, 'c', 'null', 'was_')} OR ${lastAccessScope(dialect, scope, 'c')})`
  return {
    entries: sql`SELECT ${entryToExport(context)} FROM entries e WHERE ${among(sql`e.id`)} AND ${exportable(context)} ORDER BY e.id`,
    gone: sql`SELECT DISTINCT c.entry_id AS id FROM changes c
      WHERE ${among(sql`c.entry_id`)} AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`c.org`)} = ${scope.org}`)}
        AND c.seq > ${selection.after ?? 0}
        AND c.was_thread IS NOT NULL AND ${seen}${wasThere}
        AND NOT EXISTS (SELECT 1 FROM entries e
          WHERE e.id = c.entry_id AND ${visible(dialect, scope, context.now)}${ofProject(context, 'e')})
      ORDER BY 1`,
    deleted: selection.history
      ? sql`SELECT ${goneToExport(context)} FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}
              AND ${isDeleted} AND ${exportableState(context)}`
      : null,
  }
}

/** Returns entries, their links, retained versions and vectors for these IDs. */
function readStatements(
  context: ExportContext,
  ids: readonly number[],
  versions: { readonly beyond: number; readonly maxBytes: number },
): { readonly entries: SQL; readonly links: SQL; readonly versions: SQL | null; readonly vectors: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const inOrg = (alias: string) => dialect.plan.filterOnly(sql`${sql.raw(alias)}.org = ${scope.org}`)
  return {
    entries: sql`SELECT ${ENTRY_RECORD_COLUMNS}, ${textOf()} AS text FROM entries e
      WHERE ${among(sql`e.id`)} AND ${exportable(context)} ORDER BY e.id`,
    links: sql`SELECT l.from_id, l.relation, l.to_id, l.origin FROM links l
      WHERE l.org = ${scope.org} AND ${among(sql`l.from_id`)}`,
    versions: selection.history
      ? sql`SELECT ${VERSION_RECORD_COLUMNS}, ${retainedText} AS text, sized.all_of_them
          FROM (
            SELECT v.id, sum(v.bytes) OVER (ORDER BY v.entry_id, v.version) - v.bytes AS before_it, count(*) OVER () AS all_of_them
            FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${inOrg('v')} AND v.version > ${versions.beyond} AND ${exportableState(context)}
          ) sized ${dialect.plan.follow('entry_versions', 'v', sql`v.id = sized.id`)}
          WHERE sized.before_it <= ${versions.maxBytes} ORDER BY v.entry_id, v.version`
      : null,
    vectors: selection.vectors
      ? sql`SELECT v.entry_id, v.model, v.chunk, v.start, v.length, v.data FROM entry_vectors v
          WHERE ${among(sql`v.entry_id`)} AND ${inOrg('v')} ORDER BY v.entry_id, v.model, v.chunk`
      : null,
  }
}

/** Returns the references to these entries. */
function namedStatements(
  context: ExportContext,
  ids: readonly number[],
): { readonly standing: SQL; readonly deleted: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const changed =
    selection.after === null
      ? sql`1 = 1`
      : sql`EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org
          AND c.seq > ${selection.after} AND c.seq <= ${selection.until})`
  const inside = sql`CASE WHEN ${changed} AND ${existedThen(context)}${ofProject(context, 'e')} THEN 1 ELSE 0 END`
  return {
    standing: sql`SELECT e.id, e.text_hash, e.created_at, ${inside} AS inside FROM entries e
      WHERE ${among(sql`e.id`)} AND ${visible(dialect, scope, context.now)}`,
    deleted: selection.history
      ? sql`SELECT DISTINCT v.entry_id AS id FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}
              AND ${isDeleted} AND ${exportableState(context)}`
      : null,
  }
}

/**
 * Returns the first entry of the export that uses each image, in its current or a retained version. An entry that has changed since the
 * export began does not count, because it may have got the image after its page was written.
 */
function firstUsesStatement(context: ExportContext, hashes: readonly string[]): SQL {
  const { dialect, scope, selection } = context
  const unchanged = sql`NOT EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.seq > ${selection.until})`
  const windowed =
    selection.after === null
      ? sql``
      : sql` AND EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.seq > ${selection.after})`
  const standing = sql`SELECT u.entry_id FROM image_uses u ${dialect.plan.follow('entries', 'e', sql`e.id = u.entry_id`)}
    WHERE u.org = ${scope.org} AND u.hash = h.value AND u.entry_id > 0 AND ${exportable(context)} AND ${unchanged}${windowed}
    ORDER BY u.entry_id LIMIT 1`
  return sql`SELECT h.value AS hash, (${standing}) AS id FROM ${dialect.jsonRows(sql`${JSON.stringify(hashes)}`)} AS h`
}

const toExport = (row: Row): ToExport => ({
  id: Number(row.id),
  what: row.what === 'deleted' ? 'deleted' : 'entry',
  bytes: Number(row.bytes),
})

const groupedBy = (rows: readonly Row[], column: string): Map<number, Row[]> =>
  Map.groupBy(rows, (row) => Number(row[column]))

/** Creates the export store over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlExportStore(connection: SqlConnection, clock: Clock, ids: Ids): ExportStore {
  const { dialect } = connection
  const context = (scope: Scope, selection: ExportSelection) => ({ dialect, scope, now: clock.now(), selection })

  return {
    async begin({ org }) {
      const batch = new Batch(
        sql`INSERT INTO transfer_stores (org, store) VALUES (${org}, ${ids.next()}) ON CONFLICT (org) DO NOTHING`,
      )
      const named = batch.add(
        sql`SELECT store FROM transfer_stores WHERE org = ${org}`,
        onlyRow((row) => str(row, 'store')),
      )
      const newest = batch.add(sql`SELECT coalesce((${newestChange(org)}), 0) AS n`, countOf())
      const floor = batch.add(
        sql`SELECT coalesce((SELECT f.purged_seq FROM feed_retention f WHERE f.org = ${org}), 0) AS n`,
        countOf(),
      )
      const results = await batch.run(connection, { org })
      const forgotten = results.of(floor)
      return { store: results.of(named), newest: Math.max(results.of(newest), forgotten), forgotten }
    },

    async projects(scope, project) {
      const within = projectsOf(scope)
      const named = [
        ...(within === null ? [] : [sql` AND p.id ${dialect.inList(sql`${JSON.stringify(within)}`)}`]),
        ...(project === null ? [] : [sql` AND ${inProject(dialect, scope, project, sql`p.id`)}`]),
      ]
      const rows = await runOne(
        connection,
        sql`SELECT p.id, p.name, p.created_at FROM projects p WHERE p.org = ${scope.org}${sql.join(named, sql``)} ORDER BY p.id`,
        asRows,
      )
      return rows.map(({ id, name, created_at }) => ({
        record: 'project' as const,
        ...{ id: String(id), name: String(name), created_at: isoOf(created_at) },
      }))
    },

    list: (scope, selection, beyond, limit) =>
      runOne(connection, listStatement(context(scope, selection), beyond, limit), each(toExport)),

    async changed(scope, after, until, limit) {
      const selection = { until, after, project: null, history: false, vectors: false }
      const statement = changedStatement(context(scope, selection), after, until, limit)
      const rows = await runOne(
        connection,
        statement,
        each((row) => ({ seq: num(row, 'seq'), id: num(row, 'entry_id') })),
      )
      const last = rows.length < limit ? null : (rows.at(-1)?.seq ?? null)
      return { ids: [...new Set(rows.map(({ id }) => id))], last }
    },

    async listChanged(scope, selection, wanted) {
      if (wanted.length === 0) return []
      const statements = listChangedStatements(context(scope, selection), wanted)
      const batch = new Batch()
      const entries = batch.add(statements.entries, each(toExport))
      const gone = batch.add(
        statements.gone,
        each((row) => num(row, 'id')),
      )
      const deleted = statements.deleted && batch.add(statements.deleted, each(toExport))
      const results = await batch.run(connection)
      const bytes = new Map((deleted ? results.of(deleted) : []).map((one) => [one.id, one.bytes]))
      return [
        ...results.of(entries),
        ...results.of(gone).map((id) => ({ id, what: 'gone' as const, bytes: bytes.get(id) ?? 0 })),
      ].sort((x, y) => x.id - y.id)
    },

    async read(scope, selection, wanted, versions) {
      const statements = readStatements(context(scope, selection), wanted, versions)
      const batch = new Batch()
      const handles = {
        entries: batch.add(statements.entries, asRows),
        links: batch.add(statements.links, asRows),
        versions: statements.versions && batch.add(statements.versions, asRows),
        vectors: statements.vectors && batch.add(statements.vectors, asRows),
      }
      const results = await batch.run(connection)
      const [entries, links] = [results.of(handles.entries), results.of(handles.links)]
      const kept = handles.versions ? results.of(handles.versions) : []
      const vectors = handles.vectors ? results.of(handles.vectors) : []
      const standing = new Map(entries.map((row) => [Number(row.id), row]))
      const linked = groupedBy(links, 'from_id')
      const states = groupedBy(kept, 'entry_id')
      const made = groupedBy(vectors, 'entry_id')
      const exported = wanted.map((id): Exported => {
        const row = standing.get(id)
        const own = (linked.get(id) ?? []).map(({ relation, to_id, origin }) => ({
          ...{ relation: String(relation), to: Number(to_id), origin: originOf(origin) },
        }))
        return {
          id,
          entry: row === undefined ? null : toEntryRecord(row, inOrder(own)),
          versions: (states.get(id) ?? []).map(toVersionRecord),
          vectors:
            row === undefined
              ? []
              : (made.get(id) ?? []).map(({ model, chunk, start, length, data }) => ({
                  record: 'vector' as const,
                  ...{ entry: id, model: String(model), chunk: Number(chunk) },
                  ...{ start: Number(start), length: Number(length), data: String(data) },
                })),
        }
      })
      return { exported, moreVersions: Number(kept[0]?.all_of_them ?? 0) > kept.length }
    },

    async named(scope, selection, wanted) {
      const nothing: Named = { inside: new Map(), linkable: new Set() }
      if (wanted.length === 0) return nothing
      const statements = namedStatements(context(scope, selection), wanted)
      const batch = new Batch()
      const standing = batch.add(statements.standing, asRows)
      const deleted = statements.deleted && batch.add(statements.deleted, asRows)
      const results = await batch.run(connection)
      const [rows, kept] = [results.of(standing), deleted ? results.of(deleted) : []]
      const inside = rows.filter((row) => Number(row.inside) === 1)
      return {
        inside: new Map(
          inside.map((row) => [Number(row.id), `${String(row.text_hash)}@${isoOf(row.created_at) ?? ''}`]),
        ),
        linkable: new Set([...rows, ...kept].map(({ id }) => Number(id))),
      }
    },

    async firstUses(scope, selection, hashes) {
      if (hashes.length === 0) return new Map()
      const rows = await runOne(connection, firstUsesStatement(context(scope, selection), hashes), asRows)
      return new Map(rows.flatMap(({ hash, id }) => (id === null ? [] : [[String(hash), Number(id)] as const])))
    },
  }
}
