import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as armenian } from '@orama/stemmers/armenian'
import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as indonesian } from '@orama/stemmers/indonesian'
import { stemmer as irish } from '@orama/stemmers/irish'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian'
import { stemmer as nepali } from '@orama/stemmers/nepali'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as serbian } from '@orama/stemmers/serbian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as tamil } from '@orama/stemmers/tamil'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stem as english } from 'porter2'
import { fold, INVISIBLE } from './fold'
import { stopWords } from './stop-words'

/** Korean writes particles behind nouns without a space: `Hermes는`, `서버에서`. */
const HANGUL = /\p{Script=Hangul}/u
const PARTICLES = '에서는|에서|에게|으로|까지|부터|처럼|보다|은|는|이|가|을|를|에|의|로|와|과|도|만'
const IS_PARTICLE = new RegExp(`^(?:${PARTICLES})$`, 'u')
/** Behind two syllables at least, since shorter words end in such a syllable by themselves. */
const ENDS_IN_PARTICLE = new RegExp(`(?<=\\p{Script=Hangul}{2})(?:${PARTICLES})$`, 'u')
const BEFORE_HANGUL = /(?<=[^\p{Script=Hangul}])(?=\p{Script=Hangul})/u

/** A folded word, cut where Hangul follows other letters. */
export const hangulParts = (word: string): string[] => (HANGUL.test(word) ? word.split(BEFORE_HANGUL) : [word])

export const isParticle = (word: string): boolean => HANGUL.test(word) && IS_PARTICLE.test(word)

/** A term without the particle that it ends in. */
export const withoutParticle = (term: string): string => (HANGUL.test(term) ? term.replace(ENDS_IN_PARTICLE, '') : term)

type Stem = (word: string) => string

/**
 * The Snowball stemmer of each language, the same on every backend. A language stands here when its stemmer agrees with
 * PostgreSQL's dictionary on at least 99 % of a word list (bench/README.md, Stemmers). Two libraries: the English of
 * @orama/stemmers is another algorithm, which agrees on 95.5 %. Basque, Catalan and Yiddish have none there, so they are
 * compared unstemmed; revisit when they do.
 */
const STEMMERS: Readonly<Record<string, Stem>> = {
  ...{ arabic, armenian, danish, dutch, english, finnish, french, german, greek, hindi, hungarian, indonesian, irish },
  ...{
    italian,
    lithuanian,
    nepali,
    norwegian,
    portuguese,
    romanian,
    russian,
    serbian,
    spanish,
    swedish,
    tamil,
    turkish,
  },
}

/** Longer words are encoded data, and what a stemmer does with them is only dear. */
const MAX_STEMMED = 64

/**
 * @param language a value of FTS_LANGUAGE
 * @returns what makes the stem of a folded word, never empty; null for a language without a stemmer
 */
export function stemmerOf(language: string): Stem | null {
  const stem = STEMMERS[language]
  return stem === undefined ? null : (word) => (word.length > MAX_STEMMED ? word : stem(word) || word)
}

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
