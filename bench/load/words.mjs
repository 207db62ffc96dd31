// A vocabulary of invented words whose frequencies fall as those of natural language do: word number r occurs about
// 1 / r as often as the first. The commonest are real function words, so that stop words cost what they cost in life.
import { random } from '../support/numbers.mjs'

const FUNCTION_WORDS =
  `the of and to a in is that for it was on with as be by this are at from or have an not we they but had has which one you
  were all there been when who will no more if out so up said what its about than into them can only other time new some`.split(
    /\s+/,
  )

const ONSETS = 'b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl st t th tr v w z'.split(' ')
const NUCLEI = 'a e i o u ai ea ie oa ou'.split(' ')
const CODAS = ['', '', '', 'b', 'ck', 'd', 'g', 'l', 'm', 'n', 'nd', 'nt', 'p', 'r', 'rk', 'rm', 'sk', 'st', 't', 'x']

const SIZE = 30_000

/**
 * @param {number} seed
 */
export function createVocabulary(seed) {
  const next = random(seed)
  const pick = (list) => list[Math.floor(next() * list.length)]
  const words = new Set(FUNCTION_WORDS)
  while (words.size < SIZE) {
    const syllables = 2 + Math.floor(next() * 2)
    words.add(Array.from({ length: syllables }, () => pick(ONSETS) + pick(NUCLEI)).join('') + pick(CODAS))
  }
  const ranked = [...words]
  return {
    /** Returns the word at this rank, 0 being the most common. */
    at: (rank) => ranked[rank],
    /** One word, drawn as language would. */
    draw: drawByRank(SIZE, 2.7),
    ranked,
  }
}

/**
 * A function that draws places with a weight of 1 / (place + shift): a search in the running sums.
 *
 * @param {number} size
 * @param {number} shift flattens the head of the curve
 * @returns {(uniform: number) => number} from a number in [0, 1) to a place
 */
export function drawByRank(size, shift) {
  const sums = new Float64Array(size)
  let sum = 0
  for (let i = 0; i < size; i++) {
    sum += 1 / (i + shift)
    sums[i] = sum
  }
  return (uniform) => {
    const wanted = uniform * sum
    let [low, high] = [0, size - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
