import { stem as english } from 'porter2'
import { type Deferred, deferred } from '../deferred'
import { fold, INVISIBLE } from './fold'
import { stopWords } from './stop-words'

/** Korean particles, which follow nouns without a space: `Hermes는`, `서버에서`. */
const HANGUL = /\p{Script=Hangul}/u
const PARTICLES = '에서는|에서|에게|으로|까지|부터|처럼|보다|은|는|이|가|을|를|에|의|로|와|과|도|만'
const IS_PARTICLE = new RegExp(`^(?:${PARTICLES})$`, 'u')
/** Only after two syllables, because shorter words can end in such a syllable. */
const ENDS_IN_PARTICLE = new RegExp(`(?<=\\p{Script=Hangul}{2})(?:${PARTICLES})$`, 'u')
const BEFORE_HANGUL = /(?<=[^\p{Script=Hangul}])(?=\p{Script=Hangul})/u

/** Splits a folded word where Hangul follows other letters. */
const hangulParts = (word: string): string[] => (HANGUL.test(word) ? word.split(BEFORE_HANGUL) : [word])

const isParticle = (word: string): boolean => HANGUL.test(word) && IS_PARTICLE.test(word)

/** Removes the particle at the end of a term. */
const withoutParticle = (term: string): string => (HANGUL.test(term) ? term.replace(ENDS_IN_PARTICLE, '') : term)

type Stem = (word: string) => string

/** Stemmers of other languages than English. */
const STEMMERS: Readonly<Record<string, Deferred<{ readonly stemmer: Stem }>>> = {
  arabic: deferred(() => import('@orama/stemmers/arabic')),
  armenian: deferred(() => import('@orama/stemmers/armenian')),
  danish: deferred(() => import('@orama/stemmers/danish')),
  dutch: deferred(() => import('@orama/stemmers/dutch')),
  finnish: deferred(() => import('@orama/stemmers/finnish')),
  french: deferred(() => import('@orama/stemmers/french')),
  german: deferred(() => import('@orama/stemmers/german')),
  greek: deferred(() => import('@orama/stemmers/greek')),
  hungarian: deferred(() => import('@orama/stemmers/hungarian')),
  hindi: deferred(() => import('@orama/stemmers/indian')),
  indonesian: deferred(() => import('@orama/stemmers/indonesian')),
  irish: deferred(() => import('@orama/stemmers/irish')),
  italian: deferred(() => import('@orama/stemmers/italian')),
  lithuanian: deferred(() => import('@orama/stemmers/lithuanian')),
  nepali: deferred(() => import('@orama/stemmers/nepali')),
  norwegian: deferred(() => import('@orama/stemmers/norwegian')),
  portuguese: deferred(() => import('@orama/stemmers/portuguese')),
  romanian: deferred(() => import('@orama/stemmers/romanian')),
  russian: deferred(() => import('@orama/stemmers/russian')),
  serbian: deferred(() => import('@orama/stemmers/serbian')),
  spanish: deferred(() => import('@orama/stemmers/spanish')),
  swedish: deferred(() => import('@orama/stemmers/swedish')),
  tamil: deferred(() => import('@orama/stemmers/tamil')),
  turkish: deferred(() => import('@orama/stemmers/turkish')),
}

/** Loads the stemmer of a language, which its analyzer needs. @param language a value of FTS_LANGUAGE */
export async function loadStemmer(language: string): Promise<void> {
  await STEMMERS[language]?.load()
}

/** Longer words are encoded data, and stemming them is slow. */
const MAX_STEMMED = 64

/**
 * The stemmer of a language. They are Snowball stemmers, the same on every backend. A language is listed if its stemmer agrees with
 * PostgreSQL's dictionary on at least 99 % of a word list (bench/README.md, Stemmers). English comes from another library, because
 * @orama/stemmers implements another algorithm. Basque, Catalan and Yiddish have no stemmer there, so they are compared unstemmed.
 * @param language a value of FTS_LANGUAGE
 * @returns a function from a folded word to its stem, never empty; null for a language without a stemmer
 * @throws Error before `loadStemmer`, for any language but English
 */
export function stemmerOf(language: string): Stem | null {
  const stem = language === 'english' ? english : STEMMERS[language]?.loaded().stemmer
  return stem === undefined ? null : (word) => (word.length > MAX_STEMMED ? word : stem(word) || word)
}

/**
 * Converts text to index terms: words are folded (case, accents, width); scripts without spaces become overlapping
 * character pairs; other words are stemmed if their language has a stemmer. Index, query, scorer and highlighter share
 * this code, so they agree on words. The database only stores and intersects terms.
 */
export interface Token {
  /** Folded and stemmed. */
  readonly term: string
  /** Folded, not stemmed. */
  readonly word: string
  /** Whether it is ignored in `match`, for both matching and ranking. */
  readonly isStopWord: boolean
  /** UTF-16 offsets in the source text. */
  readonly start: number
  readonly end: number
  /** Whether it is part of a run that was split into character pairs. */
  readonly pair: boolean
}

/** A word without its position. */
export type Word = Pick<Token, 'term' | 'word' | 'isStopWord'>

export interface Analyzer {
  readonly language: string
  readonly stemming: boolean
  /** The words of a text in order, produced on demand. Linear in the length of the text. */
  readonly tokens: (text: string) => Iterable<Token>
  /**
   * Visits the words without positions, for counting; three times as fast, because known words are cached. Returns the UTF-16
   * units of words that were not cached.
   */
  readonly eachWord: (text: string, visit: (word: Word) => void) => number
  /** All words at once, for short texts; twice as fast. */
  readonly tokenize: (text: string) => Token[]
}

const WORD = new RegExp(`[\\p{L}\\p{N}\\p{M}\\p{Co}][\\p{L}\\p{N}\\p{M}\\p{Co}${INVISIBLE}]*`, 'gu')
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}\p{Co}]/u
const NOT_WORD = /[^\p{L}\p{N}\p{M}\p{Co}]+/u
const KANA = '\\p{Script=Hiragana}\\p{Script=Katakana}\\u30FC\\uFF70'
const UNSPACED = `[\\p{Script=Han}${KANA}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]`
/** Voicing marks of kana, decomposed (as in file names on a Mac) or half-width. A kana with a mark is one character. */
const VOICING = '\u3099\u309a\uff9e\uff9f'
const UNSPACED_RUN = new RegExp(`(?:${UNSPACED}[${VOICING}]?)+`, 'gu')
const HAS_UNSPACED = new RegExp(UNSPACED, 'u')
/** Maximum length of a word. Longer ones are encoded data, and databases have limits of their own. */
const MAX_WORD = 256
/** Maximum length of a term. PostgreSQL allows 2 KB, and normalization can expand characters. */
const MAX_TERM = 500
/** Size of the word cache: more than the distinct words of 10,000 entries. */
const REMEMBERED = 60_000
/** Longer words are not cached: they rarely repeat and would use more memory. */
const LONGEST_REMEMBERED = 40

const cut = (term: string): string => (term.length > MAX_TERM ? term.slice(0, MAX_TERM).toWellFormed() : term)

/** The character at a UTF-16 offset; empty at the end. */
function charAt(text: string, at: number): string {
  if (at >= text.length) return ''
  const char = String.fromCodePoint(text.codePointAt(at) as number)
  const mark = text.charAt(at + char.length)
  return mark !== '' && VOICING.includes(mark) ? char + mark : char
}

/** The character that ends at a UTF-16 offset. */
export function charBefore(text: string, end: number): string {
  const isMark = VOICING.includes(text.charAt(end - 1))
  const last = isMark ? end - 2 : end - 1
  const unit = text.charCodeAt(last)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? last - 1 : last, end)
}

/**
 * Caches a function of words, because texts repeat their words. The cache is bounded, because an isolate lives long.
 */
function remembering<T>(make: (word: string) => T): (word: string) => T {
  const outcomes = new Map<string, T>()
  return (word) => {
    if (word.length > LONGEST_REMEMBERED) return make(word)
    const remembered = outcomes.get(word)
    if (remembered !== undefined) return remembered
    // A copy, because a substring references the complete text in V8.
    const own = ` ${word}`.slice(1)
    const made = make(own)
    if (outcomes.size >= REMEMBERED) outcomes.clear()
    outcomes.set(own, made)
    return made
  }
}

/** Creates the analyzer of a language. @param language a value of FTS_LANGUAGE, whose stemmer has been loaded */
export function createAnalyzer(language: string): Analyzer {
  const stops = stopWords(language)
  const stem = stemmerOf(language)
  const pairTerm = remembering(fold)
  /** UTF-16 units of all words that were not cached. */
  let analysed = 0
  /** The terms of a word of at most MAX_WORD; null when a part of it is written without spaces. */
  const plainOf = remembering((word): readonly Word[] | null => {
    analysed += word.length
    if (HAS_UNSPACED.test(word)) return null
    return fold(word)
      .split(NOT_WORD)
      .filter((part) => HAS_LETTER_OR_DIGIT.test(part))
      .flatMap(hangulParts)
      .map(cut)
      .map((part) => ({
        term: withoutParticle(stem === null ? part : cut(stem(part))),
        word: part,
        isStopWord: stops.has(part) || isParticle(part),
      }))
  })

  const placed = ({ term, word, isStopWord }: Word, start: number, end: number): Token => {
    return { term, word, isStopWord, start, end, pair: false }
  }

  function* ofWord(word: string, start: number): Generator<Token> {
    const end = start + word.length
    for (const part of plainOf(word.slice(0, MAX_WORD)) ?? []) yield placed(part, start, end)
  }

  function* ofRun(run: string, start: number): Generator<Token> {
    let first = charAt(run, 0)
    for (let at = 0; ; ) {
      const second = charAt(run, at + first.length)
      // A run of one character has no pair; otherwise the last character only ends one.
      if (second === '' && at > 0) return
      const pair = first + second
      const word = pairTerm(pair)
      yield { term: word, word, isStopWord: false, start: start + at, end: start + at + pair.length, pair: true }
      if (second === '') return
      at += first.length
      first = second
    }
  }

  /** Analyzes a word that may contain runs written without spaces. */
  function* ofMixed(word: string, start: number): Generator<Token> {
    let last = 0
    for (const { 0: run, index: at } of word.matchAll(UNSPACED_RUN)) {
      if (at > last) yield* ofWord(word.slice(last, at), start + last)
      yield* ofRun(run, start + at)
      last = at + run.length
    }
    if (last < word.length) yield* ofWord(word.slice(last), start + last)
  }

  function* tokens(text: string): Generator<Token> {
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const parts = word.length > MAX_WORD ? null : plainOf(word)
      if (parts === null) yield* ofMixed(word, index)
      // The common case, inlined because a generator per word would be slower.
      else for (const part of parts) yield placed(part, index, index + word.length)
    }
  }

  function tokenize(text: string): Token[] {
    const all: Token[] = []
    let end = 0
    for (const word of text.match(WORD) ?? []) {
      // The words are in order, so each is found by searching forward.
      const start = text.indexOf(word, end)
      end = start + word.length
      const parts = word.length > MAX_WORD ? null : plainOf(word)
      if (parts === null) for (const token of ofMixed(word, start)) all.push(token)
      else for (const part of parts) all.push(placed(part, start, end))
    }
    return all
  }

  function eachWord(text: string, visit: (word: Word) => void): number {
    const before = analysed
    let mixed = 0
    for (const word of text.match(WORD) ?? []) {
      const parts = word.length > MAX_WORD ? null : plainOf(word)
      if (parts === null) {
        mixed += word.length
        for (const token of ofMixed(word, 0)) visit(token)
      } else for (const part of parts) visit(part)
    }
    return analysed - before + mixed
  }

  return { language, stemming: stem !== null, tokens, eachWord, tokenize }
}
