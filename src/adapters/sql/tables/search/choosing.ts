// What candidates of a search by words are chosen by (`domain/search/candidate-rules.ts`), as SQL that both databases read alike.
import { type SQL, sql } from 'drizzle-orm'
import { BREVITIES, LENGTH_STEPS, SAMPLED_BY } from '../../../../domain/search/candidate-rules'
import type { Unit } from '../../../../domain/search/query-unit'

const [most, ...others] = BREVITIES

/** How far a candidate's words count more where they stand among few; the same doubles on both databases. */
export const brevity = (words: SQL): SQL => {
  const steps = BREVITIES.slice(0, -1).map(
    (value, i) => sql`WHEN ${words} < ${sql.raw(`${LENGTH_STEPS[i + 1]} THEN ${value} `)}`,
  )
  return sql`CAST(CASE ${sql.join(steps)}ELSE ${sql.raw(String(others.at(-1)))} END AS double precision)`
}

/** That of no words: none is above it. */
export const MOST_BREVITY = sql.raw(String(most))

/** Whether an entry with this id is in the sample in which common words are counted. */
export const isSampled = (id: SQL): SQL => {
  const [golden, range, below] = [SAMPLED_BY.golden, SAMPLED_BY.range, SAMPLED_BY.below].map((n) => sql.raw(String(n)))
  return sql`(${id} % ${range} * ${golden}) % ${range} < ${below}`
}

/** Entries with a term are counted up to here, in the order of ids, where candidates come from one thread and others are only counted. */
export const COUNTED = 1000

/** What candidates are ordered by where a query asks for its units; doubles on both databases. */
export const unitKey = (weight: SQL, shortness: SQL): SQL => sql`(${weight} * ${shortness})`

/**
 * A key that none is above who lacks one of the units, of columns `weight`, of all words together, and `lightest`, of one. Who lacks a unit
 * lacks a word, unless the unit is several words next to each other.
 *
 * @param composed units of several words
 */
export const keyOfOthers = (composed: readonly Unit[]): SQL =>
  unitKey(sql`(weight - ${sql.raw(composed.length > 0 ? '0' : 'lightest')})`, MOST_BREVITY)
