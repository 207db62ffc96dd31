import { type SQL, sql } from 'drizzle-orm'
import { VERDICTS } from '../../../../domain/currency/pair'
import { hasSubject, REPLACEABLE } from '../../../../domain/currency/subject'
import type { Metadata } from '../../../../domain/entry/metadata'
import { MINUTE_MS } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type {
  JudgedPair,
  MemoryContent,
  MemoryPairs,
  PairOfOrg,
  PairWithMemories,
  StoredMemory,
} from '../../../../ports/memory-pairs'
import { Batch, readOne, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, each, firstRow, flag, jsonOrNull, num, numOrNull, oneOf, str, strOrNull } from '../../core/rows'
import { inProject, listed, listedToChange } from '../../core/visibility'
import { recordScanned, scannedStatement } from '../../tables/currency/scanned-pairs'
import { ENTRY_COLUMNS, kindOf, toEntry } from '../../tables/entries/entry-rows'
import { entriesById } from '../../tables/entries/read-statements'
import { superseded } from '../../tables/links/links'
import { previewOf } from '../../tables/texts/long-texts'

/** Entries that one batch checks for memories with a subject. */
const HEADS = 400
/** Minimum age of a memory: a write with a lower ID may still be uncommitted. */
const COMMITTED_MS = MINUTE_MS
/** Duration of a lease, and the minimum time between two questions to a model about the same contents. */
const CLAIM_MS = 10 * MINUTE_MS
const MOST_ATTEMPTS = 4
/** Maximum characters of metadata that are read for the judgements in them. */
const MOST_METADATA = 20_000

const verdictOf = oneOf(VERDICTS)

const toPair = (row: Row): PairOfOrg => ({
  org: str(row, 'org'),
  later: num(row, 'later_id'),
  earlier: num(row, 'earlier_id'),
})

const toJudged = (row: Row): JudgedPair => ({
  later: num(row, 'later_id'),
  earlier: num(row, 'earlier_id'),
  verdict: row.verdict === null ? null : verdictOf(row, 'verdict'),
  judged: strOrNull(row, 'judged'),
})

function toContent(row: Row, side: 'later' | 'earlier'): MemoryContent | null {
  const hash = strOrNull(row, `${side}_hash`)
  if (hash === null) return null
  return {
    ...{ id: num(row, `${side}_id`), title: strOrNull(row, `${side}_title`), textHash: hash },
    metadata: jsonOrNull<Metadata>(row, `${side}_metadata`),
  }
}

const toPairWithMemories = (row: Row): PairWithMemories => ({
  ...toPair(row),
  ...toJudged(row),
  memories: [toContent(row, 'later'), toContent(row, 'earlier')],
})

const toMemory = (row: Row): StoredMemory => ({ ...toEntry(row), org: str(row, 'org'), diary: flag(row, 'diary') })

/** Creates the store of memory pairs over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlMemoryPairs(connection: SqlConnection, clock: Clock): MemoryPairs {
  const { dialect } = connection
  const only = ({ org, later, earlier }: PairOfOrg): SQL =>
    sql`org = ${org} AND later_id = ${later} AND earlier_id = ${earlier}`
  const given = (pairs: readonly PairOfOrg[]): SQL =>
    dialect.jsonTable(sql`${JSON.stringify(pairs.map(({ org, later, earlier }) => [org, later, earlier]))}`, {
      ...{ org: 'text', later_id: 'integer', earlier_id: 'integer' },
    })
  const among = (pairs: readonly PairOfOrg[]): SQL =>
    sql`EXISTS (SELECT 1 FROM ${given(pairs)} g
      WHERE g.org = memory_pairs.org AND g.later_id = memory_pairs.later_id AND g.earlier_id = memory_pairs.earlier_id)`
  const run = async (statement: SQL): Promise<void> => void (await new Batch(statement).run(connection))

  return {
    async fresh(limit) {
      const from = await readOne(
        connection,
        scannedStatement(),
        firstRow((row) => Number(row.value)),
      )
      const heads = await readOne(
        connection,
        sql`SELECT e.id, e.kind, e.title, e.diary, e.created_at FROM entries e WHERE e.id > ${from ?? 0} ORDER BY e.id LIMIT ${HEADS}`,
        asRows,
      )
      const now = clock.now()
      const ids: number[] = []
      let upTo: number | null = null
      let isYoung = false
      for (const row of heads) {
        const createdAt = num(row, 'created_at')
        isYoung = createdAt > now - COMMITTED_MS && createdAt <= now
        if (ids.length === limit || isYoung) break
        upTo = num(row, 'id')
        const one = { kind: kindOf(row, 'kind'), title: strOrNull(row, 'title') }
        if (REPLACEABLE.has(one.kind) && hasSubject(one) && !flag(row, 'diary')) ids.push(upTo)
      }
      return { ids, from, upTo, isPart: !isYoung && (ids.length === limit || heads.length === HEADS) }
    },

    recordScanned: async ({ from, upTo }) => (upTo === null ? undefined : run(recordScanned(from, upTo))),

    async memories(ids, length) {
      if (ids.length === 0) return []
      return readOne(
        connection,
        sql`SELECT ${ENTRY_COLUMNS}, e.org, e.diary, ${previewOf(dialect, length)} AS text FROM ${entriesById(dialect, ids)}`,
        each(toMemory),
      )
    },

    async add(pairs) {
      if (pairs.length === 0) return
      await run(sql`
        INSERT INTO memory_pairs (org, later_id, earlier_id, due_at)
        SELECT g.org, g.later_id, g.earlier_id, ${clock.now()} FROM ${given(pairs)} g WHERE 1 = 1
        ON CONFLICT (org, later_id, earlier_id) DO NOTHING`)
    },

    async list(scope, { project, limit }) {
      const now = clock.now()
      const ofProject = project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`l.project`)}`
      return readOne(
        connection,
        sql`SELECT p.later_id, p.earlier_id, p.verdict, p.judged
          FROM memory_pairs p
            ${dialect.plan.follow('entries', 'l', sql`l.id = p.later_id`)}
            ${dialect.plan.follow('entries', 'e', sql`e.id = p.earlier_id`)}
          WHERE p.org = ${scope.org} AND (p.verdict IS NULL OR p.verdict <> 'both_hold')
            AND ${listedToChange(dialect, scope, now, 'l')}${ofProject} AND ${listed(dialect, scope, now, 'e')}
            AND NOT ${superseded({ dialect, visibility: { scope, diaryOf: null }, now })}
          ORDER BY p.later_id DESC, p.earlier_id DESC LIMIT ${limit}`,
        each(toJudged),
      )
    },

    async disagreeing(scope, ids) {
      if (ids.length < 2) return []
      const wanted = dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)
      return readOne(
        connection,
        sql`SELECT p.later_id, p.earlier_id, p.verdict, p.judged FROM memory_pairs p
          WHERE p.org = ${scope.org} AND p.later_id IN (SELECT value FROM ${wanted} one)
            AND p.earlier_id IN (SELECT value FROM ${wanted} other) AND p.verdict IN ('replaces', 'contradicts')
          ORDER BY p.later_id DESC, p.earlier_id DESC`,
        each(toJudged),
      )
    },

    async claim(limit) {
      const now = clock.now()
      const due = await readOne(
        connection,
        sql`SELECT org, later_id, earlier_id, attempts, due_at FROM memory_pairs
          WHERE due_at IS NOT NULL AND due_at <= ${now} ORDER BY due_at, later_id DESC LIMIT ${limit}`,
        asRows,
      )
      const batch = new Batch()
      const claimed = due.map((row) => {
        const attempts = num(row, 'attempts') + 1
        const until = attempts >= MOST_ATTEMPTS ? null : now + CLAIM_MS * 2 ** (attempts - 1)
        return batch.add(
          sql`UPDATE memory_pairs SET attempts = ${attempts}, due_at = ${until}
            WHERE ${only(toPair(row))} AND due_at = ${numOrNull(row, 'due_at')} RETURNING org, later_id, earlier_id`,
          each(toPair),
        )
      })
      const result = await batch.run(connection)
      return claimed.flatMap((one) => result.of(one))
    },

    putOff: (pair, until) =>
      run(sql`UPDATE memory_pairs SET attempts = attempts - 1, due_at = ${until} WHERE ${only(pair)}`),

    judge: (pair, verdict, judged) =>
      run(sql`UPDATE memory_pairs SET verdict = ${verdict}, judged = ${judged}, due_at = NULL WHERE ${only(pair)}`),

    async page(after, limit) {
      const behind =
        after === null
          ? sql`1 = 1`
          : sql`(p.org, p.later_id, p.earlier_id) > (${after.org}, ${after.later}, ${after.earlier})`
      const metadata = (alias: string): SQL => {
        const e = sql.raw(alias)
        return sql`CASE WHEN length(${e}.metadata) <= ${MOST_METADATA} THEN ${e}.metadata END`
      }
      return runOne(
        connection,
        sql`SELECT p.org, p.later_id, p.earlier_id, p.verdict, p.judged,
            l.text_hash AS later_hash, l.title AS later_title, ${metadata('l')} AS later_metadata,
            e.text_hash AS earlier_hash, e.title AS earlier_title, ${metadata('e')} AS earlier_metadata
          FROM memory_pairs p
            LEFT JOIN entries l ON l.id = p.later_id
            LEFT JOIN entries e ON e.id = p.earlier_id
          WHERE ${behind} ORDER BY p.org, p.later_id, p.earlier_id LIMIT ${limit}`,
        each(toPairWithMemories),
      )
    },

    async reopen(pairs) {
      if (pairs.length === 0) return
      await run(
        sql`UPDATE memory_pairs SET verdict = NULL, judged = NULL, attempts = 0, due_at = ${clock.now()} WHERE ${among(pairs)}`,
      )
    },

    async remove(pairs) {
      if (pairs.length > 0) await run(sql`DELETE FROM memory_pairs WHERE ${among(pairs)}`)
    },
  }
}
