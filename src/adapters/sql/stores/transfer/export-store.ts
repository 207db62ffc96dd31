import { sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Clock } from '../../../../ports/clock'
import type { Exported, ExportSelection, ExportStore, Named, ToExport } from '../../../../ports/export-store'
import type { Ids } from '../../../../ports/ids'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, countOf, each, num, onlyRow, str } from '../../core/rows'
import { inProject, projectsOf } from '../../core/visibility'
import { newestChange } from '../../tables/changes/change-rows'
import {
  changedStatement,
  firstUsesStatement,
  listChangedStatements,
  listStatement,
  namedStatements,
  readStatements,
} from '../../tables/transfer/export-statements'
import { inOrder, isoOf, originOf, toEntryRecord, toVersionRecord } from '../../tables/transfer/record-rows'

const toExport = (row: Row): ToExport => ({
  id: Number(row.id),
  what: row.what === 'deleted' ? 'deleted' : 'entry',
  bytes: Number(row.bytes),
})

const groupedBy = (rows: readonly Row[], column: string): Map<number, Row[]> =>
  Map.groupBy(rows, (row) => Number(row[column]))

/** The export store over any SQL connection. */
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
        ...(within === null ? [] : [sql` AND p.id ${dialect.among(sql`${JSON.stringify(within)}`)}`]),
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
