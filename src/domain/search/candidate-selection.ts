/** The words of a query that selected the candidates of a search. */
export type CandidateSelection = 'all words' | 'six rarest words' | 'rarest words'

/** Warnings of a search whose candidates were selected by some of its words. */
export const SELECTION_WARNINGS: Readonly<Record<CandidateSelection, readonly string[]>> = {
  'all words': [],
  'six rarest words': [
    'More than 10,000 entries match the query. Only entries with one of its six rarest words were ranked.',
  ],
  'rarest words': [
    'The words of the query occur too often. Only entries with the rarest words were ranked. Use rarer words, or search in one thread.',
  ],
}
