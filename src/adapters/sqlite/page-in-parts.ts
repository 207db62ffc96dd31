import { type SQL, sql } from 'drizzle-orm'
import { inParts } from '../../domain/in-parts'
import { scheduler } from '../../domain/scheduler'
import type { Filter } from '../../domain/search/filter'
import { conjuncts, tooMuchAsked } from '../../domain/search/filter-weight'
import type { Window } from '../../domain/search/window'
import { compileFilter } from '../sql/core/compile-filter'
import type { Row } from '../sql/core/connection'
import type { Bounded } from '../sql/core/dialect'
import { json, num, numOrNull, onlyRow } from '../sql/core/rows'
import { listed } from '../sql/core/visibility'
import { circleTotals } from '../sql/tables/counts/circle-totals'
import { type ReadContext, withPrelude } from '../sql/tables/entries/read-statements'
import { mostOfSmall, noneIsLarge, PARSED_BYTES, type Share, shareOf } from '../sql/tables/entries/share'
import { COUNTED } from '../sql/tables/pages/through-lead'

/**
 * A page whose filter no index answers, in a large store of a database that serves nobody while a statement goes on (platform
 * contract §6): entries are gone through in the order of the page, so many at a time, with rests between. The answer is that of one
 * statement, as long as nobody writes meanwhile: what is stored then is not in the page, and what is deleted then may still be
 * counted. Entries of the same second as a part begins or ends with are passed over in the index alone.
 *
 * Whoever sees many entries is told no total that costs a look at each: counting stops where the page is whole and more is known to follow.
 */

/** The parts of a filter that asks for very much are small. */
const MOST_STATEMENTS = 500

/** The least that a part goes through, where it can be told how many are enough, and how many times as many are gone through. */
const [MIN_PART, SPARE] = [1_000, 1.25]

/** The last entry that was gone through. */
interface Place {
  readonly second: number
  readonly id: number
}

/**
 * What is wanted of the matches of one part: their count, the ids of some, and where the next part begins. Entries are gone through once;
 * where metadata may be large, bytes are added up before, to the entry that the share ends with.
 */
function partStatement(context: ReadContext, filter: Filter, after: Place | null, share: Share, window: Window): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const parts = conjuncts(filter)
  const inThread = parts.some((part) => part.op === 'thread')
  const from = dialect.plan.entriesBy(inThread ? 'entries_thread_created_idx' : 'entries_created_idx')
  const place = sql`(e.created_second, e.id)`
  const behind = after === null ? sql`` : sql` AND ${place} < (${after.second}, ${after.id})`
  const gone: Filter = { op: 'and', of: parts.filter((part) => part.op === 'thread' || part.op === 'created') }
  const next = (columns: SQL): SQL => sql`
      SELECT e.id${columns} FROM ${from}
      WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter(gone, dialect, bindings.bind)}${behind}
      ORDER BY e.created_second DESC, e.id DESC`
  const ofSmall = mostOfSmall(share)
  const most = ofSmall ?? share.entries
  const isSmall = ofSmall === null ? sql`0` : share.bytes === null ? sql`1` : noneIsLarge(dialect, scope)
  const small = sql`small (yes) AS MATERIALIZED (SELECT ${isSmall})`
  const until = sql`until AS MATERIALIZED (
      SELECT id, place FROM (
        SELECT id, row_number() OVER following AS place, sum(bytes) OVER following AS up_to_here
        FROM (${next(sql`, e.created_second AS second, ${PARSED_BYTES} AS bytes`)}
          LIMIT CASE WHEN (SELECT yes FROM small) THEN 0 ELSE ${share.entries} END)
        WINDOW following AS (ORDER BY second DESC, id DESC ROWS UNBOUNDED PRECEDING)
      ) WHERE place = ${share.entries} OR up_to_here >= ${share.bytes ?? sql`NULL`}
      ORDER BY place LIMIT 1
    )`
  // Of an AND whose value is asked for SQLite evaluates both sides, and who sees an entry is reckoned anew for each.
  const isHit = sql`CASE WHEN ${compileFilter(filter, dialect, bindings.bind)} THEN ${listed(dialect, scope, now)} ELSE 0 END`
  // One row, in the order of what is gone through: what an aggregate gathers is not read once more.
  const walked = sql`walked AS MATERIALIZED (
      SELECT count(*) AS entries, count(*) FILTER (WHERE hit) AS matches, json_group_array(id) FILTER (WHERE hit) AS ids,
        json_group_array(id) ->> '$[#-1]' AS last
      FROM (${next(sql`, ${isHit} AS hit`)}
        LIMIT CASE WHEN (SELECT yes FROM small) THEN ${most} ELSE coalesce((SELECT place FROM until), -1) END)
    )`
  const last = sql`SELECT CASE WHEN NOT (SELECT yes FROM small) THEN (SELECT id FROM until) WHEN entries >= ${most} THEN last END AS id
      FROM walked`
  return withPrelude(
    bindings,
    [small, until, walked, sql`behind AS MATERIALIZED (${last})`],
    sql`SELECT walked.matches, walked.entries AS walked,
      (SELECT json_group_array(value) FROM (SELECT value FROM json_each(walked.ids) LIMIT ${window.limit} OFFSET ${window.offset})) AS ids,
      (SELECT e.created_second FROM behind CROSS JOIN entries e ON e.id = behind.id) AS second,
      (SELECT id FROM behind) AS id,
      ${after === null ? sql`(SELECT entries FROM (${circleTotals(context)}) AS totals)` : sql`NULL`} AS visible
      FROM walked`,
  )
}

const toFound = (row: Row) => ({
  ids: json<number[]>(row, 'ids'),
  matches: num(row, 'matches'),
  walked: num(row, 'walked'),
  /** Entries that the scope sees; told by the first part. */
  visible: numOrNull(row, 'visible'),
  next: row.id === null ? null : { second: num(row, 'second'), id: num(row, 'id') },
})
type PartFound = ReturnType<typeof toFound>

/** The page of a filter; `share`: what is gone through at a time. */
export const pageInParts: Bounded['page'] = async (read, context, filter, { limit, offset }) => {
  const share = shareOf(context.dialect, filter)
  if (share === null) throw new Error('A page is read in parts where statements are bounded')
  let statements = 0
  const ids: number[] = []
  let total = 0
  let walked = 0
  let visible = 0
  /** Entries that a whole page and one more may take, as far as those that were gone through tell; all, where all are counted. */
  const enough = (): number =>
    visible <= COUNTED || total === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(MIN_PART, Math.ceil(((offset + limit + 1 - total) * walked * SPARE) / total))
  const parts = inParts<{ readonly after: Place | null }, PartFound>({
    start: { after: null },
    async step({ after }) {
      const window = { limit: limit - ids.length, offset: Math.max(0, offset - total) }
      const size = { ...share, entries: Math.min(share.entries, after === null ? COUNTED : enough()) }
      const statement = partStatement(context, filter, after, size, window)
      if (++statements > MOST_STATEMENTS) throw tooMuchAsked()
      await scheduler.yield()
      const found = await read(statement, onlyRow(toFound))
      return { found, next: found.next === null ? null : { after: found.next } }
    },
  })
  for await (const part of parts) {
    ids.push(...part.ids)
    total += part.matches
    walked += part.walked
    visible = part.visible ?? visible
    if (part.next !== null && visible > COUNTED && total > offset + limit) return { ids, total, isExact: false }
  }
  return { ids, total, isExact: true }
}
