// What share of a goal's words does a text hold?
import { longCost } from './held-words'
import { WEIGHTS, type Weights } from './weights'
import type { GoalWords, Sentence } from './words'

const sumOf = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0)

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
  const matched: number[] = []
  for (let i = 0; i < terms.length; i++) {
    const title = inTitle[i] as number
    const text = inText[i] as number
    if (title + text === 0 || weights[i] === 0) continue
    matched.push(i)
  }
  matched.sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b)
  const telling = matched.filter(
    (i) => (weights[i] as number) >= by.telling * (weights[matched[0] as number] as number),
  )
  const strengthIn = (some: readonly number[], of: Pick<Sentence, 'known' | 'whole'>): number => {
    const said = sumOf(some.map((i) => weights[i] as number))
    const sum = sumOf(some.map((i) => (weights[i] as number) * (1 + ((inTitle[i] as number) > 0 ? by.inTitle : 0))))
    const byAccident = said < by.farRarer * Math.max(...of.known)
    return ((byAccident ? by.accident : 1) * sum) / of.whole
  }
  const holds = (i: number): boolean => (inTitle[i] as number) + (inText[i] as number) > 0
  const holdsSubject = subject.includes(true) && subject.every((named, i) => !named || holds(i))
  const strength = Math.max(
    strengthIn(matched, { known, whole }),
    holdsSubject ? by.allOfSubject : 0,
    ...sentences.map((one) =>
      strengthIn(
        matched.filter((i) => one.holds[i]),
        one,
      ),
    ),
  )
  return {
    share: Math.min(1, strength / longCost(length, given)),
    held: matched,
    matched: [...new Set(telling.map((i) => spelled[i] as string))],
  }
}
