import { KINDS } from '../entry/kind'
import type { Analyzer } from '../search/analysis'
import { COMMON_WORDS } from '../search/common-words'
import { emptyWords } from '../search/written-in'
import { identifiersIn, isCode } from './identifiers'
import { INTENTS } from './intents'
import { HARDLY_A_WORD } from './sayings'
import { sentencesOf } from './sentences'

const NO_TERMS: ReadonlySet<string> = new Set()
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

/** What is known of a goal's terms beside how rare they are: those that say less, and which stand in a sentence together. */
export interface PlainTerms {
  /** Frequent in any prose. */
  readonly common: ReadonlySet<string>
  /** Those that stand in its codes and nowhere else in it; in its paths and addresses. */
  readonly inCodes: ReadonlySet<string>
  readonly inPaths: ReadonlySet<string>
  /** Of each code, path and address: those that stand nowhere else. */
  readonly names: readonly (readonly string[])[]
  /** Of each sentence of a goal of several: all of its terms. */
  readonly sentences: readonly ReadonlySet<string>[]
}

/** @param domain with which the goal ends, and which is no sentence of it */
export function plainTerms(goal: string, analyzer: Analyzer, domain: string | null = null): PlainTerms {
  const termsOf = (text: string): string[] => analyzer.tokenize(text).map(({ term }) => term)
  const termsIn = (names: readonly string[]): readonly (readonly string[])[] => {
    if (names.length === 0) return []
    const beside = new Set(termsOf(names.reduce((text, name) => text.replaceAll(name, ' '), goal)))
    return names.map((name) => termsOf(name).filter((term) => !beside.has(term)))
  }
  const named = identifiersIn(goal)
  const sentences = sentencesOf(
    domain !== null && goal.endsWith(` ${domain}`) ? goal.slice(0, -domain.length - 1) : goal,
  )
  const codes = named.filter(isCode)
  const paths = named.filter((name) => name.includes('/'))
  const numbers = named.filter((name) => name.startsWith('#'))
  return {
    common: commonTerms(analyzer),
    inCodes: new Set(termsIn(codes).flat()),
    inPaths: new Set(termsIn(paths).flat()),
    names: termsIn([...codes, ...paths, ...numbers]),
    sentences: sentences.length === 1 ? [] : sentences.map((said) => new Set(termsOf(said))),
  }
}

/** Whether a text says what it is about, beside words that stand in any goal. */
export function namesSubject(text: string, analyzer: Analyzer, beside: ReadonlySet<string> = NO_TERMS): boolean {
  const tokens = analyzer.tokenize(text)
  const empty = emptyWords(tokens.map(({ word }) => word))
  const common = commonTerms(analyzer)
  return tokens.some(
    ({ term, word, isStopWord }) =>
      !isStopWord && !empty.has(word) && !common.has(term) && !beside.has(term) && !HARDLY_A_WORD.test(term),
  )
}
