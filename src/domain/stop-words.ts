/**
 * Words that neither admit nor order an entry in `match` searches. One list per language, the same on every backend;
 * languages without a list have no stop words. English: function words, auxiliaries and question words, without those
 * that tell programs and plans apart (if, not, all, only, before, after, up, down …): dropping them cost 0.6 nDCG@10 on
 * the development split of the retrieval bench.
 */
const ENGLISH =
  `a about again against am an and are aren as at be because been being between but by can cannot could couldn d did
  didn do does doesn doing don during few for from further had hadn has hasn have haven having he her here hers
  herself him himself his how i in into is isn it its itself just ll m me might more most must my myself no nor now
  of once or other our ours ourselves out own re s shall she should shouldn so some such t than that the their theirs
  them themselves then there these they this those through to too until us ve very was wasn we were weren what when
  where which who whom whose why will with won would wouldn you your yours yourself yourselves`.split(/\s+/)

const BY_LANGUAGE: Readonly<Record<string, ReadonlySet<string>>> = { english: new Set(ENGLISH) }
const NONE: ReadonlySet<string> = new Set()

/** @param language a value of FTS_LANGUAGE */
export const stopWords = (language: string): ReadonlySet<string> => BY_LANGUAGE[language] ?? NONE
