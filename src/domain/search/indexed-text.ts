import { titleOf } from '../entry/lifted-metadata'
import { type Metadata, own } from '../entry/metadata'
import { aliasesOf } from '../entry/title'
import { atOnce, STEP, type Steps } from '../scheduler'
import { utf8Length } from '../text'
import { type Analyzer, charBefore, type Token } from './analysis'
import { createCompoundList, joinsWords } from './compounds'
import { fold } from './fold'

/** What of a text is code: fenced blocks and file paths, indexed in a column of their own for the vocabularies that weigh code. */

/** Characters that may stand in a path; a run of them is looked at once, so that finding paths is linear. */
const PATH_RUN = /[\w.@~/\\-]+/g
/** Longer runs are encoded data, such as base64. */
const LONGEST_PATH = 400
const PATH_ENDS = '.-~@/\\'
const EXTENSION = /^\w{1,8}$/
/** A name without a folder is a path only with one of these. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(
  'ts tsx js jsx mjs cjs py rs go java rb cs cpp cc c h sql md json toml yml yaml sh css html'.split(' '),
)

const FENCES = ['```', '~~~'] as const

/** More of it is not indexed. */
const MAX_CODE = 250_000

/** The path that a run of path characters is, without what a sentence puts behind it; null when it is none. */
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

/** Stretches between a line that opens a fence and the next line that begins with the same one. */
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

/** Fenced code and file paths of a text, each path once. Linear in the length of the text. */
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

/** The code block and the path of the file that metadata name (fabric contract §4); empty where they are none. */
export const codeOfMetadata = (metadata: Metadata | null): string =>
  [stringAt(metadata, 'codeBlock', 'code'), stringAt(metadata, 'fileContext', 'path'), ...aliasesOf(metadata)]
    .join('\n')
    .trim()

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
