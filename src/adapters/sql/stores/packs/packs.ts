import { type SQL, sql } from 'drizzle-orm'
import type { Metadata } from '../../../../domain/entry/metadata'
import { titleOf } from '../../../../domain/entry/title'
import { readableVector } from '../../../../domain/meaning/vector'
import type { Neighbor, PackEntry, PackLink, PackVector } from '../../../../domain/pack/candidate'
import { compareText } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { FinishRequest, GatherRequest, PackReads, PackScope } from '../../../../ports/packs'
import { Batch, type Decode, type Handle, type Results, readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import {
  each,
  flag,
  inOneValue,
  json,
  jsonOrNull,
  num,
  numbersOf,
  numOrNull,
  oneOf,
  packedColumns,
  rowsOfValue,
  str,
  strOrNull,
  unpackedColumns,
} from '../../core/rows'
import { visible } from '../../core/visibility'
import { NEWEST_FACETS, newestStatement } from '../../tables/capture/start-memories'
import { auditRepeatedStatements } from '../../tables/changes/audit-statements'
import { entriesCounted } from '../../tables/counts/visible-counts'
import { kindOf } from '../../tables/entries/entry-rows'
import { NEWEST_LINKS, superseded } from '../../tables/links/links'
import {
  diaryStatement,
  inFlightStatement,
  inPack,
  linksOf,
  newestLinksTo,
  type PackContext,
} from '../../tables/packs/pack-statements'
import { CHARS, previewOf, textOf } from '../../tables/texts/long-texts'
import { inOrderOfId, vectorsBehind } from '../../tables/vectors/vector-lookup'

/** Details of the chosen items of a pack: text ranges, related entries, superseded and contradicting entries. */

/** Code points of a name or, for an entry without one, of its text. */
const NAME = 120

/** Links read for each neighbor wanted, since several may point to the same one. */
const LINKS_EACH = 4

const jsonOf = (value: unknown): SQL => sql`${JSON.stringify(value)}`

/** Code points of a range before the requested word. */
const BEFORE = 200

/** Returns each text range with its offset, from 0; null when none is wanted. */
const rangesStatement = (context: PackContext, { ranges }: FinishRequest): SQL | null => {
  if (ranges.length === 0) return null
  const { dialect } = context
  const given = jsonOf(ranges.map(({ id, start, length, word }) => [id, start + 1, length, word]))
  const columns = { id: 'integer', start: 'integer', length: 'integer', word: 'text' } as const
  const found = dialect.position(sql`lower(${textOf()})`, sql`wanted.word`)
  return sql`
    SELECT placed.id, placed.start - 1 AS start, substr(placed.text, CAST(placed.start AS integer), placed.length) AS text
    FROM (
      SELECT e.id, ${textOf()} AS text, CAST(wanted.length AS integer) AS length,
        CASE WHEN wanted.word = '' OR ${found} = 0 THEN wanted.start
          WHEN ${found} <= ${BEFORE} THEN 1 ELSE ${found} - ${BEFORE} END AS start
      FROM ${dialect.jsonTable(given, columns)} wanted
        ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE ${inPack(context)}
    ) AS placed`
}

/** Returns the newest links of the rows of `table`, whose IDs differ, in both directions, by any maker. */
const allLinksOf = (context: PackContext, table: SQL): SQL => {
  const { dialect } = context
  return sql`
    SELECT newest.of_id, newest.relation, newest.direction, newest.id FROM (
      SELECT every.of_id, every.relation, every.direction, every.id,
        row_number() OVER (PARTITION BY every.of_id ORDER BY every.id DESC, every.relation, every.direction) AS place
      FROM (
        SELECT one.id AS of_id, l.relation, 'outgoing' AS direction, l.to_id AS id
        FROM ${table} ${dialect.plan.follow('links', 'l', linksOf(context, 'from_id', sql`one.id`))}
        UNION ALL
        SELECT one.id, l.relation, 'incoming', l.from_id
        FROM ${table} ${dialect.plan.follow('links', 'l', newestLinksTo(context, sql`one.id`))}
      ) AS every
    ) AS newest
    WHERE newest.place <= ${sql.raw(String(NEWEST_LINKS))}`
}

/** Returns the visible neighbors of each row of `table`, newest first, up to the wanted number. */
const neighborsOf = (context: PackContext, table: SQL, wanted: number): SQL => sql`
  SELECT ranked.* FROM (
    SELECT link.of_id, link.relation, link.direction, e.id, e.kind, e.title, ${previewOf(context.dialect, NAME)} AS text,
      row_number() OVER (PARTITION BY link.of_id ORDER BY e.id DESC, link.relation, link.direction) AS place
    FROM (${allLinksOf(context, table)}) AS link
      ${context.dialect.plan.follow('entries', 'e', sql`e.id = link.id`)}
    WHERE ${inPack(context)} AND NOT ${superseded(context)}
  ) AS ranked
  WHERE ranked.place <= ${wanted}`

/** Returns the neighbors of the items and, with two steps, theirs, closer ones first; null when none are wanted. */
function relatedStatement(context: PackContext, { ids, related, steps }: FinishRequest): SQL | null {
  if (related === 0 || steps === 0) return null
  const { dialect } = context
  const items = sql`(SELECT value AS id FROM ${dialect.jsonNumbers(jsonOf(ids))} AS item) AS one`
  const first = neighborsOf(context, items, related * LINKS_EACH)
  if (steps === 1) return sql`${first} ORDER BY of_id, place`
  const next = sql`(SELECT DISTINCT id FROM first) AS one`
  return sql`
    WITH first AS MATERIALIZED (${first})
    SELECT 1 AS step, first.* FROM first
    UNION ALL SELECT 2, second.* FROM (${neighborsOf(context, next, related * LINKS_EACH)}) AS second
    ORDER BY step, of_id, place`
}

/** Returns what the items supersede, and what they contradict or are contradicted by. */
function oppositionStatement(context: PackContext, { ids }: FinishRequest): SQL {
  const { dialect, visibility, now } = context
  const items = sql`(SELECT value AS id FROM ${dialect.jsonNumbers(jsonOf(ids))} AS item) AS one`
  const one = (links: SQL, other: SQL) => sql`
    SELECT l.from_id, l.relation, l.to_id
    FROM ${items} ${dialect.plan.follow('links', 'l', links)}
      ${dialect.plan.follow('entries', 'e', sql`e.id = ${other}`)}
    WHERE ${visible(dialect, visibility.scope, now)} AND e.diary = 0`
  return sql`
    ${one(sql`${linksOf(context, 'from_id', sql`one.id`)} AND l.relation IN ('supersedes', 'contradicts')`, sql`l.to_id`)}
    UNION ${one(newestLinksTo(context, sql`one.id`, 'contradicts'), sql`l.from_id`)}
    ORDER BY 1, 2, 3`
}

/** Candidates of a pack: those that the retrievers found, those they link to, and their vectors. */

/** Code points of a text that are scored. */
const SCORED_TEXT = 4_000
/** Maximum bytes of metadata in a pack; metadata in columns are shown anyway. */
const LARGEST_METADATA = 16_000
/** Chunks of a text that are compared. */
const CHUNKS = 12

const list = (parts: readonly SQL[], by = sql`, `): SQL => sql.join([...parts], by)

/** Returns the visible entries at the other end of the links of the rows of `table`, which has a column `id`. */
function ends(context: PackContext, table: string): SQL {
  const { dialect } = context
  const from = sql.raw(table)
  return sql`
    SELECT l.to_id AS id
    FROM ${from} ${dialect.plan.follow('links', 'l', linksOf(context, 'from_id', sql`${from}.id`))}
    UNION
    SELECT l.from_id
    FROM ${from} ${dialect.plan.follow('links', 'l', newestLinksTo(context, sql`${from}.id`))}`
}

/**
 * Returns tables of IDs: `known`, `near`, `begun` (both), `hop1`, `hop2`, `picked` (all, with their number of steps).
 */
function pickedTables(context: PackContext, request: GatherRequest): SQL[] {
  const { dialect, visibility } = context
  const { org } = visibility.scope
  const { ids, model, hits, near, vectors, confirmedUpTo, unconfirmed, steps, linked } = request
  const known = JSON.stringify(ids.map(({ id, text }) => [id, text === null ? 0 : 1]))
  const tables = [
    sql`known AS MATERIALIZED (
      SELECT wanted.id, max(wanted.has_text) AS has_text
      FROM ${dialect.jsonTable(sql`${known}`, { id: 'integer', has_text: 'integer' })} wanted GROUP BY wanted.id
    )`,
  ]
  const begun = [sql`SELECT id, has_text FROM known`]
  if (model !== null && hits.length > 0) {
    const placed = JSON.stringify(hits.map((id, place) => [place, id]))
    tables.push(sql`near AS MATERIALIZED (
      SELECT nearest.id, min(nearest.place) AS place
      FROM (
        SELECT v.entry_id AS id, hit.place
        FROM ${dialect.jsonTable(sql`${placed}`, { place: 'integer', id: 'integer' })} hit
          ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = hit.id`)}
          ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}
        WHERE v.model = ${model} AND ${inPack(context)}
        ${dialect.plan.asListed(sql`hit.place`)} LIMIT ${vectors}
      ) AS nearest
      GROUP BY nearest.id ORDER BY place, nearest.id LIMIT ${near}
    )`)
    begun.push(sql`SELECT id, 0 FROM near`)
  }
  if (model !== null && unconfirmed > 0) {
    tables.push(sql`fresh AS MATERIALIZED (
      SELECT v.entry_id AS id FROM entry_vectors v
      WHERE ${vectorsBehind(dialect, org, model, confirmedUpTo)}
      ORDER BY ${inOrderOfId(dialect, 'DESC')} LIMIT ${unconfirmed}
    )`)
    begun.push(sql`SELECT id, 0 FROM fresh`)
  }
  tables.push(sql`begun AS MATERIALIZED (
    SELECT id, max(has_text) AS has_text FROM (${list(begun, sql` UNION ALL `)}) AS every GROUP BY id
  )`)
  const picked = [sql`SELECT id, has_text, 0 AS step FROM begun`]
  for (const [step, before] of ['begun', 'hop1'].slice(0, steps).entries()) {
    const name = sql.raw(`hop${step + 1}`)
    tables.push(sql`${name} AS MATERIALIZED (
      SELECT other.id FROM (${ends(context, before)}) AS other
        ${dialect.plan.follow('entries', 'e', sql`e.id = other.id`)}
      WHERE ${inPack(context)}
      ORDER BY other.id DESC LIMIT ${linked}
    )`)
    picked.push(sql`SELECT id, 0, ${sql.raw(String(step + 1))} FROM ${name}`)
  }
  tables.push(sql`picked AS MATERIALIZED (
    SELECT id, max(has_text) AS has_text, min(step) AS step FROM (${list(picked, sql` UNION ALL `)}) AS every GROUP BY id
  )`)
  return tables
}

/** Small columns of an entry. */
export const HEAD = [
  ...[
    'id',
    'kind',
    'title',
    'project',
    'domain',
    'agent',
    'status',
    'diary',
    'reader',
    'pinned',
    'weight',
    'expires_at',
  ],
  ...['version', 'created_at', 'updated_at', 'created_by', 'imported_from', 'approved_version', 'text_hash'],
] as const

/**
 * Returns a row for each entry, with its vectors and its links to others of them. Sources of links are searched only once.
 */
function gatherStatement(context: PackContext, request: GatherRequest): SQL {
  const { dialect } = context
  const { hits, model, steps } = request
  const head = dialect.packsRows ? packedColumns(HEAD, 'e') : sql.raw(HEAD.map((name) => `e.${name}`).join(', '))
  const found = sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(hits)}`)} AS hit`
  const vectors = sql`
    SELECT ${dialect.jsonArrays([sql`v.start`, sql`v.length`, sql`v.data`])} FROM entry_vectors v
    WHERE v.entry_id = e.id AND v.model = ${model} AND (v.chunk < ${CHUNKS} OR v.id IN (${found}))`
  // From one end only: for both, SQLite would look up each pair of hundreds of candidates.
  const to = dialect.plan.unordered(sql`l.to_id`)
  // Links between two entries of the last step are not searched.
  const within = sql.raw(String(Math.max(1, steps)))
  const links = sql`
    SELECT ${dialect.jsonArrays([sql`l.relation`, sql`l.to_id`])} FROM links l
    WHERE ${linksOf(context, 'from_id', sql`e.id`)} AND ${to} IN (SELECT id FROM picked)
      AND (picked.step < ${within} OR ${to} IN (SELECT id FROM picked WHERE step < ${within}))`
  return sql`WITH ${list(pickedTables(context, request))}
    SELECT ${head}, e.confidence, e.tags, CASE WHEN length(e.metadata) <= ${LARGEST_METADATA} THEN e.metadata END AS metadata,
      CASE WHEN picked.has_text = 1 THEN '' ELSE ${previewOf(dialect, SCORED_TEXT)} END AS beginning,
      ${CHARS} AS chars, CASE WHEN ${superseded(context)} THEN 1 ELSE 0 END AS superseded,
      ${model === null ? sql`'[]'` : sql`(${vectors})`} AS vectors, (${links}) AS links
    FROM picked ${dialect.plan.follow('entries', 'e', sql`e.id = picked.id`)}
    WHERE ${inPack(context)}`
}

/** Converts a row. @param text texts that were read before, by ID */
function toPackEntry(row: Row, text: ReadonlyMap<number, string | null>): PackEntry {
  let tags: string[] | undefined
  let metadata: Metadata | null | undefined
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
    // Parsed when used, and once: of hundreds of entries a few dozen are shown.
    get tags() {
      tags ??= json<string[]>(row, 'tags')
      return tags
    },
    get metadata() {
      if (metadata === undefined) metadata = jsonOrNull<Metadata>(row, 'metadata')
      return metadata
    },
    beginning: text.get(num(row, 'id')) ?? str(row, 'beginning'),
    chars: num(row, 'chars'),
    superseded: flag(row, 'superseded'),
  }
}

/** Parses a vector; empty for an invalid one. */
function packVector(place: Omit<PackVector, 'vector'>, data: string): PackVector[] {
  const vector = readableVector(data)
  return vector === null ? [] : [{ ...place, vector }]
}

/** Returns the vectors that `gatherStatement` groups with the entry. */
const vectorsOf = (row: Row): PackVector[] =>
  json<[number, number, string][]>(row, 'vectors').flatMap(([start, length, data]) =>
    packVector({ entryId: num(row, 'id'), start, length }, data),
  )

const linksFrom = (row: Row): PackLink[] =>
  row.links === '[]'
    ? []
    : json<[string, number][]>(row, 'links').map(([relation, to]) => ({ from: num(row, 'id'), relation, to }))

/** The first of equal links counts, so they have one order on every database. */
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

const toNeighbor = (row: Row): Neighbor => ({
  of: num(row, 'of_id'),
  id: num(row, 'id'),
  kind: kindOf(row, 'kind'),
  name: titleOf({ title: strOrNull(row, 'title'), text: str(row, 'text') }),
  relation: str(row, 'relation'),
  direction: directionOf(row, 'direction'),
})

const ids = numbersOf('id')

/** Adds a statement if there is one. */
const where = <T>(batch: Batch, statement: SQL | null, decode: Decode<T[]>): Handle<T[]> | null =>
  statement === null ? null : batch.add(statement, decode)

const listOf = <T>(result: Results, handle: Handle<T[]> | null): T[] => (handle === null ? [] : result.of(handle))

/** Creates the reads of packs over any SQL connection. */
export function createSqlPacks(connection: SqlConnection, clock: Clock): PackReads {
  const { dialect } = connection
  const contextOf = (visibility: PackScope): PackContext => ({ dialect, visibility, now: clock.now() })
  return {
    async unconditional(visibility, request) {
      const context = contextOf(visibility)
      const batch = new Batch()
      const inFlight = where(batch, inFlightStatement(context, request), ids)
      const diary = where(batch, diaryStatement(context, request.diary), ids)
      const { scope, isApproved = false } = visibility
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

    async eligible(visibility, model, limit) {
      const { projects } = visibility.scope
      if (projects === null) return null
      const context = contextOf(visibility)
      const rows = (where: ReturnType<typeof sql>) => sql`
        SELECT v.id FROM entries e ${dialect.plan.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}
        WHERE v.model = ${model} AND ${inPack({ ...context, visibility: { ...visibility, diaryOf: null } })} AND ${where}`
      const named = dialect.inList(sql`${JSON.stringify(projects)}`)
      const entries = entriesCounted({ dialect, scope: visibility.scope })
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

    async gather(visibility, request) {
      const statement = inOneValue(dialect, gatherStatement(contextOf(visibility), request))
      const rows = await readOne(connection, statement, (found) => unpackedColumns(HEAD, rowsOfValue(found)))
      const texts = new Map(request.ids.map(({ id, text }) => [id, text]))
      const entries = rows.map((row) => toPackEntry(row, texts))
      const there = new Set(entries.map(({ id }) => id))
      return {
        entries,
        vectors: rows.flatMap(vectorsOf),
        // An entry that the search found may have been deleted since.
        links: rows
          .flatMap(linksFrom)
          .filter(({ to }) => there.has(to))
          .sort(byEnds),
      }
    },

    async finish(caller, visibility, request) {
      const context = contextOf(visibility)
      const audit = auditRepeatedStatements(dialect, caller.org, context.now, {
        ...caller,
        ids: request.ids,
        allowed: true,
        detail: request.detail,
      })
      const batch = new Batch()
      const ranges = where(batch, rangesStatement(context, request), each(toStretch))
      const opposed = where(batch, oppositionStatement(context, request), each(toLink))
      const related = where(batch, relatedStatement(context, request), each(toNeighbor))
      const result = await batch.do(audit).run(connection, { org: caller.org, usesReserve: true })
      const oppositions = listOf(result, opposed)
      return {
        ranges: new Map(listOf(result, ranges)),
        neighbors: listOf(result, related),
        supersedes: oppositions.filter(({ relation }) => relation === 'supersedes'),
        contradicts: oppositions.filter(({ relation }) => relation === 'contradicts'),
      }
    },
  }
}
