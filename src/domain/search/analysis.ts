import { fold, INVISIBLE } from './fold'
import { hangulParts, isParticle, withoutParticle } from './hangul'
import { stemmerOf } from './stemmer'
import { stopWords } from './stop-words'

/**
 * How text becomes index terms: words are folded (case, accents, width), words of scripts that are written without
 * spaces become overlapping pairs of characters, and the others are stemmed where their language has a stemmer. Index, query,
 * scorer and highlighter all use this one function, so they agree on what a word is; the engine only stores and intersects
 * the terms.
 */
export interface Token {
  /** Folded and stemmed. */
  readonly term: string
  /** Folded, as it is written. */
  readonly word: string
  /** Neither admits nor orders an entry in `match`. */
  readonly isStopWord: boolean
  /** UTF-16 offsets in the text it came from. */
  readonly start: number
  readonly end: number
  /** Part of a run that was cut into pairs of characters. */
  readonly pair: boolean
}

/** A word without its place. */
export type Word = Pick<Token, 'term' | 'word' | 'isStopWord'>

export interface Analyzer {
  readonly language: string
  readonly stemming: boolean
  /** The words of a text in order, made as they are asked for. Linear in the length of the text. */
  readonly tokens: (text: string) => Iterable<Token>
  /**
   * The same words without their places, for counting: a third of the work, and nothing is made of a word that is known. Returns the
   * UTF-16 units of those that had to be analysed.
   */
  readonly eachWord: (text: string, visit: (word: Word) => void) => number
  /** All of them at once, for texts that are short: half the work. */
  readonly tokenize: (text: string) => Token[]
}

const WORD = new RegExp(`[\\p{L}\\p{N}\\p{M}\\p{Co}][\\p{L}\\p{N}\\p{M}\\p{Co}${INVISIBLE}]*`, 'gu')
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}\p{Co}]/u
const NOT_WORD = /[^\p{L}\p{N}\p{M}\p{Co}]+/u
const KANA = '\\p{Script=Hiragana}\\p{Script=Katakana}\\u30FC\\uFF70'
const UNSPACED = `[\\p{Script=Han}${KANA}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]`
/** Marks of voiced kana that are taken apart (as in names of files on a Mac) or of half width: a kana with one is one character. */
const VOICING = '\u3099\u309a\uff9e\uff9f'
const UNSPACED_RUN = new RegExp(`(?:${UNSPACED}[${VOICING}]?)+`, 'gu')
const HAS_UNSPACED = new RegExp(UNSPACED, 'u')
/** Longer words are cut: they are encoded data, and the engine has limits of its own. */
const MAX_WORD = 256
/** A term holds 2 KB in PostgreSQL; some characters unfold into many. */
const MAX_TERM = 500
/** Words whose analysis is remembered: more than 10,000 entries have different ones, of which each search meets some thousands. */
const REMEMBERED = 60_000
/** Longer ones are seldom met again, and would take the more of an isolate's memory. */
const LONGEST_REMEMBERED = 40

const cut = (term: string): string => (term.length > MAX_TERM ? term.slice(0, MAX_TERM).toWellFormed() : term)

/** The character that begins at this UTF-16 offset, empty at the end. */
function charAt(text: string, at: number): string {
  if (at >= text.length) return ''
  const char = String.fromCodePoint(text.codePointAt(at) as number)
  const mark = text.charAt(at + char.length)
  return mark !== '' && VOICING.includes(mark) ? char + mark : char
}

/** The character that ends at this UTF-16 offset. */
export function charBefore(text: string, end: number): string {
  const isMark = VOICING.includes(text.charAt(end - 1))
  const last = isMark ? end - 2 : end - 1
  const unit = text.charCodeAt(last)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? last - 1 : last, end)
}

/**
 * Remembers what each word becomes, since texts repeat their words; bounded, because an isolate lives long and texts are other
 * people's.
 */
function remembering<T>(make: (word: string) => T): (word: string) => T {
  const outcomes = new Map<string, T>()
  return (word) => {
    if (word.length > LONGEST_REMEMBERED) return make(word)
    const remembered = outcomes.get(word)
    if (remembered !== undefined) return remembered
    // A stretch of a text keeps the whole text in memory, so what is remembered is a copy.
    const own = ` ${word}`.slice(1)
    const made = make(own)
    if (outcomes.size >= REMEMBERED) outcomes.clear()
    outcomes.set(own, made)
    return made
  }
}

/** @param language a value of FTS_LANGUAGE */
export function createAnalyzer(language: string): Analyzer {
  const stops = stopWords(language)
  const stem = stemmerOf(language)
  const pairTerm = remembering(fold)
  /** UTF-16 units of all words that had to be analysed so far. */
  let analysed = 0
  /** What a word becomes; null when a part of it is written without spaces. Asked of words of at most MAX_WORD. */
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

  /** A word that may hold runs of characters that are written without spaces. */
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
      // Nearly all words of most texts: a generator of their own would cost more than they do.
      else for (const part of parts) yield placed(part, index, index + word.length)
    }
  }

  function tokenize(text: string): Token[] {
    const all: Token[] = []
    let end = 0
    for (const word of text.match(WORD) ?? []) {
      // Between two of them stands no word, so each is where it is found next.
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
