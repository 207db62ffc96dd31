import { type SQL, sql } from 'drizzle-orm'
import type { FinishRequest } from '../../../../ports/packs'
import { visible } from '../../core/visibility'
import { NEWEST_LINKS, superseded } from '../links/superseded'
import { beginningOf, textOf } from '../texts/long-texts'
import { inPack, linksOf, newestLinksTo, type PackContext } from './pack-statements'

/** The last look at the items of a pack: parts of texts, what they are linked to, what they supersede and contradict. */

/** Code points of a name; of an entry without one, of its text. */
const NAME = 120

/** Links that are read for each neighbour wanted, since several may lead to one. */
const LINKS_EACH = 4

const json = (value: unknown): SQL => sql`${JSON.stringify(value)}`

/** Code points before the word that a part is read for. */
const BEFORE = 200

/** Each part with the place where it begins, from 0; null where none is wanted. */
export const stretchesStatement = (context: PackContext, { stretches }: FinishRequest): SQL | null => {
  if (stretches.length === 0) return null
  const { dialect } = context
  const given = json(stretches.map(({ id, start, length, word }) => [id, start + 1, length, word]))
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

/** The newest links of the rows of `table`, whose ids differ, in both directions, whoever made them. */
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

/** Of each row of `table` the visible neighbours, newest first, as many as are wanted. */
const neighboursOf = (context: PackContext, table: SQL, wanted: number): SQL => sql`
  SELECT ranked.* FROM (
    SELECT link.of_id, link.relation, link.direction, e.id, e.kind, e.title, ${beginningOf(context.dialect, NAME)} AS text,
      row_number() OVER (PARTITION BY link.of_id ORDER BY e.id DESC, link.relation, link.direction) AS place
    FROM (${allLinksOf(context, table)}) AS link
      ${context.dialect.plan.follow('entries', 'e', sql`e.id = link.id`)}
    WHERE ${inPack(context)} AND NOT ${superseded(context)}
  ) AS ranked
  WHERE ranked.place <= ${wanted}`

/** The neighbours of the items, and with two steps theirs, nearer ones first; null where none are wanted. */
export function relatedStatement(context: PackContext, { ids, related, steps }: FinishRequest): SQL | null {
  if (related === 0 || steps === 0) return null
  const { dialect } = context
  const items = sql`(SELECT value AS id FROM ${dialect.jsonNumbers(json(ids))} AS item) AS one`
  const first = neighboursOf(context, items, related * LINKS_EACH)
  if (steps === 1) return sql`${first} ORDER BY of_id, place`
  const next = sql`(SELECT DISTINCT id FROM first) AS one`
  return sql`
    WITH first AS MATERIALIZED (${first})
    SELECT 1 AS step, first.* FROM first
    UNION ALL SELECT 2, second.* FROM (${neighboursOf(context, next, related * LINKS_EACH)}) AS second
    ORDER BY step, of_id, place`
}

/** What the items supersede, and whom they contradict or are contradicted by. */
export function oppositionStatement(context: PackContext, { ids }: FinishRequest): SQL {
  const { dialect, sight, now } = context
  const items = sql`(SELECT value AS id FROM ${dialect.jsonNumbers(json(ids))} AS item) AS one`
  const one = (links: SQL, other: SQL) => sql`
    SELECT l.from_id, l.relation, l.to_id
    FROM ${items} ${dialect.plan.follow('links', 'l', links)}
      ${dialect.plan.follow('entries', 'e', sql`e.id = ${other}`)}
    WHERE ${visible(dialect, sight.scope, now)} AND e.diary = 0`
  return sql`
    ${one(sql`${linksOf(context, 'from_id', sql`one.id`)} AND l.relation IN ('supersedes', 'contradicts')`, sql`l.to_id`)}
    UNION ${one(newestLinksTo(context, sql`one.id`, 'contradicts'), sql`l.from_id`)}
    ORDER BY 1, 2, 3`
}
