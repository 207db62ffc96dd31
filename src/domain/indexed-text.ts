import { type Analyzer, fold, type Token } from './analysis'
import { codeOf } from './code-parts'
import { atOnce, STEP, type Steps } from './pace'
import { utf8Length } from './text'

/** What the full-text index holds of a text, made by reading it once. */
export interface IndexedText {
  /** Its terms in order, with one space between them, as the engine stores them. */
  readonly terms: string
  /** Words that carry content, which is the length the scorer uses. */
  readonly words: number
  /** Terms of its code blocks and file paths. */
  readonly code: string
  /** Last characters of runs that were cut into pairs: a query of one such character begins every pair but these. */
  readonly ends: string
}

/** UTF-8 bytes of terms: a value in D1 holds at most 2 MB. */
const MAX_TERMS = 1_800_000
const MAX_CODE_TERMS = 200_000

/** Joins terms up to a size. */
function createTermList(maxBytes: number) {
  const terms: string[] = []
  let bytes = 0
  return {
    add: (term: string): void => {
      bytes += utf8Length(term) + 1
      if (bytes <= maxBytes) terms.push(term)
    },
    joined: (): string => terms.join(' '),
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

function* termsIn(analyzer: Analyzer, text: string, maxBytes: number): Steps<string> {
  const list = createTermList(maxBytes)
  yield* read(analyzer, text, ({ term }) => list.add(term))
  return list.joined()
}

/** The terms of a short text: a title, a name, a month. */
export const termsOf = (analyzer: Analyzer, text: string): string => atOnce(termsIn(analyzer, text, MAX_TERMS))

const lastCharacter = (text: string, end: number): string => {
  const unit = text.charCodeAt(end - 1)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? end - 2 : end - 1, end)
}

/** Analyses a text of up to a megabyte in steps. */
export function* indexText(analyzer: Analyzer, text: string): Steps<IndexedText> {
  const list = createTermList(MAX_TERMS)
  const ends = new Set<string>()
  let words = 0
  let pair: Token | null = null
  const endRun = () => {
    // A run of one character has no end of its own: its one term is that character.
    if (pair !== null && lastCharacter(text, pair.end).length < pair.end - pair.start)
      ends.add(fold(lastCharacter(text, pair.end)))
    pair = null
  }
  yield* read(analyzer, text, (token) => {
    list.add(token.term)
    if (!token.isStopWord) words++
    if (pair !== null && !(token.pair && token.start < pair.end)) endRun()
    if (token.pair) pair = token
  })
  endRun()
  const code = yield* termsIn(analyzer, codeOf(text), MAX_CODE_TERMS)
  return { terms: list.joined(), words, code, ends: [...ends].join(' ') }
}
