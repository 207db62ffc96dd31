// What share of a goal's words does a text hold?
import { longCost } from './held-words'
import { WEIGHTS, type Weights } from './weights'
import { type GoalWords, type Sentence, sumOf } from './words'

export interface WordEvidence {
  readonly share: number
  /** Those that tell something, rarest first. */
  readonly matched: readonly string[]
  /** All that say anything, by their places among the terms. */
  readonly held: readonly number[]
}

/**
 * @param inTitle,inText how often each term stands there
 * @param length content words of the text
 */
export function wordEvidence(
  { terms, weights, known, subject, spelled, whole, sentences }: GoalWords,
  inTitle: readonly number[],
  inText: readonly number[],
  length: number,
  given: Weights = WEIGHTS,
): WordEvidence {
  const by = given.words
  if (whole === 0) return { share: 0, matched: [], held: [] }
  const holds = (i: number): boolean => (inTitle[i] as number) + (inText[i] as number) > 0
  const says = (i: number): boolean => holds(i) && weights[i] !== 0
  const matched = terms.flatMap((_, i) => (says(i) ? [i] : []))
  matched.sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b)
  const telling = matched.filter(
    (i) => (weights[i] as number) >= by.telling * (weights[matched[0] as number] as number),
  )
  const strengthIn = (some: readonly number[], of: Pick<Sentence, 'rarest' | 'whole'>): number => {
    const said = sumOf(some.map((i) => weights[i] as number))
    const sum = sumOf(some.map((i) => (weights[i] as number) * (1 + ((inTitle[i] as number) > 0 ? by.inTitle : 0))))
    const byAccident = said < by.farRarer * of.rarest
    return ((byAccident ? by.accident : 1) * sum) / of.whole
  }
  const holdsSubject = subject.includes(true) && subject.every((named, i) => !named || holds(i))
  const strength = Math.max(
    strengthIn(matched, { rarest: Math.max(...known), whole }),
    holdsSubject ? by.allOfSubject : 0,
    ...sentences.map((one) => strengthIn(one.terms.filter(says), one)),
  )
  return {
    share: Math.min(1, strength / longCost(length, given)),
    held: matched,
    matched: [...new Set(telling.map((i) => spelled[i] as string))],
  }
}
