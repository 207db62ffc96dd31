import { type SQL, sql } from 'drizzle-orm'
import { createStatements, inParts } from '../../../domain/in-parts'
import type { Filter } from '../../../domain/search/filter'
import { conjuncts, tooMuchAsked } from '../../../domain/search/filter-weight'
import type { Window } from '../../../domain/search/window'
import { compileFilter } from '../../sql/core/compile-filter'
import type { Row } from '../../sql/core/connection'
import type { Bounded } from '../../sql/core/dialect'
import { json, num, numOrNull, onlyRow } from '../../sql/core/rows'
import { listed } from '../../sql/core/visibility'
import { circleTotals } from '../../sql/tables/counts/circle-totals'
import { type ReadContext, withPrelude } from '../../sql/tables/entries/read-statements'
import { parsedBytes, type Share, shareOf } from '../../sql/tables/entries/share'

/**
 * A page whose filter no index answers, in a large store of a database that serves nobody while a statement goes on (platform
 * contract §6): entries are gone through in the order of the page, so many at a time, with rests between. The answer is that of one
 * statement, as long as nobody writes meanwhile: what is stored then is not in the page, and what is deleted then may still be
 * counted. Entries of the same second as a part begins or ends with are passed over in the index alone.
 *
 * Whoever sees many entries is told no total that costs a look at each: counting stops where the page is whole and more is known to follow.
 */

/** Whoever sees no more is told exact totals; of others so many are gone through before counting may stop (threads contract §4). */
const COUNTED = 10_000

/** The parts of a filter that asks for very much are small. */
const MOST_STATEMENTS = 500

/** The last entry that was gone through. */
interface Place {
  readonly second: number
  readonly id: number
}

/** What is wanted of the matches of one part: their count, the ids of some, and where the next part begins. */
function partStatement(context: ReadContext, filter: Filter, after: Place | null, share: Share, window: Window): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const parts = conjuncts(filter)
  const inThread = parts.some((part) => part.op === 'thread')
  const from = dialect.plan.entriesBy(inThread ? 'entries_by_thread' : 'entries_by_time')
  const place = sql`(e.created_second, e.id)`
  const behind = after === null ? sql`` : sql` AND ${place} < (${after.second}, ${after.id})`
  const gone: Filter = { op: 'and', of: parts.filter((part) => part.op === 'thread' || part.op === 'created') }
  const next = (columns: SQL): SQL => sql`
      SELECT e.created_second AS second, e.id${columns} FROM ${from}
      WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter(gone, dialect, bindings.bind)}${behind}
      ORDER BY e.created_second DESC, e.id DESC`
  const last =
    share.bytes === null
      ? sql`${next(sql``)} LIMIT 1 OFFSET ${share.entries - 1}`
      : sql`SELECT second, id FROM (
          SELECT second, id, row_number() OVER following AS place, sum(bytes) OVER following AS up_to_here
          FROM (${next(sql`, ${parsedBytes(share)} AS bytes`)} LIMIT ${share.entries})
          WINDOW following AS (ORDER BY second DESC, id DESC ROWS UNBOUNDED PRECEDING)
        ) WHERE place = ${share.entries} OR up_to_here >= ${share.bytes}
        ORDER BY second DESC, id DESC LIMIT 1`
  const until = sql`until AS MATERIALIZED (${last})`
  const found = sql`
    found AS MATERIALIZED (
      SELECT e.id, e.created_second FROM ${from}
      WHERE ${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}${behind}
        AND ${place} >= (coalesce((SELECT second FROM until), 0), coalesce((SELECT id FROM until), 0))
    )`
  return withPrelude(
    bindings,
    [until, found],
    sql`SELECT
      (SELECT count(*) FROM found) AS matches,
      (SELECT json_group_array(id ORDER BY created_second DESC, id DESC) FROM (
        SELECT id, created_second FROM found ORDER BY created_second DESC, id DESC LIMIT ${window.limit} OFFSET ${window.offset}
      )) AS ids,
      (SELECT second FROM until) AS second,
      (SELECT id FROM until) AS id,
      ${after === null ? sql`(SELECT entries FROM (${circleTotals(context)}) AS totals)` : sql`NULL`} AS visible`,
  )
}

const toFound = (row: Row) => ({
  ids: json<number[]>(row, 'ids'),
  matches: num(row, 'matches'),
  /** Entries that the scope sees; told by the first part. */
  visible: numOrNull(row, 'visible'),
  next: row.id === null ? null : { second: num(row, 'second'), id: num(row, 'id') },
})
type PartFound = ReturnType<typeof toFound>

/** The page of a filter; `share`: what is gone through at a time. */
export const pageInParts: Bounded['page'] = async (read, pace, context, filter, { limit, offset }) => {
  const share = shareOf(context.dialect, filter)
  if (share === null) throw new Error('A page is read in parts where statements are bounded')
  const once = createStatements({ pace, most: MOST_STATEMENTS, tooMany: tooMuchAsked })
  const ids: number[] = []
  let total = 0
  let visible = 0
  const parts = inParts<{ readonly after: Place | null }, PartFound>({
    start: { after: null },
    async step({ after }) {
      const window = { limit: limit - ids.length, offset: Math.max(0, offset - total) }
      const size = after === null ? { ...share, entries: Math.min(share.entries, COUNTED) } : share
      const statement = partStatement(context, filter, after, size, window)
      const found = await once(() => read(statement, onlyRow(toFound)))
      return { found, next: found.next === null ? null : { after: found.next } }
    },
  })
  for await (const part of parts) {
    ids.push(...part.ids)
    total += part.matches
    visible = part.visible ?? visible
    if (part.next !== null && visible > COUNTED && total > offset + limit) return { ids, total, isExact: false }
  }
  return { ids, total, isExact: true }
}
