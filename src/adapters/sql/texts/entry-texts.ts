import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../domain/identity/scope'
import type { Narrowing } from '../../../domain/reading/literal'
import { MARK_EVERY } from '../../../domain/reading/marks'
import { likelyStretch, type Part } from '../../../domain/reading/range'
import type { Clock } from '../../../ports/clock'
import type { Candidate, EntryTexts, ScanRequest } from '../../../ports/entry-texts'
import { compileFilter, TRUE } from '../compile-filter'
import type { Row, SqlConnection } from '../connection'
import type { Bindings } from '../dialect'
import { type Plan, planEntries, withPrelude } from '../entries/read-statements'
import { listed, readable } from '../visibility'
import { textOf } from './long-texts'

/** One statement looks through so many bytes of entries, and a bit more: on D1 nothing else of this process goes on meanwhile. */
const MAX_SCAN_BYTES = 16_000_000
/** Texts that come with the scan, in bytes. */
const MAX_FIRST_BYTES = 1_000_000

const toCandidate = (row: Row): Candidate => ({
  id: Number(row.id),
  threadId: row.thread_id as string,
  bytes: Number(row.bytes),
  place: Number(row.place),
  text: row.text as string | null,
})

/** A number in the text of a statement, where a parameter would have no type. */
const whole = (value: number): SQL => sql.raw(String(Math.trunc(value)))

/** Texts of entries over any SQL connection. */
export function createSqlEntryTexts(
  connection: SqlConnection,
  clock: Clock,
  indexedFields: ReadonlySet<string>,
): EntryTexts {
  const { dialect } = connection
  const byIds = (ids: readonly number[]): SQL =>
    sql`${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}`

  function admitted(
    scope: Scope,
    { filter, ids }: ScanRequest,
    bindings: Bindings,
  ): Pick<Plan, 'from' | 'where' | 'byId'> {
    const now = clock.now()
    if (ids === null) return planEntries({ dialect, scope, now, indexedFields }, filter, bindings, { byId: true })
    const condition = compileFilter(filter, dialect, bindings.bind)
    return { from: byIds(ids), where: sql`${listed(dialect, scope, now)} AND ${condition}`, byId: sql`e.id DESC` }
  }

  /** The marks before a line, and a stretch of the text from them on. */
  function placeOf(part: Part | undefined): { first: SQL; last: SQL; from: SQL; length: SQL } {
    const none = sql`0`
    if (part === undefined) return { first: none, last: none, from: none, length: none }
    const likely = likelyStretch(part)
    if (likely.by === 'chars')
      return { first: none, last: none, from: whole(likely.from), length: whole(likely.length) }
    const before = (line: number): SQL =>
      sql`(SELECT count(*) FROM ${dialect.jsonNumbers(sql`m.starts`)} AS s WHERE s.value < ${whole(line - 1)})`
    const [every, most] = [whole(MARK_EVERY), whole(likely.most)]
    const wanted = sql`${every} * (x.last_mark - x.first_mark + 1)`
    return {
      first: before(likely.first),
      last: likely.last === null ? whole(likely.most) : before(likely.last + 1),
      from: sql`${every} * x.first_mark`,
      length: sql`CASE WHEN ${wanted} < ${most} THEN ${wanted} ELSE ${most} END + 1`,
    }
  }

  const holds = (narrowing: Narrowing | null): SQL =>
    narrowing === null
      ? TRUE
      : dialect.contains(narrowing.fold ? sql`lower(${textOf()})` : textOf(), sql`${narrowing.part}`)

  return {
    async scan(scope, request) {
      const { beforeId, narrowing, limit } = request
      const bindings = dialect.bindings()
      const { from, where, byId } = admitted(scope, request, bindings)
      const before = beforeId === null ? sql`` : sql`AND e.id < ${beforeId}`
      const tables = [
        // One more than is wanted tells whether there is more.
        sql`newest AS (
          SELECT e.id, e.bytes FROM ${from} WHERE ${where} ${before} ORDER BY ${byId} LIMIT ${limit + 1}
        )`,
        sql`placed AS (SELECT id, row_number() OVER (ORDER BY id DESC) AS place,
          sum(bytes) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) - bytes AS before FROM newest)`,
        sql`covered AS MATERIALIZED (SELECT id, place FROM placed WHERE place <= ${limit} AND before < ${MAX_SCAN_BYTES})`,
        sql`found AS MATERIALIZED (SELECT e.id, e.thread_id, c.place, e.bytes,
          sum(e.bytes) OVER (ORDER BY c.place ROWS UNBOUNDED PRECEDING) AS upto
          FROM covered c ${dialect.follow('entries', 'e', sql`e.id = c.id`)}
          WHERE ${holds(narrowing)})`,
        sql`totals AS (SELECT (SELECT count(*) FROM newest) AS known, count(*) AS covered, min(id) AS last_id FROM covered)`,
      ]
      const [rows] = await connection.batch([
        withPrelude(
          bindings,
          tables,
          // A subquery for each text: joined, PostgreSQL would gather the entries of all orgs first.
          sql`SELECT t.known, t.covered, t.last_id, f.id, f.place, f.bytes, f.thread_id,
              CASE WHEN f.upto <= ${MAX_FIRST_BYTES} THEN (SELECT ${textOf()} FROM entries e WHERE e.id = f.id) END AS text
            FROM totals t LEFT JOIN found f ON ${TRUE}
            ORDER BY f.place`,
        ),
      ])
      const totals = rows?.[0] ?? { known: 0, covered: 0, last_id: null }
      return {
        candidates: (rows ?? []).filter((row) => row.id !== null).map(toCandidate),
        covered: Number(totals.covered),
        lastId: totals.last_id === null ? null : Number(totals.last_id),
        more: Number(totals.known) > Number(totals.covered),
      }
    },

    async texts(scope, ids) {
      if (ids.length === 0) return new Map()
      const [rows] = await connection.batch([
        sql`SELECT e.id, ${textOf()} AS text FROM ${byIds(ids)} WHERE ${listed(dialect, scope, clock.now())}`,
      ])
      return new Map((rows ?? []).map((row) => [Number(row.id), row.text as string]))
    },

    async measure(scope, id, part) {
      const { first, last, from, length } = placeOf(part)
      const [rows] = await connection.batch([
        sql`WITH marked AS MATERIALIZED (
            SELECT e.id, e.text_hash, m.chars, m.lines, m.starts, ${first} AS first_mark, ${last} AS last_mark
            FROM entries e LEFT JOIN text_marks m ON m.entry_id = e.id AND m.text_hash = e.text_hash
            WHERE e.id = ${id} AND ${readable(dialect, scope, clock.now())}),
          near AS MATERIALIZED (SELECT x.*, ${from} AS start, ${length} AS length FROM marked x)
          SELECT n.text_hash, n.chars, n.lines, n.starts, n.start, n.length,
            (SELECT CASE WHEN n.chars IS NULL THEN ${textOf()}
                WHEN n.length > 0 THEN ${dialect.slice(textOf(), sql`n.chars`, sql`n.start`, sql`n.length`)}
              END FROM entries e WHERE e.id = n.id) AS text
          FROM near n`,
      ])
      const row = rows?.[0]
      if (row === undefined) return null
      const textHash = row.text_hash as string
      const text = row.text as string | null
      if (row.chars === null) return { textHash, marks: null, text, near: null }
      const starts = JSON.parse(row.starts as string) as number[]
      const marks = { chars: Number(row.chars), lines: Number(row.lines), starts }
      const start = Number(row.start)
      // What was asked for may end behind the text.
      const near = text === null ? null : { from: start, to: start + Number(row.length), text }
      return { textHash, marks, text: null, near }
    },

    async stretch(scope, id, textHash, { from, to }) {
      const [rows] = await connection.batch([
        sql`SELECT substr(${textOf()}, ${from + 1}, ${to - from}) AS text FROM entries e
          WHERE e.id = ${id} AND e.text_hash = ${textHash} AND ${readable(dialect, scope, clock.now())}`,
      ])
      return (rows?.[0]?.text as string | undefined) ?? null
    },
  }
}
