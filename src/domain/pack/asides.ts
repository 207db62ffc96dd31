// Which sentences of a goal say what it is about, and which only how to go about it?
import type { Analyzer } from '../search/analysis'
import { kindsAsked } from './kinds-asked'
import { namesSubject } from './plain-words'
import { periodOf } from './recency'
import { OF_ASIDES } from './sayings'
import { sentencesOf } from './sentences'
import { workAsked } from './work-asked'

const known = new WeakMap<Analyzer, ReadonlySet<string>>()

const termsOf = (text: string, analyzer: Analyzer): string[] => analyzer.tokenize(text).map(({ term }) => term)

function termsOfAsides(analyzer: Analyzer): ReadonlySet<string> {
  const terms = known.get(analyzer) ?? new Set(termsOf(OF_ASIDES, analyzer))
  known.set(analyzer, terms)
  return terms
}

/**
 * A goal without its sentences that name no subject and ask for nothing: greetings, thanks, and how to go about it ("Think step by
 * step, and write tests."). Searched with the goal, their words lead away from it. As it is where no sentence names one; what is said twice
 * counts once.
 */
export function withoutAsides(goal: string, analyzer: Analyzer): string {
  const sentences = sentencesOf(goal)
  if (sentences.length === 1) return goal
  const beside = termsOfAsides(analyzer)
  const asks = (said: string): boolean =>
    periodOf(said) !== null || workAsked(said).statuses.length > 0 || kindsAsked(said).length > 0
  const telling = new Set(sentences.filter((said) => namesSubject(said, analyzer, beside) || asks(said)))
  return telling.size > 0 ? [...telling].join(' ') : goal
}
