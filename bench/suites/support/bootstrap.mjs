// Whether one way is better than another on the same questions, or only by chance.
import { mean, percentile, random } from '../../support/numbers.mjs'

const ROUNDS = 2000

/**
 * Computes the paired bootstrap: draws questions with replacement, and takes the mean of the differences each time.
 *
 * @param {readonly number[]} ours by question
 * @param {readonly number[]} theirs of the same questions in the same order
 * @param {number} [seed]
 * @returns {{difference: number, low: number, high: number}} ours less theirs, with the bounds of 95 %
 */
export function pairedBootstrap(ours, theirs, seed = 7) {
  const differences = ours.map((value, at) => value - theirs[at])
  const draw = random(seed)
  const means = Array.from({ length: ROUNDS }, () => {
    let sum = 0
    for (let i = 0; i < differences.length; i++) sum += differences[Math.floor(draw() * differences.length)]
    return sum / Math.max(differences.length, 1)
  })
  return { difference: mean(differences), low: percentile(means, 0.025), high: percentile(means, 0.975) }
}
