// How are words compared by stems that only the database knows? As if the analysis had made them itself.
import type { Analyzer } from './analysis'
import type { Unit } from './query'
import type { ScoredTerm, TermStatistics } from './score'

/** The stem of each word that matters to one query; words that are not in it matter to nobody and stay as they are. */
export type Stems = ReadonlyMap<string, string>

/** An analysis that gives stems. */
export const stemmedAnalyzer = (analyzer: Analyzer, stems: Stems): Analyzer => ({
  ...analyzer,
  tokenize: (text) => analyzer.tokenize(text).map((token) => ({ ...token, term: stems.get(token.term) ?? token.term })),
})

export const stemmedUnits = (units: readonly Unit[], stems: Stems): Unit[] =>
  units.map((unit) => ({ ...unit, terms: unit.terms.map((term) => stems.get(term) ?? term) }))

/** Words of the query with one stem are one word to the scorer. */
export function stemmedTerms(
  terms: readonly ScoredTerm[],
  statistics: TermStatistics,
  stems: Stems,
): { readonly terms: ScoredTerm[]; readonly statistics: TermStatistics } {
  const stemmed = terms.map(({ term, prefix }) => ({ term: stems.get(term) ?? term, prefix }))
  const isFirst = stemmed.map(
    (one, i) => stemmed.findIndex((other) => other.term === one.term && other.prefix === one.prefix) === i,
  )
  return {
    terms: stemmed.filter((_, i) => isFirst[i]),
    statistics: { ...statistics, entriesWithTerm: statistics.entriesWithTerm.filter((_, i) => isFirst[i]) },
  }
}
