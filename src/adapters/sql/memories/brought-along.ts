// How does a memory that is likely to be shown come whole with the rows that it is chosen from? As one JSON text, so that no round trip of
// its own has to bring it.
import { type SQL, sql } from 'drizzle-orm'
import { FADING_DAYS, filesOf, type Moment, SHARES, testsOrBuilds } from '../../../domain/recall/current'
import type { Memory } from '../../../domain/recall/memory'
import type { Row } from '../connection'
import type { SqlDialect } from '../dialect'
import { BESIDE_NAMES, toEntry } from '../entries/rows'
import { textOf } from '../texts/long-texts'
import { SMALL_NAMES } from './memory-statements'
import { BITS, isType } from './moment'
import { daysSince, number } from './patterns'

/**
 * Larger ones are read when they are shown, and most are a tenth of that. Thirty-one come in one value, of which D1 holds 2 MB, and JSON
 * writes six bytes for one of a control character: 31 × 6 × (8,000, and 2,000 of names and titles) are 1.9 MB.
 */
const MOST_BYTES = 8_000

const NAMES = [...SMALL_NAMES, ...BESIDE_NAMES]

/** A memory `e`, or NULL where it is large; null as well where a database does not pack its rows (packed.ts). */
export const wholeColumn = (dialect: SqlDialect): SQL =>
  dialect.packsRows
    ? sql`CASE WHEN e.bytes + length(e.tags) + length(e.summary) + coalesce(length(e.images), 0) <= ${number(MOST_BYTES)}
        THEN json_array(${sql.raw(NAMES.map((name) => `e.${name}`).join(', '))}, ${textOf()}) END`
    : sql`NULL`

export const toMemory = (row: Row): Memory => ({
  ...toEntry(row),
  weight: Number(row.weight),
  pinned: Boolean(row.pinned),
  expiresAt: row.expires_at === null ? null : Number(row.expires_at),
  accessCount: Number(row.access_count),
})

/** Reads the memory in such a column, an array or the text of one; null where there is none. */
export function wholeOf(cell: unknown): (() => Memory) | null {
  if (typeof cell !== 'string' && !Array.isArray(cell)) return null
  return () => {
    const values = typeof cell === 'string' ? (JSON.parse(cell) as unknown[]) : cell
    const row: Row = { text: values[NAMES.length] }
    NAMES.forEach((name, i) => {
      row[name] = values[i]
    })
    return toMemory(row)
  }
}

/**
 * The score of a row with `weight`, `kind`, `updated_at`, `marks` and `cosine` in millionths (`scoreNow` of the domain). It only says
 * what is worth bringing along: what ranks is reckoned in plain code.
 */
export function likelyScore(moment: Moment, now: number): SQL {
  const shares: [SQL, number][] = [
    [sql`(near.marks & ${number(BITS.f)})`, SHARES.file],
    [sql`(near.marks & ${number(BITS.n)})`, SHARES.named],
    [sql`(near.marks & ${number(BITS.c)})`, SHARES.command],
    [sql`(near.marks & ${number(BITS.s)})`, SHARES.session],
    ...(filesOf(moment).length > 0 ? ([[isType('decision', 'near'), SHARES.decision]] as const) : []),
    ...(testsOrBuilds(moment.currentCommand) ? ([[isType('bug_fix', 'near'), SHARES.bugFix]] as const) : []),
  ] as [SQL, number][]
  const sum = shares.map(([holds, share]) => sql` + CASE WHEN ${holds} THEN ${number(share)} ELSE 0 END`)
  const fresh = sql`${number(SHARES.fresh)} * exp(-${daysSince(sql`near.updated_at`, now)} / ${number(FADING_DAYS)}.0)`
  return sql`(near.weight * (${number(SHARES.base)} + ${fresh} + ${number(SHARES.similarity)} * near.cosine / 1e6${sql.join(sum)}))`
}
