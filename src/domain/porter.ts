/**
 * The Porter stemmer for English (M. F. Porter, "An algorithm for suffix stripping", 1980, with the author's later
 * departures "bli" and "logi"). One stemmer in code, used for index and query alike on every backend, so that a hit
 * found by the engine and a hit seen by the scorer are the same hit.
 */
const CONSONANT = '[^aeiou]'
const VOWEL = '[aeiouy]'
const CONSONANTS = `${CONSONANT}[^aeiouy]*`
const VOWELS = `${VOWEL}[aeiou]*`

/** Measure of a stem: how many times a vowel run is followed by a consonant run. */
const HAS_MEASURE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const MEASURE_IS_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`)
const MEASURE_ABOVE_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?${VOWEL}`)
const ENDS_SHORT = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`)
const DOUBLE_CONSONANT = /([^aeiouylsz])\1$/

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const STEP_4 = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/
const STEP_4_ION = /^(.+?[st])ion$/

function replaceSuffix(word: string, rules: readonly (readonly [string, string])[]): string {
  let longest: readonly [string, string] | undefined
  for (const rule of rules)
    if (word.endsWith(rule[0]) && (longest === undefined || rule[0].length > longest[0].length)) longest = rule
  if (longest === undefined) return word
  const stem = word.slice(0, word.length - longest[0].length)
  return HAS_MEASURE.test(stem) ? stem + longest[1] : word
}

function stripPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function stripPastAndProgressive(word: string): string {
  if (word.endsWith('eed')) return HAS_MEASURE.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const suffix = word.endsWith('ed') ? 'ed' : word.endsWith('ing') ? 'ing' : null
  if (suffix === null) return word
  const stem = word.slice(0, -suffix.length)
  if (!HAS_VOWEL.test(stem)) return word
  if (/(?:at|bl|iz)$/.test(stem) || ENDS_SHORT.test(stem)) return `${stem}e`
  return DOUBLE_CONSONANT.test(stem) ? stem.slice(0, -1) : stem
}

function stripLatinEnding(word: string): string {
  const match = STEP_4.exec(word)
  if (match) return MEASURE_ABOVE_ONE.test(match[1] as string) ? (match[1] as string) : word
  const ion = STEP_4_ION.exec(word)
  return ion && MEASURE_ABOVE_ONE.test(ion[1] as string) ? (ion[1] as string) : word
}

function stripFinalE(word: string): string {
  let stem = word
  if (word.endsWith('e')) {
    const without = word.slice(0, -1)
    if (MEASURE_ABOVE_ONE.test(without) || (MEASURE_IS_ONE.test(without) && !ENDS_SHORT.test(without))) stem = without
  }
  return stem.endsWith('ll') && MEASURE_ABOVE_ONE.test(stem) ? stem.slice(0, -1) : stem
}

/** @param word lower-case, without accents; words of other alphabets, with digits or of unusual length come back unchanged */
export function porterStem(word: string): string {
  if (word.length < 3 || word.length > 64 || !/^[a-z]+$/.test(word)) return word
  // A leading y is a consonant; upper case hides it from the vowel tests.
  let stem = word[0] === 'y' ? `Y${word.slice(1)}` : word
  stem = stripPastAndProgressive(stripPlural(stem))
  if (stem.endsWith('y') && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  stem = stripFinalE(stripLatinEnding(replaceSuffix(replaceSuffix(stem, STEP_2), STEP_3)))
  return stem.toLowerCase()
}
