import { sql } from 'drizzle-orm'
import type { Layer, Source } from '../../../../domain/entry/entry'
import type { Clock } from '../../../../ports/clock'
import type { IndexedVector } from '../../../../ports/vector-index'
import type { Unembedded, VectorRows } from '../../../../ports/vector-rows'
import type { Row, SqlConnection } from '../../core/connection'
import { vectorCountsStatement } from '../../tables/counts/statistics-statements'
import { entriesById } from '../../tables/entries/read-statements'
import { textOf } from '../../tables/texts/long-texts'
import { insertVectors } from '../../tables/vectors/insert-vectors'
import {
  admittedBehind,
  admittedVectors,
  inOrderOfId,
  lookUpVectors,
  numbersFor,
  stretchBehind,
  toVectorRow,
  VECTOR_COLUMNS,
  vectorsBehind,
} from '../../tables/vectors/vector-lookup'

const toIndexed = ({ id, entry_id: entryId, layer, project, reader, data }: Row): IndexedVector => ({
  ...{ id: Number(id), entryId: Number(entryId), data: data as string },
  place:
    layer === null ? null : { layer: Number(layer) as Layer, project: project as string, reader: reader as string },
})

const toUnembedded = (row: Row): Unembedded => ({
  id: Number(row.id),
  org: row.org as string,
  source: row.source as Source,
  text: row.text as string,
  textHash: row.text_hash as string,
})

/** Vector rows over any SQL connection. */
export function createSqlVectorRows(
  connection: SqlConnection,
  clock: Clock,
  indexedFields: ReadonlySet<string> = new Set(),
): VectorRows {
  const { dialect } = connection

  return {
    lookUp: (scope, lookup) => lookUpVectors(connection, { dialect, scope, now: clock.now(), indexedFields }, lookup),

    async ofEntries(scope, model, filter, entryIds, chunks, query) {
      const wanted = dialect.jsonNumbers(sql`${JSON.stringify(entryIds)}`)
      const from = sql`${wanted} wanted
        ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}
        ${dialect.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}`
      const select = {
        columns: sql`${VECTOR_COLUMNS}, ${numbersFor(dialect, query).columns}`,
        from,
        own: sql`v.model = ${model}`,
      }
      const [rows] = await connection.read([
        admittedVectors({ dialect, scope, now: clock.now() }, filter, select, sql`AND v.chunk < ${chunks}`),
      ])
      return (rows ?? []).map(toVectorRow)
    },

    async scan(scope, model, filter, afterId, most) {
      const [ends = [], rows = []] = await connection.batch([
        sql`
          SELECT max(id) AS last, count(*) AS looked_at
          FROM (${stretchBehind(dialect, scope.org, model, afterId, most)}) AS stretch`,
        admittedBehind({ dialect, scope, now: clock.now() }, model, filter, { after: afterId, most }),
      ])
      return {
        rows: rows.map(toVectorRow),
        last: Number(ends[0]?.looked_at) < most ? null : Number(ends[0]?.last),
      }
    },

    async changesSince({ org, model }, state, limit) {
      const [addedRows, removedRows] = await connection.batch([
        sql`
          SELECT v.id, v.entry_id, v.layer, v.project, v.reader, v.data FROM entry_vectors v
          WHERE ${vectorsBehind(dialect, org, model, state.addedUpTo)} ORDER BY ${inOrderOfId(dialect)} LIMIT ${limit}`,
        sql`
          SELECT r.id, r.vector_id FROM vector_removals r
          WHERE ${dialect.beyond([sql`r.org`, sql`${org}`], sql`r.id`, sql`${state.removedUpTo}`)}
          ORDER BY ${dialect.inOrder(sql`r.org`, sql`r.id`)} LIMIT ${limit}`,
      ])
      const added = (addedRows ?? []).map(toIndexed)
      const removed = removedRows ?? []
      if (added.length === 0 && removed.length === 0) return null
      return {
        added,
        addedUpTo: added.at(-1)?.id ?? state.addedUpTo,
        removed: removed.map((row) => Number(row.vector_id)),
        removedUpTo: Number(removed.at(-1)?.id ?? state.removedUpTo),
      }
    },

    async sizesOf(ids) {
      const [rows] = await connection.batch([sql`SELECT e.id, e.bytes FROM ${entriesById(dialect, ids)} ORDER BY e.id`])
      return (rows ?? []).map((row) => ({ id: Number(row.id), bytes: Number(row.bytes) }))
    },

    async textsOf(ids) {
      const wanted = dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)
      const [rows] = await connection.batch([
        sql`SELECT e.id, e.org, e.source, ${textOf()} AS text, e.text_hash
          FROM ${wanted} wanted ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}`,
      ])
      return (rows ?? []).map(toUnembedded)
    },

    async unembedded(org, model, afterId, limit) {
      const ofOrg = org === null ? sql`` : sql`e.org = ${org} AND`
      const [rows] = await connection.batch([
        sql`
          WITH stretch AS (
            SELECT e.id, e.captured FROM entries e WHERE ${ofOrg} e.id > ${afterId} ORDER BY e.id LIMIT ${limit}
          )
          SELECT s.id, 0 AS looked_at FROM stretch s
          WHERE s.captured = 0 AND NOT EXISTS (SELECT 1 FROM entry_vectors v WHERE v.entry_id = s.id AND v.model = ${model})
          UNION ALL
          SELECT max(s.id), count(*) FROM stretch s
          ORDER BY looked_at, id`,
      ])
      const end = rows?.at(-1)
      return {
        missing: (rows ?? []).slice(0, -1).map(({ id }) => Number(id)),
        last: Number(end?.looked_at) < limit ? null : Number(end?.id),
      }
    },

    async coverage(org, model) {
      const [all, embedded] = await connection.batch([
        sql`SELECT count(*) AS entries FROM entries e WHERE e.org = ${org} AND e.captured = 0`,
        sql`SELECT count(DISTINCT v.entry_id) AS embedded FROM entry_vectors v WHERE v.org = ${org} AND v.model = ${model}`,
      ])
      return { entries: Number(all?.[0]?.entries ?? 0), embedded: Number(embedded?.[0]?.embedded ?? 0) }
    },

    async replace(entry, vectors) {
      const same = sql`e.id = ${entry.id} AND e.text_hash = ${entry.textHash}`
      await connection.batch(
        [
          sql`DELETE FROM entry_vectors WHERE entry_id = (SELECT e.id FROM entries e WHERE ${same})`,
          ...insertVectors(dialect, vectors, same),
          sql`DELETE FROM outbox WHERE org = ${entry.org} AND topic = 'embed'
            AND key = (SELECT CAST(e.id AS TEXT) FROM entries e WHERE ${same})`,
        ],
        { org: entry.org },
      )
    },

    async counts(scope, model) {
      const [rows] = await connection.read([vectorCountsStatement({ dialect, scope, now: clock.now() }, model)])
      const row = rows?.[0] ?? {}
      return { entries: Number(row.entries ?? 0), vectors: Number(row.vectors ?? 0), bytes: Number(row.bytes ?? 0) }
    },
  }
}
