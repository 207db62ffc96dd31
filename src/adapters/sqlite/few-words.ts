// Of a query of many words, which may its candidates be chosen by, and is that asked for?
import { type SQL, sql } from 'drizzle-orm'
import { type ManyMatch, tellingWords } from '../../domain/search/candidate-rules'
import type { TextQuery } from '../../domain/search/query'
import type { TextSearch } from '../../ports/full-text'
import { jsonOrNull, onlyRow } from '../sql/core/rows'
import type { AnySearch, TermCount } from '../sql/tables/search/candidates'
import { sampleTerm } from '../sql/tables/search/scope-terms'
import { countedBySample } from './counted-terms'

/**
 * Whether many entries hold one of the words, behind `held`, of one row, of how many `entries` the org has.
 *
 * @param anyWord what holds one of them within the scope, as a MATCH expression
 */
export function manyHold(org: string, anyWord: string, { entries, sampled }: ManyMatch): SQL {
  const match = `scope : "${sampleTerm(org)}" AND ${anyWord}`
  return sql`CASE WHEN (SELECT entries FROM held) < ${entries} THEN 0 ELSE (
    SELECT count(*) >= ${sampled} FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ${match} LIMIT ${sampled})
  ) END`
}

/** One row of `counts`, of each word as JSON; null unless `many` says that these are wanted. */
export const countsIfMany = (org: string, held: SQL, many: SQL, inside: readonly string[]): SQL => sql`
  WITH held (entries, bytes) AS MATERIALIZED (${held}), fits (yes) AS MATERIALIZED (SELECT ${many} FROM held),
    counts AS MATERIALIZED (${countedBySample(org, inside)})
  SELECT CASE WHEN (SELECT yes FROM fits) THEN (SELECT json_group_array(json(count) ORDER BY place) FROM counts) END AS counts`

/** In how many entries each word of a query stands. */
type WordCounts = readonly TermCount[]

export const countsOfMany = onlyRow((row) => jsonOrNull<WordCounts>(row, 'counts'))

/** How candidates are chosen by some words of a query. */
export interface FewWords {
  /** In how many entries each of these stands. */
  readonly counts: WordCounts
  /** And each word of the query. */
  readonly ofAll: WordCounts
}

/**
 * The candidates of the words that tell most, and beside them, where these are too few, of those that follow.
 *
 * @param ofAll in how many entries each word of the query stands
 * @param ask a search by some of its words
 */
export async function byFewWords(
  request: AnySearch,
  ofAll: WordCounts,
  ask: (request: AnySearch, few: FewWords) => Promise<TextSearch>,
): Promise<TextSearch> {
  const { query, terms, depth } = request
  const by = (places: readonly number[]): Promise<TextSearch> => {
    const wanted = places.map((place) => terms[place] as (typeof terms)[number])
    const units = wanted.map(({ term }) => ({ terms: [term], prefix: false, phrase: false, stops: [false] }))
    const some: TextQuery = {
      ...query,
      expression: { op: 'or', of: units.map((unit) => ({ op: 'unit', unit })) },
      // Of a search by units these are all of them; another looks for what holds every word, whichever choose.
      ...(request.units === undefined ? {} : { units }),
    }
    const counts = places.map((place) => ofAll[place] as TermCount)
    return ask({ ...request, terms: wanted, query: some }, { counts, ofAll })
  }
  const [first, next] = tellingWords(ofAll.map(([n]) => n))
  const found = await by(first)
  if (found.hits.length >= depth.candidates || next.length === 0) return found
  const known = new Set(found.hits.map(({ id }) => id))
  const others = await by(next)
  const further = others.hits.filter(({ id }) => !known.has(id))
  const behind =
    request.units === undefined ? further : further.map((hit, i) => ({ ...hit, place: known.size + i + 1 }))
  return { ...found, hits: [...found.hits, ...behind] }
}
