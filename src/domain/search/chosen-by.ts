/** The words of a query that chose the candidates of a search. */
export type ChosenBy = 'all words' | 'six rarest words' | 'rarest words'

/** The warnings of a search whose candidates some of its words chose. */
export const CHOICE_WARNINGS: Readonly<Record<ChosenBy, readonly string[]>> = {
  'all words': [],
  'six rarest words': [
    'More than 10,000 entries hold a word of the query: what its six rarest words lead to was ranked',
  ],
  'rarest words': [
    'The words of the query occur too often: only entries with the rarest were ranked; ask for rarer words, or in one thread',
  ],
}
