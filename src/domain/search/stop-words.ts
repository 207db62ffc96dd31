/**
 * Words that neither admit nor order an entry in `match` searches. One list per language, the same on every backend;
 * languages without a list have no stop words. English: function words, auxiliaries and question words.
 */
const ENGLISH =
  `a about above after again against all am an and any are aren as at be because been before being below between both
  but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has
  hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me
  might more most must my myself no nor not now of off on once only or other our ours ourselves out over own re s same
  shall she should shouldn so some such t than that the their theirs them themselves then there these they this those
  through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
  with won would wouldn you your yours yourself yourselves`.split(/\s+/)

const BY_LANGUAGE: Readonly<Record<string, ReadonlySet<string>>> = { english: new Set(ENGLISH) }
const NONE: ReadonlySet<string> = new Set()

/** @param language a value of FTS_LANGUAGE */
export const stopWords = (language: string): ReadonlySet<string> => BY_LANGUAGE[language] ?? NONE
