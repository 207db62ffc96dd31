import { type SQL, sql } from 'drizzle-orm'
import type { Metadata } from '../../../../domain/entry/metadata'
import { titleOf } from '../../../../domain/entry/title'
import { readableVector } from '../../../../domain/meaning/vector'
import type { Neighbour, PackEntry, PackLink, PackVector } from '../../../../domain/pack/candidate'
import { compareText } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { PackReads, PackSight } from '../../../../ports/packs'
import { Batch, type Decode, type Handle, type Results, readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { unpackedColumns } from '../../core/packed'
import { each, flag, json, jsonOrNull, num, numbersOf, numOrNull, oneOf, str, strOrNull } from '../../core/rows'
import { NEWEST_FACETS, newestStatement } from '../../tables/capture/standing'
import { auditRepeatedStatements } from '../../tables/changes/audit-log'
import { entriesCounted } from '../../tables/counts/circle-totals'
import { kindOf } from '../../tables/entries/rows'
import { oppositionStatement, relatedStatement, stretchesStatement } from '../../tables/packs/pack-finishing'
import { gatherStatement, HEAD } from '../../tables/packs/pack-gathering'
import { diaryStatement, inFlightStatement, inPack, type PackContext } from '../../tables/packs/pack-statements'

/** @param text of entries that were read before, by their ids */
function toPackEntry(row: Row, text: ReadonlyMap<number, string | null>): PackEntry {
  return {
    id: num(row, 'id'),
    kind: kindOf(row, 'kind'),
    title: strOrNull(row, 'title'),
    project: strOrNull(row, 'project'),
    domain: strOrNull(row, 'domain'),
    agent: strOrNull(row, 'agent'),
    status: strOrNull(row, 'status'),
    reader: str(row, 'reader'),
    createdBy: str(row, 'created_by'),
    imported: strOrNull(row, 'imported_from') !== null,
    approved: numOrNull(row, 'approved_version') === num(row, 'version'),
    diary: flag(row, 'diary'),
    pinned: flag(row, 'pinned'),
    weight: num(row, 'weight'),
    confidence: numOrNull(row, 'confidence'),
    expiresAt: numOrNull(row, 'expires_at'),
    version: num(row, 'version'),
    textHash: str(row, 'text_hash'),
    createdAt: num(row, 'created_at'),
    updatedAt: num(row, 'updated_at'),
    // Of hundreds of entries some dozens are shown.
    get tags() {
      return json<string[]>(row, 'tags')
    },
    get metadata() {
      return jsonOrNull<Metadata>(row, 'metadata')
    },
    beginning: text.get(num(row, 'id')) ?? str(row, 'beginning'),
    chars: num(row, 'chars'),
    superseded: flag(row, 'superseded'),
  }
}

/** Empty for a stored vector that cannot be read. */
function packVector(place: Omit<PackVector, 'vector'>, data: string): PackVector[] {
  const vector = readableVector(data)
  return vector === null ? [] : [{ ...place, vector }]
}

/** What `gatherStatement` groups beside the entry with this id. */
const vectorsOf = (row: Row): PackVector[] =>
  json<[number, number, string][]>(row, 'vectors').flatMap(([start, length, data]) =>
    packVector({ entryId: num(row, 'id'), start, length }, data),
  )

const linksFrom = (row: Row): PackLink[] =>
  row.links === '[]'
    ? []
    : json<[string, number][]>(row, 'links').map(([relation, to]) => ({ from: num(row, 'id'), relation, to }))

/** Of equals among links the first counts, so they stand in one order on every database. */
const byEnds = (a: PackLink, b: PackLink): number =>
  a.from - b.from || compareText(a.relation, b.relation) || a.to - b.to

const toVectors = (row: Row): PackVector[] =>
  packVector({ entryId: num(row, 'entry_id'), start: num(row, 'start'), length: num(row, 'length') }, str(row, 'data'))

const toStretch = (row: Row): [number, { start: number; text: string }] => [
  num(row, 'id'),
  { start: num(row, 'start'), text: str(row, 'text') },
]

const toLink = (row: Row): PackLink => ({
  from: num(row, 'from_id'),
  relation: str(row, 'relation'),
  to: num(row, 'to_id'),
})

const directionOf = oneOf(['outgoing', 'incoming'] as const)

const toNeighbour = (row: Row): Neighbour => ({
  of: num(row, 'of_id'),
  id: num(row, 'id'),
  kind: kindOf(row, 'kind'),
  name: titleOf({ title: strOrNull(row, 'title'), text: str(row, 'text') }),
  relation: str(row, 'relation'),
  direction: directionOf(row, 'direction'),
})

const ids = numbersOf('id')

/** A statement that is asked only where it is wanted. */
const where = <T>(batch: Batch, statement: SQL | null, decode: Decode<T[]>): Handle<T[]> | null =>
  statement === null ? null : batch.add(statement, decode)

const listOf = <T>(result: Results, handle: Handle<T[]> | null): T[] => (handle === null ? [] : result.of(handle))

/** What packs read, over any SQL connection. */
export function createSqlPacks(connection: SqlConnection, clock: Clock): PackReads {
  const { dialect } = connection
  const contextOf = (sight: PackSight): PackContext => ({ dialect, sight, now: clock.now() })
  return {
    async standing(sight, request) {
      const context = contextOf(sight)
      const batch = new Batch()
      const inFlight = where(batch, inFlightStatement(context, request), ids)
      const diary = where(batch, diaryStatement(context, request.diary), ids)
      const { scope, isApproved = false } = sight
      const newest = (request.newest === 0 ? [] : NEWEST_FACETS).map((facet) =>
        batch.add(
          newestStatement({ dialect, scope, now: context.now, isApproved }, facet, request.project, request.newest),
          ids,
        ),
      )
      const result = await batch.read(connection)
      return {
        inFlight: listOf(result, inFlight),
        diary: listOf(result, diary),
        newest: newest.flatMap((handle) => result.of(handle)),
      }
    },

    async eligible(sight, model, limit) {
      const { projects } = sight.scope
      if (projects === null) return null
      const context = contextOf(sight)
      const rows = (where: ReturnType<typeof sql>) => sql`
        SELECT v.id FROM entries e ${dialect.plan.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}
        WHERE v.model = ${model} AND ${inPack({ ...context, sight: { ...sight, diaryOf: null } })} AND ${where}`
      const named = dialect.among(sql`${JSON.stringify(projects)}`)
      const entries = entriesCounted({ dialect, scope: sight.scope })
      return readOne(
        connection,
        sql`WITH few AS MATERIALIZED (
            SELECT * FROM (
              ${rows(sql`e.project ${named}`)} UNION ALL ${rows(sql`e.project IS NULL`)}
            ) AS every LIMIT CASE WHEN (${entries}) > ${limit} THEN 0 ELSE ${limit + 1} END
          ), total AS (SELECT CASE WHEN (${entries}) > ${limit} THEN ${limit + 1} ELSE (SELECT count(*) FROM few) END AS n)
          SELECT v.entry_id, v.start, v.length, v.data
          FROM few ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = few.id`)}
          WHERE (SELECT n FROM total) <= ${limit}
          UNION ALL SELECT NULL, NULL, NULL, NULL FROM total WHERE n > ${limit}`,
        (found) => (found[0]?.data === null ? null : found.flatMap(toVectors)),
      )
    },

    async gather(sight, request) {
      const rows = await readOne(connection, gatherStatement(contextOf(sight), request), (found) =>
        unpackedColumns(HEAD, found),
      )
      const texts = new Map(request.ids.map(({ id, text }) => [id, text]))
      const entries = rows.map((row) => toPackEntry(row, texts))
      const there = new Set(entries.map(({ id }) => id))
      return {
        entries,
        vectors: rows.flatMap(vectorsOf),
        // What a search found a moment ago may be deleted by now.
        links: rows
          .flatMap(linksFrom)
          .filter(({ to }) => there.has(to))
          .sort(byEnds),
      }
    },

    async finish(caller, sight, request) {
      const context = contextOf(sight)
      const audit = auditRepeatedStatements(dialect, caller.org, context.now, {
        ...caller,
        ids: request.ids,
        allowed: true,
        detail: request.detail,
      })
      const batch = new Batch()
      const stretches = where(batch, stretchesStatement(context, request), each(toStretch))
      const opposed = where(batch, oppositionStatement(context, request), each(toLink))
      const related = where(batch, relatedStatement(context, request), each(toNeighbour))
      const result = await batch.do(audit).run(connection, { org: caller.org, usesReserve: true })
      const oppositions = listOf(result, opposed)
      return {
        stretches: new Map(listOf(result, stretches)),
        neighbours: listOf(result, related),
        supersedes: oppositions.filter(({ relation }) => relation === 'supersedes'),
        contradicts: oppositions.filter(({ relation }) => relation === 'contradicts'),
      }
    },
  }
}
