import { titleOf } from '../entry/extracted-metadata'
import { type Metadata, own } from '../entry/metadata'
import { aliasesOf } from '../entry/title'
import { atOnce, STEP, type Steps } from '../scheduler'
import { utf8Length } from '../text'
import { type Analyzer, charBefore, type Token } from './analysis'
import { createCompoundList, hasCompounds } from './compounds'
import { fold } from './fold'

/** The text of the full-text index. First: code blocks and file paths, which have their own column. */

/** Characters of paths. Each run is checked once, so that finding paths is linear. */
const PATH_RUN = /[\w.@~/\\-]+/g
/** Longer runs are encoded data, such as base64. */
const LONGEST_PATH = 400
const PATH_ENDS = '.-~@/\\'
const EXTENSION = /^\w{1,8}$/
/** Extensions by which a name without a folder counts as a path. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(
  'ts tsx js jsx mjs cjs py rs go java rb cs cpp cc c h sql md json toml yml yaml sh css html'.split(' '),
)

const FENCES = ['```', '~~~'] as const

/** Maximum length of indexed code. */
const MAX_CODE = 250_000

/** The path in a run of path characters, without punctuation at its end; null for other text. */
function pathOf(run: string): string | null {
  if (run.length > LONGEST_PATH) return null
  let end = run.length
  while (end > 0 && PATH_ENDS.includes(run[end - 1] as string)) end--
  const dot = run.lastIndexOf('.', end - 1)
  const slash = Math.max(run.lastIndexOf('/', end - 1), run.lastIndexOf('\\', end - 1))
  if (dot <= slash + 1) return null
  const extension = run.slice(dot + 1, end)
  const known = slash >= 0 ? EXTENSION.test(extension) : KNOWN_EXTENSIONS.has(extension)
  return known ? run.slice(0, end) : null
}

/** The contents of fenced code blocks. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let open: { readonly fence: string; readonly start: number } | null = null
  let size = 0
  for (let at = 0; at < text.length && size < MAX_CODE; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end + 1
    const fence = FENCES.find((one) => text.startsWith(one, at))
    if (open === null && fence !== undefined) open = { fence, start: next }
    else if (open !== null && fence === open.fence) {
      blocks.push(text.slice(open.start, at))
      size += at - open.start
      open = null
    }
    at = next
  }
  return blocks
}

/** Fenced code and distinct file paths of a text. Linear in its length. */
export function codeOf(text: string): string {
  const paths = new Set<string>()
  let size = 0
  for (const [run] of text.matchAll(PATH_RUN)) {
    const path = pathOf(run)
    if (path === null || paths.has(path)) continue
    paths.add(path)
    size += path.length + 1
    if (size > MAX_CODE) break
  }
  return [...fencedBlocks(text), ...paths].join('\n')
}

const stringAt = (metadata: Metadata | null, key: string, member: string): string => {
  const value = own(metadata, key)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
  const found = own(value, member)
  return typeof found === 'string' ? found : ''
}

/** The code block, file path and aliases in metadata (fabric contract §4); empty without any. */
const codeOfMetadata = (metadata: Metadata | null): string =>
  [stringAt(metadata, 'codeBlock', 'code'), stringAt(metadata, 'fileContext', 'path'), ...aliasesOf(metadata)]
    .join('\n')
    .trim()

/** The full-text index content of a text. */
export interface IndexedText {
  /** Terms in order, separated by spaces, as the database stores them. */
  readonly terms: string
  /** The same words, folded but not stemmed, in the same order. */
  readonly written: string
  /** Number of content words, which the scorer uses as length. */
  readonly words: number
  /** Terms of code blocks and file paths. */
  readonly code: string
  /**
   * Words for prefix searches only: the last characters of runs that were split into pairs (a one-character query is a
   * prefix of all other pairs), and reversed compounds (`compounds.ts`).
   */
  readonly ends: string
}

/** Maximum UTF-8 bytes of terms: a value in D1 holds at most 2 MB. */
const MAX_TERMS = 1_800_000
const MAX_CODE_TERMS = 200_000
/**
 * Maximum size of the distinct words of a text, the limit of a tsvector and of an acceptable write time in FTS5. On
 * every backend a text is found by its first 40,000 to 60,000 distinct words.
 */
const MAX_DIFFERENT = 700_000
/** Overhead of a word in an index, in addition to its letters. */
const PER_WORD = 10
/**
 * Replaces words that are left out, so that the words around them are not adjacent. Words do not contain this
 * character.
 */
export const BREAK = '\ufb01'

/** Joins terms and words up to a size and a number of distinct words. */
function createWordList(maxBytes: number) {
  const terms: string[] = []
  const written: string[] = []
  const different = new Set<string>()
  let [termBytes, wordBytes, differentBytes] = [0, 0, 0]
  /** Whether the word is in the list or still fits. */
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

/** Reads the tokens of a text, and yields its progress. */
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

/** The terms and words of a short text (a title, a name, a month). */
export const wordsOf = (analyzer: Analyzer, text: string): Pick<IndexedText, 'terms' | 'written'> =>
  atOnce(wordsIn(analyzer, text, MAX_TERMS))

const joined = (first: string, second: string): string => (first && second ? `${first}\n${second}` : first || second)

/** The source of an entry's index content. */
export interface WrittenText {
  readonly text: string
  readonly metadata: Metadata | null
}

/** Analyzes a text of up to a megabyte in steps, together with the code in its metadata. */
export function* indexText(analyzer: Analyzer, { text, metadata }: WrittenText): Steps<IndexedText> {
  const list = createWordList(MAX_TERMS)
  const ends = new Set<string>()
  const title = titleOf(metadata)
  const compounds = hasCompounds(title === null ? text : `${title}\n${text}`) ? createCompoundList() : null
  let words = 0
  let pair: Token | null = null
  const endRun = () => {
    // A run of one character has no separate end: its only term is that character.
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
