// By what are the candidates of a search by words chosen? The same on both databases, which find them each in its own way.

/**
 * Content words from which on an entry is a step longer. Candidates are told apart by steps, so that an index can lead to the shortest of
 * thousands without a look at each; the scorer counts words one by one. A step is 4 to 8 % of `brevityOf`.
 */
export const LENGTH_STEPS = [0, 4, 8, 12, 17, 23, 30, 38, 48, 60, 75, 95, 125, 170, 250, 450] as const

/** The place among `LENGTH_STEPS` of an entry of so many content words. */
export const stepOf = (words: number): number => LENGTH_STEPS.findLastIndex((from) => from <= words)

/** How far words count more in an entry that begins with so many: as the scorer has it, for a word said once. */
const brevityFrom = (words: number): number => 1 + 2.2 / (1.3 + words / 55)

/** How far each step raises what an entry weighs, the shortest first. */
export const BREVITIES: readonly number[] = LENGTH_STEPS.map(brevityFrom)

/** That of an entry of so many content words. */
export const brevityOf = (words: number): number => BREVITIES[stepOf(words)] as number

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
/** As `isSampled`, with the id in the place of `id`: an expression that plain code and both databases read alike. */
export const SAMPLED_BY = { golden: GOLDEN, range: RANGE, below: RANGE / SAMPLE } as const

export const isSampled = (id: number): boolean => ((id % RANGE) * GOLDEN) % RANGE < RANGE / SAMPLE

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

/** The words of a query that chose the candidates of a search. */
export type ChosenBy = 'all words' | 'six rarest words' | 'rarest words'

/** The warnings of a search whose candidates some of its words chose. */
export const CHOICE_WARNINGS: Readonly<Record<ChosenBy, readonly string[]>> = {
  'all words': [],
  'six rarest words': [
    'More than 10,000 entries hold a word of the query: what its six rarest words lead to was ranked',
  ],
  'rarest words': [
    'The words of the query occur too often: only entries with the rarest were ranked; ask for rarer words, or in one thread',
  ],
}
