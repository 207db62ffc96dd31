import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import { LINE_INDEX_STEP } from '../../../../domain/reading/lines'
import type { Narrowing } from '../../../../domain/reading/literal'
import { likelyRange, type Part } from '../../../../domain/reading/range'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { Clock } from '../../../../ports/clock'
import type { Candidate, EntryTexts, Scan, ScanRequest } from '../../../../ports/entry-texts'
import { runOne } from '../../core/batch'
import { compileFilter, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { IndexedFields, SqlDialect } from '../../core/dialect'
import { firstRow, json, num, str, strOrNull } from '../../core/rows'
import { listed, visible } from '../../core/visibility'
import { PARSED_BYTES, type ReadBudget, readBudgetOf } from '../../tables/entries/read-budget'
import { entriesById, type ReadContext, withPrelude } from '../../tables/entries/read-statements'
import { hasAccessPath } from '../../tables/pages/access-paths'
import { planEntries } from '../../tables/pages/entry-plan'
import { textOf } from '../../tables/texts/long-texts'

/** Selects the entries that a search through texts covers next, newest ID first. */

/** Maximum bytes of texts that one statement scans, approximately: on D1 it blocks everything else in this process. */
const MAX_SCAN_BYTES = 16_000_000
/** Maximum bytes of texts that a scan returns at once. */
const MAX_FIRST_BYTES = 1_000_000

const holds = (dialect: SqlDialect, narrowing: Narrowing | null): SQL =>
  narrowing === null
    ? TRUE
    : dialect.contains(narrowing.fold ? sql`lower(${textOf()})` : textOf(), sql`${narrowing.part}`)

/** Returns which of `newest` (`id`, `bytes`) are covered, and which of those have to be read. */
const covering = (dialect: SqlDialect, limit: number, narrowing: Narrowing | null): SQL[] => [
  sql`placed AS (SELECT id, row_number() OVER (ORDER BY id DESC) AS place,
    sum(bytes) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) - bytes AS before FROM newest)`,
  sql`covered AS MATERIALIZED (SELECT id, place FROM placed WHERE place <= ${limit} AND before < ${MAX_SCAN_BYTES})`,
  sql`found AS MATERIALIZED (SELECT e.id, e.thread_id, c.place, e.bytes,
    sum(e.bytes) OVER (ORDER BY c.place ROWS UNBOUNDED PRECEDING) AS upto
    FROM covered c ${dialect.plan.follow('entries', 'e', sql`e.id = c.id`)}
    WHERE ${holds(dialect, narrowing)})`,
]

/**
 * Returns the totals and rows of a scan. @param known number of `newest`; NULL when they must be read in parts. @param until as
 * `Scan.walkedTo`
 */
const outcome = (known: SQL, until: SQL): [totals: SQL, body: SQL] => [
  sql`totals AS (SELECT ${known} AS known, ${until} AS until, count(*) AS covered, min(id) AS last_id FROM covered)`,
  // A subquery for each text: with a join, PostgreSQL would collect the entries of all organizations first.
  sql`SELECT t.known, t.until, t.covered, t.last_id, f.id, f.place, f.bytes, f.thread_id,
      CASE WHEN f.upto <= ${MAX_FIRST_BYTES} THEN (SELECT ${textOf()} FROM entries e WHERE e.id = f.id) END AS text
    FROM totals t LEFT JOIN found f ON ${TRUE}
    ORDER BY f.place`,
]

const NONE = sql`CAST(NULL AS bigint)`
const KNOWN = sql`(SELECT count(*) FROM newest)`
const before = (id: number | null): SQL => (id === null ? sql`` : sql` AND e.id < ${id}`)

/** Scans given entries, or all of a filter in one statement; `known` is NULL when there are too many for that. */
function scanStatement(context: ReadContext, { filter, ids, beforeId, narrowing, limit }: ScanRequest): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const { tables, within, from, where, byId } =
    ids === null
      ? planEntries(context, filter, bindings, { byId: true })
      : {
          ...{ tables: [], within: null, byId: sql`e.id DESC`, from: entriesById(dialect, ids) },
          where: sql`${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}`,
        }
  // One more than wanted shows whether there are more.
  const newest = sql`newest AS (
    SELECT e.id, e.bytes FROM ${from} WHERE ${where}${before(beforeId)} ORDER BY ${byId} LIMIT ${limit + 1}
  )`
  const known = within === null ? KNOWN : sql`CASE WHEN ${within} THEN ${KNOWN} END`
  const [totals, body] = outcome(known, NONE)
  return withPrelude(bindings, [...tables, newest, ...covering(dialect, limit, narrowing), totals], body)
}

/**
 * Scans a part of the entries: the next ones of the organization or the thread, whether the filter matches them or not. `until` is the last
 * of
 * them, if there may be more.
 *
 * @param share maximum number of entries, and of bytes of metadata
 */
function scanPartStatement(
  context: ReadContext,
  { filter, beforeId, narrowing, limit }: ScanRequest,
  share: ReadBudget,
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
  // The part is read in its order, until the limit is reached.
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

const toCandidate = (row: Row): Candidate => ({
  id: num(row, 'id'),
  threadId: str(row, 'thread_id'),
  bytes: num(row, 'bytes'),
  place: num(row, 'place'),
  text: strOrNull(row, 'text'),
})

/** Returns a number as part of a statement, where a parameter would have no type. */
const whole = (value: number): SQL => sql.raw(String(Math.trunc(value)))

/** Converts the result of a scan; `isKnown` is false when there were too many entries for one statement. */
const toScan =
  (inParts: boolean) =>
  (rows: readonly Row[]): Scan & { readonly isKnown: boolean } => {
    const { known = 0, until = null, covered = 0, last_id: lastId = null } = rows[0] ?? {}
    const more = Number(known) > Number(covered)
    const walkedTo = more ? null : until
    return {
      candidates: rows.filter((row) => row.id !== null).map(toCandidate),
      covered: Number(covered),
      lastId: walkedTo === null ? (lastId === null ? null : Number(lastId)) : Number(walkedTo),
      more: more || walkedTo !== null,
      inParts,
      isKnown: known !== null,
    }
  }

/**
 * Returns whether nearly every entry matches: only private entries of others and expired ones are skipped, in an index.
 */
const admitsNext = ({ projects }: Scope, filter: Filter): boolean =>
  projects === null && conjuncts(filter).every(({ op }) => op === 'thread')

/** Creates the reads of entry texts over any SQL connection. */
export function createSqlEntryTexts(connection: SqlConnection, clock: Clock, indexedFields: IndexedFields): EntryTexts {
  const { dialect } = connection
  const byIds = (ids: readonly number[]): SQL =>
    sql`${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}`

  /** Returns the line index entries before a line, and the range of the text from there. */
  function placeOf(part: Part | undefined): { first: SQL; last: SQL; from: SQL; length: SQL } {
    const none = sql`0`
    if (part === undefined) return { first: none, last: none, from: none, length: none }
    const likely = likelyRange(part)
    if (likely.by === 'chars')
      return { first: none, last: none, from: whole(likely.from), length: whole(likely.length) }
    const before = (line: number): SQL =>
      sql`(SELECT count(*) FROM ${dialect.jsonNumbers(sql`m.starts`)} AS s WHERE s.value < ${whole(line - 1)})`
    const [every, most] = [whole(LINE_INDEX_STEP), whole(likely.most)]
    const wanted = sql`${every} * (x.last_mark - x.first_mark + 1)`
    return {
      first: before(likely.first),
      last: likely.last === null ? whole(likely.most) : before(likely.last + 1),
      from: sql`${every} * x.first_mark`,
      length: sql`CASE WHEN ${wanted} < ${most} THEN ${wanted} ELSE ${most} END + 1`,
    }
  }

  return {
    async scan(scope, request) {
      const context = { dialect, scope, now: clock.now(), indexedFields }
      const share = readBudgetOf(dialect, request.filter)
      const wholly = () => runOne(connection, scanStatement(context, request), toScan(false))
      if (share === null || request.ids !== null || admitsNext(scope, request.filter)) return wholly()
      if (!request.inParts && hasAccessPath(context, request.filter)) {
        const scan = await wholly()
        if (scan.isKnown) return scan
      }
      return runOne(connection, scanPartStatement(context, request, share), toScan(true))
    },

    async texts(scope, ids) {
      if (ids.length === 0) return new Map()
      return runOne(
        connection,
        sql`SELECT e.id, ${textOf()} AS text FROM ${byIds(ids)} WHERE ${listed(dialect, scope, clock.now())}`,
        (rows) => new Map(rows.map((row) => [num(row, 'id'), str(row, 'text')])),
      )
    },

    async measure(scope, id, part) {
      const { first: before, last, from, length } = placeOf(part)
      const row = await runOne(
        connection,
        sql`WITH marked AS MATERIALIZED (
            SELECT e.id, e.text_hash, m.chars, m.lines, m.starts, ${before} AS first_mark, ${last} AS last_mark
            FROM entries e LEFT JOIN text_line_index m ON m.entry_id = e.id AND m.text_hash = e.text_hash
            WHERE e.id = ${id} AND ${visible(dialect, scope, clock.now())}),
          near AS MATERIALIZED (SELECT x.*, ${from} AS start, ${length} AS length FROM marked x)
          SELECT n.text_hash, n.chars, n.lines, n.starts, n.start, n.length,
            (SELECT CASE WHEN n.chars IS NULL THEN ${textOf()}
                WHEN n.length > 0 THEN ${dialect.slice(textOf(), sql`n.chars`, sql`n.start`, sql`n.length`)}
              END FROM entries e WHERE e.id = n.id) AS text
          FROM near n`,
        firstRow((row) => row),
      )
      if (row === null) return null
      const textHash = str(row, 'text_hash')
      const text = strOrNull(row, 'text')
      if (row.chars === null) return { textHash, marks: null, text, range: null }
      const starts = json<number[]>(row, 'starts')
      const marks = { chars: num(row, 'chars'), lines: num(row, 'lines'), starts }
      const start = num(row, 'start')
      // The requested range may end after the text.
      const near = text === null ? null : { from: start, to: start + num(row, 'length'), text }
      return { textHash, marks, text: null, range: near }
    },

    async range(scope, id, textHash, { from, to }) {
      return runOne(
        connection,
        sql`SELECT substr(${textOf()}, ${from + 1}, ${to - from}) AS text FROM entries e
          WHERE e.id = ${id} AND e.text_hash = ${textHash} AND ${visible(dialect, scope, clock.now())}`,
        firstRow((row) => strOrNull(row, 'text')),
      )
    },
  }
}
