import { functionWords } from './function-words'

/**
 * Words that `match` searches ignore, for both matching and ranking. One list per language, the same on every backend;
 * languages without a list (`function-words.ts`) have no stop words. English: function words, auxiliaries and question words.
 */
const ENGLISH =
  `a about above after again against all am an and any are aren as at be because been before being below between both
  but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has
  hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me
  might more most must my myself no nor not now of off on once only or other our ours ourselves out over own re s same
  shall she should shouldn so some such t than that the their theirs them themselves then there these they this those
  through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
  with won would wouldn you your yours yourself yourselves`.split(/\s+/)

const ENGLISH_WORDS: ReadonlySet<string> = new Set(ENGLISH)
const NONE: ReadonlySet<string> = new Set()

/** The stop words of a language. @param language a value of FTS_LANGUAGE */
export const stopWords = (language: string): ReadonlySet<string> =>
  language === 'english' ? ENGLISH_WORDS : (functionWords(language) ?? NONE)

/** Version of the lists of languages other than English. An increase recomputes lengths that were counted with them. */
const LISTS = 1

/** Identifies the list that lengths are counted with; empty for English, whose list is part of the analysis, and without a list. */
export const stopWordsMark = (language: string): string =>
  language === 'english' || functionWords(language) === null ? '' : `.w${LISTS}`
