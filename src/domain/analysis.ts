import { stemmerOf } from './stemmer'
import { stopWords } from './stop-words'
import { utf8Length } from './text'

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

type Word = Pick<Token, 'term' | 'word' | 'isStopWord'>

export interface Analyzer {
  readonly language: string
  readonly stemming: boolean
  readonly tokenize: (text: string) => Token[]
}

const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}\p{Co}]/u
const NOT_WORD = /[^\p{L}\p{N}\p{M}\p{Co}]+/u
/** Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning and stay. */
const ACCENTS = /[\u0300-\u036f]+/g
/** й taken apart: a letter of its own, by which Slavic endings are known. */
const SHORT_I = '\u0438\u0306'
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30FC\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]'
const UNSPACED_RUN = new RegExp(`${UNSPACED}+`, 'gu')
const IS_ASCII_WORD = /^[a-zA-Z0-9]+$/
/** Longer words are cut: they are encoded data, and the engine has limits of its own. */
const MAX_WORD = 256
/** Words whose analysis is remembered. */
const REMEMBERED = 20_000

function fold(word: string): string {
  if (IS_ASCII_WORD.test(word)) return word.toLowerCase()
  return word.normalize('NFKD').toLowerCase().replaceAll(SHORT_I, 'й').replace(ACCENTS, '').normalize('NFKC')
}

/** @param language a value of FTS_LANGUAGE */
export function createAnalyzer(language: string): Analyzer {
  const stops = stopWords(language)
  const stem = stemmerOf(language)
  // What each word becomes, remembered: texts repeat their words. Bounded, because an isolate lives long.
  const known = new Map<string, readonly Word[]>()
  const analyse = (word: string): readonly Word[] => {
    const remembered = known.get(word)
    if (remembered !== undefined) return remembered
    const parts = fold(word.slice(0, MAX_WORD))
      .split(NOT_WORD)
      .filter((part) => HAS_LETTER_OR_DIGIT.test(part))
      .map((part) => ({ term: stem === null ? part : stem(part), word: part, isStopWord: stops.has(part) }))
    if (known.size >= REMEMBERED) known.clear()
    known.set(word, parts)
    return parts
  }

  const addWord = (tokens: Token[], word: string, start: number): void => {
    const end = start + word.length
    for (const part of analyse(word)) tokens.push({ ...part, start, end, pair: false })
  }

  const addPairs = (tokens: Token[], run: string, start: number): void => {
    const chars = [...run]
    let at = start
    for (let i = 0; i < Math.max(1, chars.length - 1); i++) {
      const pair = chars.slice(i, i + 2).join('')
      const word = fold(pair)
      tokens.push({ term: word, word, isStopWord: false, start: at, end: at + pair.length, pair: true })
      at += (chars[i] as string).length
    }
  }

  const tokenize = (text: string): Token[] => {
    const tokens: Token[] = []
    for (const match of text.matchAll(WORD)) {
      const word = match[0]
      if (IS_ASCII_WORD.test(word)) {
        addWord(tokens, word, match.index)
        continue
      }
      let last = 0
      for (const run of word.matchAll(UNSPACED_RUN)) {
        if (run.index > last) addWord(tokens, word.slice(last, run.index), match.index + last)
        addPairs(tokens, run[0], match.index + run.index)
        last = run.index + run[0].length
      }
      if (last < word.length) addWord(tokens, word.slice(last), match.index + last)
    }
    return tokens
  }

  return { language, stemming: stem !== null, tokenize }
}

/** Terms of a text as the engine stores them, at most `maxBytes` of UTF-8 (a value in D1 holds at most 2 MB). */
export function termText(tokens: readonly Token[], maxBytes = 1_800_000): string {
  const joined = tokens.map((token) => token.term).join(' ')
  if (joined.length * 3 <= maxBytes || utf8Length(joined) <= maxBytes) return joined
  let bytes = 0
  let count = 0
  for (const token of tokens) {
    bytes += utf8Length(token.term) + 1
    if (bytes > maxBytes) break
    count++
  }
  return tokens
    .slice(0, count)
    .map((token) => token.term)
    .join(' ')
}

/** Last characters of runs that were cut into pairs: a query of one such character begins every pair but these. */
export function runEnds(text: string): string {
  const ends = new Set<string>()
  for (const run of text.matchAll(UNSPACED_RUN)) {
    const chars = [...run[0]]
    if (chars.length > 1) ends.add(fold(chars.at(-1) as string))
  }
  return [...ends].join(' ')
}

const FENCED_BLOCK = /^(```|~~~)[^\n]*\n([\s\S]*?)^\1/gm
const FILE_PATH =
  /(?:[\w.@~-]+)?(?:[/\\][\w.@-]+)+\.\w{1,8}\b|\b[\w-]+\.(?:tsx?|jsx?|mjs|cjs|py|rs|go|java|rb|cs|cpp|cc|c|h|sql|md|json|toml|ya?ml|sh|css|html)\b/g

/** Fenced code and file paths of a text, indexed in a column of their own for the vocabularies that weigh code. */
export function codeOf(text: string): string {
  const blocks = Array.from(text.matchAll(FENCED_BLOCK), (match) => match[2] as string)
  const paths = Array.from(text.matchAll(FILE_PATH), (match) => match[0])
  return [...blocks, ...new Set(paths)].join('\n')
}

/** Number of words that carry content, which is the length the scorer uses. */
export const contentLength = (tokens: readonly Token[]): number =>
  tokens.reduce((count, token) => count + (token.isStopWord ? 0 : 1), 0)
