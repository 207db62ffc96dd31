import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../domain/identity/scope'
import type { Filter } from '../../../domain/search/filter'
import { weightOf } from '../../../domain/search/filter-weight'
import { type AskedWord, together, type Way } from './asked-words'
import { COST, POSTINGS, SHARES } from './cost'
import { postingsOf, SEGMENTS } from './postings'

/**
 * What may a search make FTS5 read? It goes through where a word stands in every text, once for each time that a statement asks for the
 * word, and nobody else is served meanwhile (platform contract §6).
 */

const MERGING = Math.ceil(SHARES.once / SHARES.beginning)

/** Where they hardly stand together: each class is looked through, and asks for all words and the scope. Of three words as often. */
const apart = (words: number): number => Math.max(together(words), ((2 ** words - 1) * (words + 1)) / 7)

/** How many `entries` a search may have to go through, and how many `bytes` of text: of the thread where it names one, or of the org. */
export const heldIn = ({ org }: Scope, thread: string | null): SQL => {
  const from =
    thread === null
      ? sql`sum(entries), 0), coalesce(sum(bytes), 0) FROM entry_counters WHERE org = ${org}`
      : sql`sum(entries), 0), coalesce(sum(bytes), 0) FROM thread_counters WHERE org = ${org} AND thread_id = ${thread}`
  return sql`SELECT coalesce(${from}`
}

interface Fitting {
  readonly asked: readonly AskedWord[]
  readonly way: Way
  /** What is asked of each entry with a word. */
  readonly filter: Filter
  /** A query of how many `entries` the scope may have, and how many `bytes` of text. */
  readonly held: SQL
  readonly share: number
  /** Whether many entries hold all of the words, and whether very many do: looked at where it decides. */
  readonly isDense: SQL
  readonly isVeryDense: SQL
  /** Whether the search is not asked at all, of a table `held` of one row; null where it always is. */
  readonly unless: SQL | null
}

/** `fits`: a table of one row that says whether what is asked of the index stays within a share. */
export function fitsTable({ asked, way, filter, held, share, isDense, isVeryDense, unless }: Fitting): SQL {
  const words = JSON.stringify(
    asked.map(({ word, prefix, times }) => [word, prefix ? 1 : 0, times * (prefix ? MERGING : 1)]),
  )
  // By classes an entry is come to once, whatever words it holds; else for each of its words, each time that this is asked for.
  const isOnce = way === 'classes' || way === 'class'
  /** How many times as much it is where the words hardly stand together. */
  const longer = way === 'classes' ? apart(asked.length) / together(asked.length) : 1
  /** And where a few steps lead to enough, whose postings are not gone through to their end: twice is more than was measured. */
  const shorter = way === 'classes' ? sql.raw((2 / together(asked.length)).toFixed(2)) : sql`1`
  const all = longer * asked.reduce((sum, { times, prefix }) => sum + times * (prefix ? MERGING : 1), 0)
  const [densest, entry, least] = [POSTINGS.most, COST.found, POSTINGS.least].map((value) => sql.raw(String(value)))
  const weight = weightOf(filter)
  const [asks, above, byte] = [weight.entry * COST.filtered, weight.above, weight.byte * COST.metadata].map((value) =>
    sql.raw(value.toFixed(2)),
  )
  // Metadata are looked at once, as far as they are not large, and are part of what is held.
  const filtered = (entries: SQL): SQL =>
    weight.byte === 0 ? sql`0` : sql`(${entries} * ${asks} + min(${entries} * ${above}, held.bytes) * ${byte})`
  const withWord = sql`min(held.entries, postings.bytes / ${least})`
  const found = isOnce
    ? sql`min(held.entries, sum(postings.bytes) / ${least}) * ${entry}`
    : sql`sum(times * ${withWord} * ${entry})`
  const cost = sql`coalesce(sum(times * postings.bytes + ${filtered(withWord)}) + ${found}, 0)`
  const within = (all: SQL): SQL => sql`${all} <= ${share}`
  const atMost = sql`bytes * ${densest} * ${all} + entries * ${entry} * ${isOnce ? 1 : all}`
  return sql`held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS MATERIALIZED (
    SELECT CASE
      ${unless === null ? sql`` : sql`WHEN ${unless} THEN 0`}
      WHEN ${within(sql`${atMost} + ${filtered(sql`held.entries`)} * ${asked.length}`)} THEN 1
      ELSE (
        WITH RECURSIVE ${SEGMENTS}, postings (times, bytes) AS (
          SELECT asked.value ->> 2, ${postingsOf(sql`(asked.value ->> 0)`, sql`(asked.value ->> 1)`)} FROM json_each(${words}) asked
        )
        SELECT CASE WHEN ${within(sql`${cost} * ${longer}`)} THEN 1 WHEN ${within(cost)} THEN ${isDense}
          WHEN ${within(sql`${cost} * ${shorter}`)} THEN ${isVeryDense} ELSE 0 END
        FROM postings
      )
    END FROM held
  )`
}
