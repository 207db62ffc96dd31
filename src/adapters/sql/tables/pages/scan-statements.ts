import { type SQL, sql } from 'drizzle-orm'
import type { Narrowing } from '../../../../domain/reading/literal'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { ScanRequest } from '../../../../ports/entry-texts'
import { compileFilter, TRUE } from '../../core/compile-filter'
import type { SqlDialect } from '../../core/dialect'
import { listed } from '../../core/visibility'
import { entriesById, type ReadContext, withPrelude } from '../entries/read-statements'
import { PARSED_BYTES, type Share } from '../entries/share'
import { textOf } from '../texts/long-texts'
import { planEntries } from './plan'

/** Which entries a search through texts covers next, newest id first. */

/** One statement looks through so many bytes of entries, and a bit more: on D1 nothing else of this process goes on meanwhile. */
const MAX_SCAN_BYTES = 16_000_000
/** Texts that come with the scan, in bytes. */
const MAX_FIRST_BYTES = 1_000_000

const holds = (dialect: SqlDialect, narrowing: Narrowing | null): SQL =>
  narrowing === null
    ? TRUE
    : dialect.contains(narrowing.fold ? sql`lower(${textOf()})` : textOf(), sql`${narrowing.part}`)

/** What is covered of `newest` (id, bytes), and what of that has to be read. */
const covering = (dialect: SqlDialect, limit: number, narrowing: Narrowing | null): SQL[] => [
  sql`placed AS (SELECT id, row_number() OVER (ORDER BY id DESC) AS place,
    sum(bytes) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) - bytes AS before FROM newest)`,
  sql`covered AS MATERIALIZED (SELECT id, place FROM placed WHERE place <= ${limit} AND before < ${MAX_SCAN_BYTES})`,
  sql`found AS MATERIALIZED (SELECT e.id, e.thread_id, c.place, e.bytes,
    sum(e.bytes) OVER (ORDER BY c.place ROWS UNBOUNDED PRECEDING) AS upto
    FROM covered c ${dialect.plan.follow('entries', 'e', sql`e.id = c.id`)}
    WHERE ${holds(dialect, narrowing)})`,
]

/** @param known how many of `newest` there are; NULL where they are to be gone through in parts. @param until as `Scan.walkedTo` */
const outcome = (known: SQL, until: SQL): [totals: SQL, body: SQL] => [
  sql`totals AS (SELECT ${known} AS known, ${until} AS until, count(*) AS covered, min(id) AS last_id FROM covered)`,
  // A subquery for each text: joined, PostgreSQL would gather the entries of all orgs first.
  sql`SELECT t.known, t.until, t.covered, t.last_id, f.id, f.place, f.bytes, f.thread_id,
      CASE WHEN f.upto <= ${MAX_FIRST_BYTES} THEN (SELECT ${textOf()} FROM entries e WHERE e.id = f.id) END AS text
    FROM totals t LEFT JOIN found f ON ${TRUE}
    ORDER BY f.place`,
]

const NONE = sql`CAST(NULL AS bigint)`
const KNOWN = sql`(SELECT count(*) FROM newest)`
const before = (id: number | null): SQL => (id === null ? sql`` : sql` AND e.id < ${id}`)

/** Of the entries that are named, or in one statement; `known` is NULL where there are too many for that. */
export function scanStatement(context: ReadContext, { filter, ids, beforeId, narrowing, limit }: ScanRequest): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const { tables, within, from, where, byId } =
    ids === null
      ? planEntries(context, filter, bindings, { byId: true })
      : {
          ...{ tables: [], within: null, byId: sql`e.id DESC`, from: entriesById(dialect, ids) },
          where: sql`${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}`,
        }
  // One more than is wanted tells whether there is more.
  const newest = sql`newest AS (
    SELECT e.id, e.bytes FROM ${from} WHERE ${where}${before(beforeId)} ORDER BY ${byId} LIMIT ${limit + 1}
  )`
  const known = within === null ? KNOWN : sql`CASE WHEN ${within} THEN ${KNOWN} END`
  const [totals, body] = outcome(known, NONE)
  return withPrelude(bindings, [...tables, newest, ...covering(dialect, limit, narrowing), totals], body)
}

/**
 * The same of a part of the entries: of the next ones of the org, or of the thread, whatever the filter admits of them. `until` is the
 * last of them, where there may be more.
 *
 * @param share how many they are at most, and how many bytes of metadata
 */
export function scanPartStatement(
  context: ReadContext,
  { filter, beforeId, narrowing, limit }: ScanRequest,
  share: Share,
): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const thread = conjuncts(filter).find((part) => part.op === 'thread')
  const index = dialect.plan.entriesBy(thread === undefined ? 'entries_org_id_idx' : 'entries_thread_position_idx')
  const ofThread: Filter = { op: 'and', of: thread === undefined ? [] : [thread] }
  const next = sql`SELECT e.id, ${share.bytes === null ? sql`0` : PARSED_BYTES} AS bytes FROM ${index}
    WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter(ofThread, dialect, bindings.bind)}${before(beforeId)}
    ORDER BY e.id DESC LIMIT ${share.entries}`
  const part =
    share.bytes === null
      ? next
      : sql`SELECT id FROM (
          SELECT id, sum(bytes) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) - bytes AS before FROM (${next})
        ) WHERE before < ${share.bytes}`
  // The part is gone through in its order, no further than until the limit is reached.
  const newest = sql`newest AS MATERIALIZED (
    SELECT e.id, e.bytes FROM (${part}) part ${dialect.plan.follow('entries', 'e', sql`e.id = part.id`)}
    WHERE ${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}
    LIMIT ${limit + 1}
  )`
  const isWhole = sql`count(*) = ${share.entries}${share.bytes === null ? sql`` : sql` OR count(*) < (SELECT count(*) FROM (${next}))`}`
  const until = sql`CASE WHEN ${KNOWN} <= ${limit} THEN (SELECT CASE WHEN ${isWhole} THEN min(id) END FROM (${part})) END`
  const [totals, body] = outcome(KNOWN, until)
  return withPrelude(bindings, [newest, ...covering(dialect, limit, narrowing), totals], body)
}
