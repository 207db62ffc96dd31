import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import { MARK_EVERY } from '../../../../domain/reading/marks'
import { likelyStretch, type Part } from '../../../../domain/reading/range'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { Clock } from '../../../../ports/clock'
import type { Candidate, EntryTexts, Scan } from '../../../../ports/entry-texts'
import type { Row, SqlConnection } from '../../core/connection'
import { listed, visible } from '../../core/visibility'
import { shareOf } from '../../tables/entries/share'
import { hasLead } from '../../tables/pages/leads'
import { scanPartStatement, scanStatement } from '../../tables/pages/scan-statements'
import { textOf } from '../../tables/texts/long-texts'

const toCandidate = (row: Row): Candidate => ({
  id: Number(row.id),
  threadId: row.thread_id as string,
  bytes: Number(row.bytes),
  place: Number(row.place),
  text: row.text as string | null,
})

/** A number in the text of a statement, where a parameter would have no type. */
const whole = (value: number): SQL => sql.raw(String(Math.trunc(value)))

function toScan(rows: readonly Row[], inParts: boolean): Scan {
  const { known = 0, until = null, covered = 0, last_id: lastId = null } = rows[0] ?? {}
  const more = Number(known) > Number(covered)
  const walkedTo = more ? null : until
  return {
    candidates: rows.filter((row) => row.id !== null).map(toCandidate),
    covered: Number(covered),
    lastId: walkedTo === null ? (lastId === null ? null : Number(lastId)) : Number(walkedTo),
    more: more || walkedTo !== null,
    inParts,
  }
}

/** Whether what comes next is admitted, as a rule: only what is private to others, and what has expired, is passed over, in an index. */
const admitsNext = ({ projects }: Scope, filter: Filter): boolean =>
  projects === null && conjuncts(filter).every(({ op }) => op === 'thread')

/** Texts of entries over any SQL connection. */
export function createSqlEntryTexts(
  connection: SqlConnection,
  clock: Clock,
  indexedFields: ReadonlySet<string>,
): EntryTexts {
  const { dialect } = connection
  const byIds = (ids: readonly number[]): SQL =>
    sql`${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)}`

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

  return {
    async scan(scope, request) {
      const context = { dialect, scope, now: clock.now(), indexedFields }
      const share = shareOf(dialect, request.filter)
      const one = async (statement: SQL) => (await connection.batch([statement]))[0] ?? []
      if (share === null || request.ids !== null || admitsNext(scope, request.filter))
        return toScan(await one(scanStatement(context, request)), false)
      if (!request.inParts && hasLead(context, request.filter)) {
        const rows = await one(scanStatement(context, request))
        if (rows[0]?.known !== null) return toScan(rows, false)
      }
      return toScan(await one(scanPartStatement(context, request, share)), true)
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
            WHERE e.id = ${id} AND ${visible(dialect, scope, clock.now())}),
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
          WHERE e.id = ${id} AND e.text_hash = ${textHash} AND ${visible(dialect, scope, clock.now())}`,
      ])
      return (rows?.[0]?.text as string | undefined) ?? null
    },
  }
}
