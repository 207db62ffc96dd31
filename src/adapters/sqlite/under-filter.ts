// Many entries hold the words of a search: what is known of them, and does its filter admit few, which lead to them, or many?

import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../domain/search/filter'
import { conjuncts } from '../../domain/search/filter-weight'
import { compileFilter } from '../sql/core/compile-filter'
import type { SqlConnection } from '../sql/core/connection'
import type { Bindings } from '../sql/core/dialect'
import { jsonOrNull, numOrNull, onlyRow } from '../sql/core/rows'
import { listed, type Sight } from '../sql/core/visibility'
import { type ReadContext, withPrelude } from '../sql/tables/entries/read-statements'
import { shareOf } from '../sql/tables/entries/share'
import { fewAdmitted } from '../sql/tables/pages/few-admitted'
import { leadsOf } from '../sql/tables/pages/leads'
import { ADMITS_MANY, type Many } from '../sql/tables/search/candidate-rules'
import type { TermCount } from '../sql/tables/search/candidates'
import { sampleTerm } from '../sql/tables/search/scope-terms'
import { countedBySample } from './counted-terms'
import { NOWHERE } from './full-text-index'

/** In how many entries each word of a query stands. */
export type WordCounts = readonly TermCount[]

/** Entries that are each asked for each word; and together, since each takes some 12 µs whatever it holds. */
const [MOST_LED, MOST_ASKED] = [2_000, 16_000]

/** Entries that may each be asked for so many words. */
const mostLed = (words: number): number => Math.min(MOST_LED, Math.floor(MOST_ASKED / words))

const sampled = (org: string, match: string): string => `scope : "${sampleTerm(org)}" AND ${match}`

/**
 * Whether many entries match, behind `held`, of one row, of how many `entries` the org has.
 *
 * @param match what is looked for within the scope, as a MATCH expression
 */
export const manyMatch = (org: string, match: string, { sampled: most, entries }: Many): SQL =>
  sql`CASE WHEN (SELECT entries FROM held) < ${entries} THEN 0 ELSE (
    SELECT count(*) >= ${most} FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ${sampled(org, match)} LIMIT ${most})
  ) END`

/** What is known of a search that many entries match. */
export interface KnownOfMany {
  readonly counts: WordCounts
  /** Whether the filter admits many of them; one that asks for a place alone does. */
  readonly admitsMany: boolean
  /** The entries that it admits, where these are known to be few. */
  readonly ids: readonly number[] | null
}

interface Asked {
  readonly context: ReadContext
  readonly sight: Sight
  /** Null where nothing but a place is asked. */
  readonly filter: Filter | null
  /** A query of how many `entries` the scope may have, and how many `bytes` of text. */
  readonly held: SQL
  readonly many: SQL
  /** What is looked for, and each of its words, within the scope, as MATCH expressions. */
  readonly match: string
  readonly inside: readonly string[]
}

/** One row of what is known where many entries match; of `counts` null where they do not. */
export function ifMany({ context, sight, filter, held, many, match, inside }: Asked): SQL {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const isMany = sql`(SELECT yes FROM fits)`
  const tables = [
    sql`held (entries, bytes) AS MATERIALIZED (${held})`,
    sql`fits (yes) AS MATERIALIZED (SELECT ${many} FROM held)`,
    sql`counts AS MATERIALIZED (${countedBySample(scope.org, inside)})`,
  ]
  const counts = sql`CASE WHEN ${isMany} THEN (SELECT json_group_array(json(count) ORDER BY place) FROM counts) END AS counts`
  if (filter === null) return withPrelude(bindings, tables, sql`SELECT ${counts}, NULL AS admitted, NULL AS ids`)

  const isAdmitted = sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  const newest = sql`SELECT rowid AS id FROM entries_fts
    WHERE entries_fts MATCH CASE WHEN ${isMany} THEN ${sampled(scope.org, match)} ELSE ${NOWHERE} END
    ORDER BY rowid DESC LIMIT ${ADMITS_MANY.asked}`
  const admitted = sql`(SELECT count(*) FROM (${newest}) one CROSS JOIN entries e ON e.id = one.id WHERE ${isAdmitted})`
  const led = isOfLists(sight) ? leadTo(context, filter, bindings, mostLed(inside.length)) : null
  const ids =
    led === null
      ? sql`NULL`
      : sql`CASE WHEN ${isMany} AND ${led.within} THEN (SELECT json_group_array(e.id) FROM ${led.from} WHERE ${isAdmitted}) END`
  return withPrelude(
    bindings,
    [...tables, ...(led?.tables ?? [])],
    sql`SELECT ${counts}, ${admitted} AS admitted, ${ids} AS ids`,
  )
}

/** Indexes lead to what lists show. */
const isOfLists = ({ diaryOf, captured }: Sight): boolean => diaryOf === null && captured === null

/** The entries that a filter admits, where no index led to them and they are few enough to be asked each for so many words; else null. */
export const walkedTo = async (
  connection: SqlConnection,
  { context, sight, filter, words }: Pick<Asked, 'context' | 'sight' | 'filter'> & { readonly words: number },
): Promise<readonly number[] | null> =>
  filter === null || !isOfLists(sight) ? null : fewAdmitted(connection, context, filter, mostLed(words))

/** `entries e` to which an index leads by a part of the filter, where these are no more than that; by a time, where nothing else leads. */
function leadTo(context: ReadContext, filter: Filter, bindings: Bindings, most: number) {
  const share = shareOf(context.dialect, filter)
  if (share === null) return null
  const entries = Math.min(most, share.entries)
  const leads = leadsOf(context, filter, bindings, { ...share, entries }, { byId: true })
  const times = conjuncts(filter).filter(({ op }) => op === 'created')
  if (leads !== null || times.length === 0) return leads
  const { dialect, scope } = context
  const inTime = sql`${dialect.plan.entriesBy('entries_created_idx')}
    WHERE e.org = ${scope.org} AND e.listed = 1 AND ${compileFilter({ op: 'and', of: times }, dialect, bindings.bind)}`
  return {
    tables: [
      sql`timed AS MATERIALIZED (SELECT e.id FROM ${inTime} ORDER BY e.created_second DESC LIMIT ${entries + 1})`,
    ],
    within: sql`(SELECT count(*) FROM timed) <= ${entries}`,
    from: sql`timed ${dialect.plan.follow('entries', 'e', sql`e.id = timed.id`)}`,
  }
}

/** Of `ifMany`; null where not many match. */
export const knownOfMany = onlyRow((row): KnownOfMany | null => {
  const counts = jsonOrNull<WordCounts>(row, 'counts')
  if (counts === null) return null
  const admitted = numOrNull(row, 'admitted')
  return {
    counts,
    admitsMany: admitted === null || admitted >= ADMITS_MANY.admitted,
    ids: jsonOrNull<number[]>(row, 'ids'),
  }
})
