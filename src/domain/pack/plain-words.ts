import { KINDS } from '../entry/kind'
import type { Analyzer } from '../search/analysis'
import { COMMON_WORDS } from '../search/common-words'
import { emptyWords } from '../search/written-in'
import { codesIn } from './identifiers'
import { INTENTS } from './intents'
import { HARDLY_A_WORD } from './sayings'

const common = new WeakMap<Analyzer, ReadonlySet<string>>()

/**
 * Terms that are frequent in any prose and in talk about software, and what memories and goals are called: whoever asks for the plan of a
 * tour looks for the tour. Read once for each analyzer.
 */
export function commonTerms(analyzer: Analyzer): ReadonlySet<string> {
  const known = common.get(analyzer)
  if (known !== undefined) return known
  const terms = new Set(analyzer.tokenize([COMMON_WORDS, ...KINDS, ...INTENTS].join(' ')).map(({ term }) => term))
  common.set(analyzer, terms)
  return terms
}

/** Terms that stand in the codes of a goal and nowhere else in it. */
export function termsInCodes(goal: string, analyzer: Analyzer): ReadonlySet<string> {
  const codes = codesIn(goal)
  if (codes.length === 0) return new Set()
  const termsOf = (text: string): string[] => analyzer.tokenize(text).map(({ term }) => term)
  const beside = new Set(termsOf(codes.reduce((text, code) => text.replaceAll(code, ' '), goal)))
  return new Set(termsOf(codes.join(' ')).filter((term) => !beside.has(term)))
}

/** Whether a text says what it is about, beside words that stand in any goal. */
export function namesSubject(text: string, analyzer: Analyzer): boolean {
  const tokens = analyzer.tokenize(text)
  const empty = emptyWords(tokens.map(({ word }) => word))
  const common = commonTerms(analyzer)
  return tokens.some(
    ({ term, word, isStopWord }) => !isStopWord && !empty.has(word) && !common.has(term) && !HARDLY_A_WORD.test(term),
  )
}
