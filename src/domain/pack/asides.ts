// Which sentences of a goal say what it is about, and which only how to go about it?
import type { Analyzer } from '../search/analysis'
import { emptyWords } from '../search/written-in'
import { kindsAsked } from './kinds-asked'
import { withoutLeadIn } from './lead-in'
import { namesSubject } from './plain-words'
import { periodOf } from './recency'
import { OF_ASIDES } from './sayings'
import { workAsked } from './work-asked'

/** Between two sentences. */
const BETWEEN = /(?<=[.!?…]["'”’»)]?)\s+|\n+/u

const NONE: ReadonlySet<string> = new Set()
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
  const sentences = goal.split(BETWEEN)
  if (sentences.length === 1) return goal
  const beside = termsOfAsides(analyzer)
  const asks = (said: string): boolean =>
    periodOf(said) !== null || workAsked(said).statuses.length > 0 || kindsAsked(said).length > 0
  const telling = new Set(sentences.filter((said) => namesSubject(said, analyzer, beside) || asks(said)))
  return telling.size > 0 ? [...telling].join(' ') : goal
}

/**
 * Terms that stand only behind what a goal asks for: its first sentence and its questions. None where it begins as a report does, with a
 * word that holds a sentence together or a time, since what is asked then follows.
 */
export function termsBehind(goal: string, analyzer: Analyzer): ReadonlySet<string> {
  const [first, ...others] = withoutLeadIn(goal, analyzer).split(BETWEEN) as [string, ...string[]]
  if (others.length === 0 || (!first.includes('?') && reports(first, analyzer))) return NONE
  const asked = new Set(
    [first, ...others.filter((said) => said.includes('?'))].flatMap((said) => termsOf(said, analyzer)),
  )
  return new Set(termsOf(others.join(' '), analyzer).filter((term) => !asked.has(term)))
}

function reports(sentence: string, analyzer: Analyzer): boolean {
  const words = analyzer.tokenize(sentence)
  const [begins] = words
  if (begins === undefined || begins.isStopWord || periodOf(sentence) !== null) return true
  return emptyWords(words.map(({ word }) => word)).has(begins.word)
}
