import { sql } from 'drizzle-orm'
import type { Clock } from '../../../../ports/clock'
import type { IndexedVector } from '../../../../ports/vector-index'
import type { Unembedded, VectorRows } from '../../../../ports/vector-rows'
import { Batch, readOne, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { IndexedFields } from '../../core/dialect'
import { countOf, each, num, onlyRow, str, strOrNull } from '../../core/rows'
import { vectorCountsStatement } from '../../tables/counts/statistics-statements'
import { visibleTotals } from '../../tables/counts/visible-counts'
import { layerOf, sourceOf } from '../../tables/entries/entry-rows'
import { entriesById } from '../../tables/entries/read-statements'
import { scanForFew } from '../../tables/pages/access-paths'
import { textOf } from '../../tables/texts/long-texts'
import { insertVectors, queueIndexing } from '../../tables/vectors/index-writer'
import {
  admittedBehind,
  admittedVectors,
  inOrderOfId,
  lookUpVectors,
  numbersFor,
  toVectorRow,
  VECTOR_COLUMNS,
  vectorIdsAfter,
  vectorsBehind,
} from '../../tables/vectors/vector-lookup'

const toIndexed = (row: Row): IndexedVector => ({
  ...{ id: num(row, 'id'), entryId: num(row, 'entry_id'), data: str(row, 'data') },
  place: row.layer === null ? null : { layer: layerOf(row), project: str(row, 'project'), reader: str(row, 'reader') },
})

const toUnembedded = (row: Row): Unembedded => ({
  id: num(row, 'id'),
  org: str(row, 'org'),
  source: sourceOf(row, 'source'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  textHash: str(row, 'text_hash'),
})

/** Creates the store of vectors over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlVectorRows(
  connection: SqlConnection,
  clock: Clock,
  indexedFields: IndexedFields = new Map(),
): VectorRows {
  const { dialect } = connection

  return {
    lookUp: (scope, lookup) => lookUpVectors(connection, { dialect, scope, now: clock.now(), indexedFields }, lookup),

    async ofEntries(scope, model, filter, entryIds, chunks, query) {
      const wanted = dialect.jsonNumbers(sql`${JSON.stringify(entryIds)}`)
      const from = sql`${wanted} wanted
        ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}
        ${dialect.plan.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}`
      const select = {
        columns: sql`${VECTOR_COLUMNS}, ${numbersFor(dialect, query).columns}`,
        from,
        own: sql`v.model = ${model}`,
      }
      return readOne(
        connection,
        admittedVectors({ dialect, scope, now: clock.now() }, filter, select, sql`AND v.chunk < ${chunks}`),
        each(toVectorRow),
      )
    },

    fewAdmitted: (scope, filter, most) =>
      scanForFew(connection, { dialect, scope, now: clock.now(), indexedFields }, filter, most),

    async scan(scope, model, filter, afterId, most) {
      const batch = new Batch()
      const last = batch.add(
        sql`
          SELECT max(id) AS last, count(*) AS looked_at
          FROM (${vectorIdsAfter(dialect, scope.org, model, afterId, most)}) AS stretch`,
        onlyRow((row) => (num(row, 'looked_at') < most ? null : num(row, 'last'))),
      )
      const rows = batch.add(
        admittedBehind({ dialect, scope, now: clock.now() }, model, filter, { after: afterId, most }),
        each(toVectorRow),
      )
      const result = await batch.run(connection)
      return { rows: result.of(rows), last: result.of(last) }
    },

    async changesSince({ org, model }, state, limit) {
      const batch = new Batch()
      const addedRows = batch.add(
        sql`
          SELECT v.id, v.entry_id, v.layer, v.project, v.reader, v.data FROM entry_vectors v
          WHERE ${vectorsBehind(dialect, org, model, state.addedUpTo)} ORDER BY ${inOrderOfId(dialect)} LIMIT ${limit}`,
        each(toIndexed),
      )
      const removedRows = batch.add(
        sql`
          SELECT r.id, r.vector_id FROM vector_removals r
          WHERE ${dialect.plan.beyond([sql`r.org`, sql`${org}`], sql`r.id`, sql`${state.removedUpTo}`)}
          ORDER BY ${dialect.plan.inOrder(sql`r.org`, sql`r.id`)} LIMIT ${limit}`,
        each((row) => ({ id: num(row, 'id'), vectorId: num(row, 'vector_id') })),
      )
      const result = await batch.run(connection)
      const [added, removed] = [result.of(addedRows), result.of(removedRows)]
      if (added.length === 0 && removed.length === 0) return null
      return {
        since: state,
        added,
        addedUpTo: added.at(-1)?.id ?? state.addedUpTo,
        removed: removed.map(({ vectorId }) => vectorId),
        removedUpTo: removed.at(-1)?.id ?? state.removedUpTo,
      }
    },

    async rebuild(ids) {
      const given = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} given)`
      const theirs = sql`e.id IN (SELECT v.entry_id FROM entry_vectors v WHERE v.id IN ${given})`
      await new Batch(
        ...queueIndexing(['embed'], theirs, clock.now()),
        sql`DELETE FROM entry_vectors WHERE id IN ${given}`,
      ).run(connection)
    },

    async sizesOf(ids) {
      return runOne(
        connection,
        sql`SELECT e.id, e.bytes FROM ${entriesById(dialect, ids)} ORDER BY e.id`,
        each((row) => ({ id: num(row, 'id'), bytes: num(row, 'bytes') })),
      )
    },

    async textsOf(ids) {
      const wanted = dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)
      return runOne(
        connection,
        sql`SELECT e.id, e.org, e.source, e.title, ${textOf()} AS text, e.text_hash
          FROM ${wanted} wanted ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}`,
        each(toUnembedded),
      )
    },

    async unembedded(org, model, afterId, limit) {
      const ofOrg = org === null ? sql`` : sql`e.org = ${org} AND`
      return runOne(
        connection,
        sql`
          WITH stretch AS (
            SELECT e.id, e.captured FROM entries e WHERE ${ofOrg} e.id > ${afterId} ORDER BY e.id LIMIT ${limit}
          )
          SELECT s.id, 0 AS looked_at FROM stretch s
          WHERE s.captured = 0 AND NOT EXISTS (SELECT 1 FROM entry_vectors v WHERE v.entry_id = s.id AND v.model = ${model})
          UNION ALL
          SELECT max(s.id), count(*) FROM stretch s
          ORDER BY looked_at, id`,
        (rows) => {
          const missing = rows.map((row) => num(row, 'id'))
          const isEnd = num(rows.at(-1) ?? {}, 'looked_at') < limit
          const last = missing.pop() ?? null
          return { missing, last: isEnd ? null : last }
        },
      )
    },

    async coverage(org, model) {
      const batch = new Batch()
      const all = batch.add(sql`SELECT count(*) AS n FROM entries e WHERE e.org = ${org} AND e.captured = 0`, countOf())
      const embedded = batch.add(
        // An entry that was approved and then withdrawn has vectors and is not counted.
        sql`SELECT count(DISTINCT v.entry_id) AS n FROM entry_vectors v JOIN entries e ON e.id = v.entry_id
            WHERE v.org = ${org} AND v.model = ${model} AND e.captured = 0`,
        countOf(),
      )
      const result = await batch.run(connection)
      return { entries: result.of(all), embedded: result.of(embedded) }
    },

    async replace(entry, vectors) {
      const same = sql`e.id = ${entry.id} AND e.text_hash = ${entry.textHash} AND coalesce(e.title, '') = ${entry.title ?? ''}`
      await new Batch(
        sql`DELETE FROM entry_vectors WHERE entry_id = (SELECT e.id FROM entries e WHERE ${same})`,
        ...insertVectors(dialect, vectors, same),
        sql`DELETE FROM outbox WHERE org = ${entry.org} AND topic = 'embed'
            AND key = (SELECT CAST(e.id AS TEXT) FROM entries e WHERE ${same})`,
      ).run(connection, { org: entry.org })
    },

    async waiting(scope, model) {
      const context = { dialect, scope, now: clock.now() }
      const batch = new Batch()
      const all = batch.add(visibleTotals(context), countOf('entries'))
      const embedded = batch.add(vectorCountsStatement(context, model), countOf('entries'))
      const result = await batch.run(connection)
      return Math.max(0, result.of(all) - result.of(embedded))
    },

    largest(model) {
      const ofOrgs = sql`SELECT sum(vectors) AS vectors FROM vector_counters WHERE model = ${model} GROUP BY org`
      return readOne(
        connection,
        sql`SELECT coalesce(max(vectors), 0) AS vectors FROM (${ofOrgs}) AS of_orgs`,
        countOf('vectors'),
      )
    },

    async counts(scope, model) {
      return readOne(
        connection,
        vectorCountsStatement({ dialect, scope, now: clock.now() }, model),
        onlyRow((row) => ({ entries: num(row, 'entries'), vectors: num(row, 'vectors'), bytes: num(row, 'bytes') })),
      )
    },
  }
}
