import type { Analyzer, Word } from './analysis'
import { functionWords } from './function-words'
import type { Expression, Unit } from './query'
import type { ScoredTerm } from './score'

/**
 * Finds compound words and their parts (threads contract §6.5). German, Dutch, the Scandinavian languages, Finnish and
 * Hungarian join words, such as `Bordküche` from `Bord` and `Küche`. The index of a text in such a language also
 * contains its long words reversed, so that a query for `Küche` matches words that end in it. Long words of a query are
 * also searched by their parts.
 */

/**
 * Prefix of reversed words in the index; alone, it marks a text in such a language. Words do not contain this
 * character.
 */
const BACKWARDS = '\ufb02'

const LANGUAGES = ['german', 'dutch', 'swedish', 'danish', 'norwegian', 'finnish', 'hungarian']
/** Languages whose function words are ignored for detection, because they share short words with those above. */
const OTHERS = ['english', 'french', 'spanish', 'italian', 'portuguese']
/** Code points of a text that are used to detect its language. */
const READ = 2_000
const LETTERS_OF_THESE = /[äöüßåæø]/iu
const LATIN = /^\p{Script=Latin}+$/u
const WORD = /(?<!\p{L})\p{L}{3,}(?!\p{L})/gu
/** Endings of inflected parts: `Küche`, `Küchen`. */
const ENDING = /(?:en|er|es|em|e|n|s)$/u

/** Minimum letters of a compound, a part, a part at its start, and the rest of a compound; without endings. */
const SHORTEST = { compound: 7, part: 3, beginning: 4, rest: 3 } as const
const LONGEST = 40
/** Maximum number of distinct compounds in a text, words of a query, and parts that are searched. */
const MOST = { inText: 2_000, words: 6, parts: 60 } as const

interface Lists {
  /** Function words that occur only in these languages. */
  readonly telling: ReadonlySet<string>
  readonly english: ReadonlySet<string>
  /** Function words, which are not searched as parts. */
  readonly empty: ReadonlySet<string>
}
let lists: Lists | null = null
function readLists(): Lists {
  const wordsOf = (names: readonly string[]) => new Set(names.flatMap((name) => [...(functionWords(name) ?? [])]))
  if (lists === null) {
    const others = wordsOf(OTHERS)
    lists = {
      telling: new Set([...wordsOf(LANGUAGES)].filter((word) => !others.has(word))),
      english: wordsOf(['english']),
      empty: wordsOf([...LANGUAGES, 'english']),
    }
  }
  return lists
}

/**
 * Whether a text is in a language that joins words: it has more function words or letters of these than English
 * function words.
 */
export function hasCompounds(text: string): boolean {
  const beginning = text.slice(0, READ).normalize('NFC')
  const { telling: words, english: others } = readLists()
  const [found, english] = [new Set<string>(), new Set<string>()]
  for (const [word] of beginning.matchAll(WORD)) {
    if (words.has(word) || LETTERS_OF_THESE.test(word)) found.add(word)
    else if (others.has(word)) english.add(word)
  }
  return found.size > english.size
}

const isWord = (term: string): boolean => term.length <= LONGEST && LATIN.test(term)
/** Removes an ending that a stemmer of another language leaves; a doubled last letter becomes one. */
function bare(term: string): string {
  const stem = term.length > SHORTEST.part + 1 ? term.replace(ENDING, '') : term
  return stem.at(-1) === stem.at(-2) ? stem.slice(0, -1) : stem
}
const backwards = (term: string): string => BACKWARDS + [...term].reverse().join('')

/** Collects the compounds of a text in the form of the index. */
export function createCompoundList() {
  const found = new Set<string>()
  return {
    add: ({ term, isStopWord }: Word): void => {
      if (term.length < SHORTEST.compound || isStopWord || !isWord(term) || found.size >= MOST.inText) return
      const stem = bare(term)
      if (stem.length >= SHORTEST.compound) found.add(backwards(stem))
    },
    /** All collected compounds, with the mark of such a text. */
    all: (): readonly string[] => [BACKWARDS, ...found],
  }
}

const one = (terms: readonly string[], prefix = false): Expression => {
  const unit: Unit = { terms, prefix, phrase: false, stops: terms.map(() => false) }
  return { op: 'unit', unit }
}

/** Possible parts of a compound: its ends, longest first, then its starts. */
function partsOf(term: string): readonly string[] {
  const stem = bare(term)
  if (stem.length < SHORTEST.compound) return []
  const parts = new Set<string>()
  for (const word of [stem, term])
    for (let at = SHORTEST.rest; at <= word.length - SHORTEST.beginning; at++) parts.add(word.slice(at))
  for (let end = stem.length - SHORTEST.rest; end >= SHORTEST.beginning; end--) parts.add(stem.slice(0, end))
  return [...parts].filter((part) => !readLists().empty.has(part))
}

/**
 * Matches entries that contain a compound with a query word, or a part of a compound in the query; null where no word
 * qualifies. Long queries are not extended.
 */
export function compoundExpression(terms: readonly ScoredTerm[]): Expression | null {
  if (terms.length > MOST.words) return null
  const words = terms.flatMap(({ term, by }) =>
    by === 'stem' && term.length > SHORTEST.part && isWord(term) ? [term] : [],
  )
  const whole = words.flatMap((term) => {
    const stem = bare(term)
    return [one([backwards(stem)], true), ...(stem.length >= SHORTEST.beginning ? [one([stem], true)] : [])]
  })
  if (whole.length === 0) return null
  // Parts of all words in turn, so that each word gets some.
  const parts = words.map(partsOf)
  const longest = Math.max(...parts.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, i) => parts.flatMap((of) => of.slice(i, i + 1))).flat()
  const units = [...whole, ...inTurn.map((part) => one([part]))]
  return { op: 'and', of: [one([BACKWARDS]), { op: 'or', of: units.slice(0, MOST.parts) }] }
}

/** Whether one stem is a part of the other, or both are forms of one compound. */
function isPart(a: string, b: string): boolean {
  if (a === b) return a.length >= SHORTEST.compound
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < SHORTEST.part || long.length - short.length < SHORTEST.rest) return false
  return long.endsWith(short) || (short.length >= SHORTEST.beginning && long.startsWith(short))
}

/** The form for comparison; empty for function words and other scripts. */
const stemOf = (term: string): string => (isWord(term) && !readLists().empty.has(term) ? bare(term) : '')

/** Counts words of a text that are parts of a term or contain it, in the order of the terms. */
export function createPartCounter(analyzer: Analyzer, terms: readonly ScoredTerm[]) {
  const stems = terms.map(({ term, by }) => (by === 'stem' ? stemOf(term) : ''))
  const known = new Map<string, readonly number[]>()
  const placesOf = (term: string): readonly number[] => {
    const told = known.get(term)
    if (told !== undefined) return told
    const stem = stemOf(term)
    const places = stem === '' ? [] : stems.flatMap((own, place) => (own !== '' && isPart(own, stem) ? [place] : []))
    known.set(term, places)
    return places
  }
  return (text: string): number[] => {
    const counts = terms.map(() => 0)
    analyzer.eachWord(text, ({ term, isStopWord }) => {
      if (!isStopWord) for (const place of placesOf(term)) counts[place] = (counts[place] as number) + 1
    })
    return counts
  }
}
