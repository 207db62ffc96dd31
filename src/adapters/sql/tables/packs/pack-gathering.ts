import { type SQL, sql } from 'drizzle-orm'
import type { GatherRequest } from '../../../../ports/packs'
import { packedColumns } from '../../core/packed'
import { superseded } from '../links/superseded'
import { beginningOf } from '../texts/long-texts'
import { CHARS } from '../texts/text-marks'
import { inOrderOfId, vectorsBehind } from '../vectors/vector-lookup'
import { inPack, linksOf, newestLinksTo, type PackContext } from './pack-statements'

/** What a pack is chosen from: the candidates that the legs of the search named, those that links lead to, and their vectors. */

/** Code points of a text that are weighed. */
const BEGINNING = 4_000
/** Larger metadata say nothing in a pack; what stands in columns is shown. */
const LARGEST_METADATA = 16_000
/** Stretches of a text that are compared. */
const CHUNKS = 12

const list = (parts: readonly SQL[], by = sql`, `): SQL => sql.join([...parts], by)

/** Visible entries at the other ends of the links of the rows of `table`, which has a column `id`. */
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

/** Tables of ids, each of the next kind: `known`, `near`, `begun` (both), `hop1`, `hop2`, `picked` (all, with the steps that led there). */
function pickedTables(context: PackContext, request: GatherRequest): SQL[] {
  const { dialect, sight } = context
  const { org } = sight.scope
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

/** Of an entry, what is small. */
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

/** A row for each entry, with its vectors and the links that lead from it to others of them: what leads there is found once. */
export function gatherStatement(context: PackContext, request: GatherRequest): SQL {
  const { dialect } = context
  const { hits, model, steps } = request
  const head = dialect.packsRows ? packedColumns(HEAD, 'e') : sql.raw(HEAD.map((name) => `e.${name}`).join(', '))
  const found = sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(hits)}`)} AS hit`
  const vectors = sql`
    SELECT ${dialect.jsonArrays([sql`v.start`, sql`v.length`, sql`v.data`])} FROM entry_vectors v
    WHERE v.entry_id = e.id AND v.model = ${model} AND (v.chunk < ${CHUNKS} OR v.id IN (${found}))`
  // From one end alone: by both, SQLite would look up each of hundreds of candidates for each other one.
  const to = dialect.plan.unordered(sql`l.to_id`)
  // Between two that only the last step led to nothing is looked for.
  const within = sql.raw(String(Math.max(1, steps)))
  const links = sql`
    SELECT ${dialect.jsonArrays([sql`l.relation`, sql`l.to_id`])} FROM links l
    WHERE ${linksOf(context, 'from_id', sql`e.id`)} AND ${to} IN (SELECT id FROM picked)
      AND (picked.step < ${within} OR ${to} IN (SELECT id FROM picked WHERE step < ${within}))`
  return sql`WITH ${list(pickedTables(context, request))}
    SELECT ${head}, e.confidence, e.tags, CASE WHEN length(e.metadata) <= ${LARGEST_METADATA} THEN e.metadata END AS metadata,
      CASE WHEN picked.has_text = 1 THEN '' ELSE ${beginningOf(dialect, BEGINNING)} END AS beginning,
      ${CHARS} AS chars, CASE WHEN ${superseded(context)} THEN 1 ELSE 0 END AS superseded,
      ${model === null ? sql`'[]'` : sql`(${vectors})`} AS vectors, (${links}) AS links
    FROM picked ${dialect.plan.follow('entries', 'e', sql`e.id = picked.id`)}
    WHERE ${inPack(context)}`
}
