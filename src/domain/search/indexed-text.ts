import { titleOf } from '../entry/lifted-metadata'
import type { Metadata } from '../entry/metadata'
import { atOnce, STEP, type Steps } from '../scheduler'
import { utf8Length } from '../text'
import { type Analyzer, charBefore, type Token } from './analysis'
import { codeOf, codeOfMetadata } from './code-parts'
import { createCompoundList, joinsWords } from './compounds'
import { fold } from './fold'

/** What the full-text index holds of a text, made by reading it once. */
export interface IndexedText {
  /** Its terms in order, with one space between them, as the engine stores them. */
  readonly terms: string
  /** The same words as they are written, as many of them and in the same order. */
  readonly written: string
  /** Words that carry content, which is the length the scorer uses. */
  readonly words: number
  /** Terms of its code blocks and file paths. */
  readonly code: string
  /**
   * Further words that are looked for by their prefix: last characters of runs that were cut into pairs (a query of one such character
   * begins every pair but these), and compounds backwards (`compounds.ts`).
   */
  readonly ends: string
}

/** UTF-8 bytes of terms: a value in D1 holds at most 2 MB. */
const MAX_TERMS = 1_800_000
const MAX_CODE_TERMS = 200_000
/**
 * What different words of a text may take in an index. A tsvector holds no more, and FTS5 takes 140,000 new words at once in
 * 200 ms, which nobody may wait for; so on every backend a text is found by its first 40,000 to 60,000 different words.
 */
const MAX_DIFFERENT = 700_000
/** What an index keeps of a word beside its letters. */
const PER_WORD = 10
/** Stands for words that are left out, so that what is around them is not next to each other. No word has this character. */
export const BREAK = '\ufb01'

/** Joins words up to a size, and up to a number of different ones: their terms, and as they are written. */
function createWordList(maxBytes: number) {
  const terms: string[] = []
  const written: string[] = []
  const different = new Set<string>()
  let [termBytes, wordBytes, differentBytes] = [0, 0, 0]
  /** Whether there is room for it, or it stands there already. */
  const knows = (word: string): boolean => {
    if (different.has(word)) return true
    if (differentBytes > MAX_DIFFERENT) return false
    differentBytes += utf8Length(word) + PER_WORD
    different.add(word)
    return true
  }
  return {
    add: ({ term, word }: Token): void => {
      termBytes += utf8Length(term) + 1
      wordBytes += utf8Length(word) + 1
      if (Math.max(termBytes, wordBytes) > maxBytes) return
      if (knows(term) && knows(word)) {
        terms.push(term)
        written.push(word)
      } else if (terms.at(-1) !== BREAK) {
        terms.push(BREAK)
        written.push(BREAK)
      }
    },
    joined: () => ({ terms: terms.join(' '), written: written.join(' ') }),
  }
}

/** Reads the tokens of a text, and yields in between how far it has come. */
function* read(analyzer: Analyzer, text: string, each: (token: Token) => void): Steps<void> {
  let done = 0
  for (const token of analyzer.tokens(text)) {
    each(token)
    if (token.end - done < STEP) continue
    yield token.end - done
    done = token.end
  }
  yield text.length - done
}

function* wordsIn(analyzer: Analyzer, text: string, maxBytes: number): Steps<Pick<IndexedText, 'terms' | 'written'>> {
  const list = createWordList(maxBytes)
  yield* read(analyzer, text, list.add)
  return list.joined()
}

/** The terms of a short text (a title, a name, a month), and its words as they are written. */
export const wordsOf = (analyzer: Analyzer, text: string): Pick<IndexedText, 'terms' | 'written'> =>
  atOnce(wordsIn(analyzer, text, MAX_TERMS))

const joined = (first: string, second: string): string => (first && second ? `${first}\n${second}` : first || second)

/** What an entry's words are read from. */
export interface WrittenText {
  readonly text: string
  readonly metadata: Metadata | null
}

/** Analyses a text of up to a megabyte in steps, with the code that stands in its metadata. */
export function* indexText(analyzer: Analyzer, { text, metadata }: WrittenText): Steps<IndexedText> {
  const list = createWordList(MAX_TERMS)
  const ends = new Set<string>()
  const title = titleOf(metadata)
  const compounds = joinsWords(title === null ? text : `${title}\n${text}`) ? createCompoundList() : null
  let words = 0
  let pair: Token | null = null
  const endRun = () => {
    // A run of one character has no end of its own: its one term is that character.
    if (pair !== null && charBefore(text, pair.end).length < pair.end - pair.start)
      ends.add(fold(charBefore(text, pair.end)))
    pair = null
  }
  yield* read(analyzer, text, (token) => {
    list.add(token)
    if (!token.isStopWord) words++
    compounds?.add(token)
    if (pair !== null && !(token.pair && token.start < pair.end)) endRun()
    if (token.pair) pair = token
  })
  endRun()
  if (compounds !== null && title !== null) for (const token of analyzer.tokens(title)) compounds.add(token)
  const code = yield* wordsIn(analyzer, joined(codeOfMetadata(metadata), codeOf(text)), MAX_CODE_TERMS)
  return { ...list.joined(), words, code: code.terms, ends: [...ends, ...(compounds?.all() ?? [])].join(' ') }
}
