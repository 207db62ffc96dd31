import { type SQL, sql } from 'drizzle-orm'
import type { Unit } from '../../../../domain/search/query-unit'

/** The rules by which a search by words chooses its candidates: the same on both databases, which find them each in its own way. */

/**
 * Content words from which on an entry is a step longer. Candidates are told apart by steps, so that an index can lead to the shortest of
 * thousands without a look at each; the scorer counts words one by one. A step is 4 to 8 % of `brevityFrom`.
 */
export const LENGTH_STEPS = [0, 4, 8, 12, 17, 23, 30, 38, 48, 60, 75, 95, 125, 170, 250, 450] as const

/** The place among `LENGTH_STEPS` of an entry of so many content words. */
export const stepOf = (words: number): number => LENGTH_STEPS.findLastIndex((from) => from <= words)

/** How far words count more in an entry that begins with so many: as the scorer has it, for a word said once. */
const brevityFrom = (words: number): number => 1 + 2.2 / (1.3 + words / 55)

/** How far each step raises what an entry weighs, the shortest first. */
export const BREVITIES: readonly number[] = LENGTH_STEPS.map(brevityFrom)

/** Entries with a term are looked for among one in so many, whatever is told of them: those that `isSampled` names. */
export const SAMPLE = 16

/** From so many of the sample on it tells how many there are: some 500, give or take a sixth. Of fewer, entries are counted one by one. */
export const ENOUGH = 32

/** As far as entries are counted one by one, in the order of ids. */
export const COUNTED_ALL = 1_000

/** As far as a term is counted: words of more entries are equally common when candidates are chosen. A multiple of `SAMPLE`. */
export const COMMON = 10_000

/** Multiples of the golden section lie evenly, so that no habit of who writes (every second entry a question) meets the sample. */
const [GOLDEN, RANGE] = [40_503, 65_536]
/** The numbers of `isSampled`. */
export const SAMPLED_BY = { golden: GOLDEN, range: RANGE, below: RANGE / SAMPLE } as const

/** Words by which candidates are chosen where more than `MANY` entries hold one of more words: the rarest. */
export const TELLING_WORDS = 6
/** From where on many entries match. */
export interface Many {
  /** So many of the sample hold one of the words. */
  readonly sampled: number
  /** In an org of fewer entries that is never so, and nobody needs to ask. */
  readonly entries: number
}
/** More than `COMMON` entries hold one of the words. */
export interface ManyMatch extends Many {
  /**
   * Where a search of few words asks what a filter admits: of up to three, which classes lead to in a smaller org too, and of more, whose
   * entries would be grouped. It decides what a search costs, and nothing else.
   */
  readonly filtered: { readonly classed: Many; readonly grouped: Many }
}
export const MANY: ManyMatch = {
  ...{ sampled: COMMON / SAMPLE, entries: COMMON / 2 },
  filtered: {
    classed: { sampled: COMMON / SAMPLE, entries: 2 * COMMON },
    grouped: { sampled: ENOUGH, entries: COUNTED_ALL },
  },
}

/**
 * A filter admits many of what holds a word where it admits so many of the newest of the sample, 3 %: the best of them are found by going
 * through what holds the words, best first, until enough are admitted.
 */
export const ADMITS_MANY = { asked: 256, admitted: 8 } as const

/**
 * Whether a query of so many words is one whose candidates are chosen by its rarest where many match and its filter admits many of them
 * (threads contract §6.1): each further word of thousands of entries would be looked through for what others tell better
 * (docs/decisions/016-few-words-choose.md).
 */
export const mayBeFewWords = (words: number): boolean => words > TELLING_WORDS

/**
 * The words that candidates are chosen by where many match: the rarest, and the next, which follow where those lead to too few.
 *
 * @param counts in how many entries each word stands; a word of none leads nowhere
 * @returns places in the query, in its order
 */
export function tellingWords(counts: readonly number[]): [first: number[], next: number[]] {
  const places = counts.flatMap((n, place) => (n > 0 ? [place] : []))
  const rarest = places.sort((a, b) => (counts[a] as number) - (counts[b] as number) || a - b)
  const part = (from: number) => rarest.slice(from, from + TELLING_WORDS).sort((a, b) => a - b)
  return [part(0), part(TELLING_WORDS)]
}

const [most, ...others] = BREVITIES

/** How far a candidate's words count more where they stand among few; the same doubles on both databases. */
export const brevity = (words: SQL): SQL => {
  const steps = BREVITIES.slice(0, -1).map(
    (value, i) => sql`WHEN ${words} < ${sql.raw(`${LENGTH_STEPS[i + 1]} THEN ${value} `)}`,
  )
  return sql`CAST(CASE ${sql.join(steps)}ELSE ${sql.raw(String(others.at(-1)))} END AS double precision)`
}

/** That of no words: none is above it. */
export const MOST_BREVITY = sql.raw(String(most))

/** Whether an entry with this id is in the sample in which common words are counted. */
export const isSampled = (id: SQL): SQL => {
  const [golden, range, below] = [SAMPLED_BY.golden, SAMPLED_BY.range, SAMPLED_BY.below].map((n) => sql.raw(String(n)))
  return sql`(${id} % ${range} * ${golden}) % ${range} < ${below}`
}

/** Entries with a term are counted up to here, in the order of ids, where candidates come from one thread and others are only counted. */
export const COUNTED = 1000

/** What candidates are ordered by where a query asks for its units; doubles on both databases. */
export const unitKey = (weight: SQL, shortness: SQL): SQL => sql`(${weight} * ${shortness})`

/**
 * A key that none is above who lacks one of the units, of columns `weight`, of all words together, and `lightest`, of one. Who lacks a unit
 * lacks a word, unless the unit is several words next to each other.
 *
 * @param composed units of several words
 */
export const keyOfOthers = (composed: readonly Unit[]): SQL =>
  unitKey(sql`(weight - ${sql.raw(composed.length > 0 ? '0' : 'lightest')})`, MOST_BREVITY)
