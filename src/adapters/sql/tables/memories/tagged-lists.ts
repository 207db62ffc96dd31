import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import { tooMuchAsked } from '../../../../domain/search/filter-weight'
import type { MemoryQuery } from '../../../../ports/memories'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { json, jsonOrNull, num, onlyRow } from '../../core/rows'
import { MOST_PARTS } from '../pages/page-in-parts'
import { isListed, LISTED_COLUMNS, projectOf, rowsOfTags, taggedMemories } from '../pages/tags'
import { textOf } from '../texts/long-texts'
import { fitting, type MemoryContext, memoryColumns, sizedPage } from './memory-statements'

/**
 * Memories listed by tags. What has one is gathered once, to be ordered and counted; on a database that serves nobody while a statement
 * goes on (platform contract §6) many rows of tags are gone through so many at a time, with rests between. The answer is that of one
 * statement, as long as nobody writes meanwhile.
 */

/**
 * A page with its total; of memories beyond the bytes the id alone, as `wanted_id`. A row without `wanted_id` stands for an empty page; a
 * total of NULL says that these are more rows than one statement goes through (`taggedInParts`).
 */
export function taggedListStatement(context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL {
  const { dialect } = context
  const { walked } = dialect
  const isShort = sql`(SELECT count(*) FROM walked) <= ${walked}`
  const [matching, total] =
    walked === null
      ? [sql`matching AS MATERIALIZED (${taggedMemories(context, query)})`, sql`count(*)`]
      : [
          sql`walked AS MATERIALIZED (SELECT ${LISTED_COLUMNS} FROM ${rowsOfTags(context, query)} LIMIT ${walked + 1}),
            matching AS MATERIALIZED (${taggedMemories(context, query, sql`walked t`)} AND ${isShort})`,
          sql`CASE WHEN ${isShort} THEN count(*) END`,
        ]
  return sql`
  WITH ${matching}, page AS (
    SELECT id, created_at FROM matching ORDER BY created_at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${sizedPage(dialect)}
  SELECT sized.id AS wanted_id, ${memoryColumns(dialect)}, ${textOf()} AS text, counted.total
  FROM (SELECT ${total} AS total FROM matching) AS counted LEFT JOIN sized ON 1 = 1 ${fitting(dialect, maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`
}

/** The last row of a tag that was gone through. */
type Reached = readonly [project: string, id: number]

const BEFORE_ALL: Reached = ['', 0]

/** When a memory was created, and its id. */
type Place = readonly [createdAt: number, id: number]

const newestFirst = (a: Place, b: Place): number => b[0] - a[0] || b[1] - a[1]

/** Tags that a row of a part is looked up under, at the cost of one row more: a lookup of several takes as long as one row by itself. */
const LOOKUPS_A_ROW = 4

interface Part {
  readonly tag: string
  readonly after: Reached
  /** Memories that have one of these were met before. */
  readonly met: readonly string[]
  /** Rows to go through. */
  readonly rows: number
  /** Memories to bring. */
  readonly most: number
}

/** One row: `total` of what is met for the first time, the newest of it as `first` (JSON), and where the next part begins, or NULL. */
function partStatement(context: MemoryContext, query: MemoryQuery, { tag, after, met, rows, most }: Part): SQL {
  const { dialect, scope } = context
  const project = projectOf(context, query)
  const layer = sql.raw(String(query.layer))
  const behind =
    project === undefined
      ? sql`(t.project, t.entry_id) > (${after[0]}, ${after[1]})`
      : sql`t.project = ${project} AND t.entry_id > ${after[1]}`
  const same = sql`o.org = ${scope.org} AND o.tag = met.value AND o.layer = ${layer} AND o.project = t.project AND o.entry_id = t.entry_id`
  const isNew = sql`NOT EXISTS (
      SELECT 1 FROM ${dialect.jsonRows(sql`${JSON.stringify(met)}`)} met ${dialect.follow('entry_tags', 'o', same)}
    )`
  return sql`
    WITH part AS MATERIALIZED (
      SELECT ${LISTED_COLUMNS} FROM entry_tags t
      WHERE t.org = ${scope.org} AND t.tag = ${tag} AND t.layer = ${layer} AND ${behind}
      ORDER BY t.project, t.entry_id LIMIT ${rows}
    ), matching AS MATERIALIZED (
      SELECT t.entry_id AS id, t.created_at FROM part t
      WHERE ${isListed(context, query)}${met.length === 0 ? sql`` : sql` AND ${isNew}`}
    )
    SELECT
      (SELECT count(*) FROM matching) AS total,
      (SELECT json_group_array(json_array(created_at, id) ORDER BY created_at DESC, id DESC) FROM (
        SELECT created_at, id FROM matching ORDER BY created_at DESC, id DESC LIMIT ${most}
      )) AS first,
      (SELECT json_array(project, entry_id) FROM part
        WHERE (SELECT count(*) FROM part) = ${rows} ORDER BY project DESC, entry_id DESC LIMIT 1) AS last,
      EXISTS (SELECT 1 FROM part) AS is_held`
}

const toFound = (row: Row) => ({
  total: num(row, 'total'),
  first: json<Place[]>(row, 'first'),
  last: jsonOrNull<Reached>(row, 'last'),
  isHeld: Boolean(row.is_held),
})
type PartFound = ReturnType<typeof toFound>

/**
 * @param walked how many rows a statement goes through
 * @returns ids of the page in its order, and how many memories match in all
 */
export async function taggedInParts(
  connection: SqlConnection,
  pace: Pace,
  context: MemoryContext,
  query: MemoryQuery,
  walked: number,
): Promise<{ ids: number[]; total: number }> {
  const most = query.limit + query.offset
  const met: string[] = []
  let newest: readonly Place[] = []
  let [total, parts] = [0, 0]
  for (const tag of query.tags) {
    const rows = Math.max(1, Math.floor(walked / (1 + met.length / LOOKUPS_A_ROW)))
    let isHeld = false
    for (let after: Reached | null = BEFORE_ALL; after !== null; ) {
      if (++parts > MOST_PARTS) throw tooMuchAsked()
      await pace.rest()
      const part = { tag, after, met, rows, most }
      const found: PartFound = await readOne(connection, partStatement(context, query, part), onlyRow(toFound))
      const { first } = found
      newest = newest.length === 0 ? first : [...newest, ...first].sort(newestFirst).slice(0, most)
      total += found.total
      isHeld ||= found.isHeld
      after = found.last
    }
    if (isHeld) met.push(tag)
  }
  return { ids: newest.slice(query.offset).map(([, id]) => id), total }
}
