import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import { MARK_EVERY } from '../../../../domain/reading/marks'
import { likelyStretch, type Part } from '../../../../domain/reading/range'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { Clock } from '../../../../ports/clock'
import type { Candidate, EntryTexts, Scan } from '../../../../ports/entry-texts'
import { runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { IndexedFields } from '../../core/dialect'
import { firstRow, json, num, str, strOrNull } from '../../core/rows'
import { listed, visible } from '../../core/visibility'
import { shareOf } from '../../tables/entries/share'
import { hasLead } from '../../tables/pages/leads'
import { scanPartStatement, scanStatement } from '../../tables/pages/scan-statements'
import { textOf } from '../../tables/texts/long-texts'

const toCandidate = (row: Row): Candidate => ({
  id: num(row, 'id'),
  threadId: str(row, 'thread_id'),
  bytes: num(row, 'bytes'),
  place: num(row, 'place'),
  text: strOrNull(row, 'text'),
})

/** A number in the text of a statement, where a parameter would have no type. */
const whole = (value: number): SQL => sql.raw(String(Math.trunc(value)))

/** What a scan found; `isKnown` is false where there were too many entries to look at them in one statement. */
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

/** Whether what comes next is admitted, as a rule: only what is private to others, and what has expired, is passed over, in an index. */
const admitsNext = ({ projects }: Scope, filter: Filter): boolean =>
  projects === null && conjuncts(filter).every(({ op }) => op === 'thread')

/** Texts of entries over any SQL connection. */
export function createSqlEntryTexts(connection: SqlConnection, clock: Clock, indexedFields: IndexedFields): EntryTexts {
  const { dialect } = connection
  const byIds = (ids: readonly number[]): SQL =>
    sql`${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.value`)}`

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
      const wholly = () => runOne(connection, scanStatement(context, request), toScan(false))
      if (share === null || request.ids !== null || admitsNext(scope, request.filter)) return wholly()
      if (!request.inParts && hasLead(context, request.filter)) {
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
      if (row.chars === null) return { textHash, marks: null, text, near: null }
      const starts = json<number[]>(row, 'starts')
      const marks = { chars: num(row, 'chars'), lines: num(row, 'lines'), starts }
      const start = num(row, 'start')
      // What was asked for may end behind the text.
      const near = text === null ? null : { from: start, to: start + num(row, 'length'), text }
      return { textHash, marks, text: null, near }
    },

    async stretch(scope, id, textHash, { from, to }) {
      return runOne(
        connection,
        sql`SELECT substr(${textOf()}, ${from + 1}, ${to - from}) AS text FROM entries e
          WHERE e.id = ${id} AND e.text_hash = ${textHash} AND ${visible(dialect, scope, clock.now())}`,
        firstRow((row) => strOrNull(row, 'text')),
      )
    },
  }
}
