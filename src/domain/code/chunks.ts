import { foldCase } from './symbol-names'
import type { CodeSymbol } from './symbols'

/** Splits a file into chunks for semantic and full-text search (fabric contract §9). */
export interface CodeChunk {
  /** Line numbers from 1, overlap included. */
  readonly lineStart: number
  readonly lineEnd: number
  /** The lines at its start that repeat the end of the chunk before. */
  readonly overlap: string
  /** Its own lines, which no other chunk contains. */
  readonly text: string
}

const MAX_LINES = 100
const MAX_CHARACTERS = 4000
const OVERLAP = 10
/** A split moves up to the first line of a symbol within this many lines. */
const REACH = 20
/** Characters that the pieces of a very long line repeat, so that no name is split. */
const LINE_OVERLAP = 200

/** The complete content of a chunk, overlap included. */
export const contentOf = ({ overlap, text }: Pick<CodeChunk, 'overlap' | 'text'>): string =>
  overlap === '' ? text : `${overlap}\n${text}`

/** Splits a line that is longer than a chunk. */
function piecesOf(line: string, number: number): CodeChunk[] {
  const pieces: CodeChunk[] = []
  for (let at = 0; at < line.length; at += MAX_CHARACTERS - LINE_OVERLAP) {
    pieces.push({
      lineStart: number,
      lineEnd: number,
      overlap: '',
      text: line.slice(at, at + MAX_CHARACTERS).toWellFormed(),
    })
    if (at + MAX_CHARACTERS >= line.length) break
  }
  return pieces
}

/** The number of lines before `start` to repeat: ten, or fewer when they would fill half of the chunk. */
function overlapBefore(lines: readonly string[], start: number, since: number): number {
  let [count, size] = [0, 0]
  while (count < OVERLAP && start - count - 1 >= since) {
    size += (lines[start - count - 1] as string).length + 1
    if (size > MAX_CHARACTERS / 2) break
    count++
  }
  return count
}

/** The chunks of a file in order; none for a text of white space. */
export function cutCode(text: string, symbols: readonly CodeSymbol[]): CodeChunk[] {
  if (text.trim() === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const firstLines = new Set(symbols.map(({ lineStart }) => lineStart - 1))
  const chunks: CodeChunk[] = []
  /** Lines before this one are not repeated, because they belong to a line that was split. */
  let since = 0
  for (let start = 0; start < lines.length; ) {
    if ((lines[start] as string).length > MAX_CHARACTERS) {
      chunks.push(...piecesOf(lines[start] as string, start + 1))
      since = ++start
      continue
    }
    const repeated = overlapBefore(lines, start, since)
    let size = lines.slice(start - repeated, start).reduce((sum, line) => sum + line.length + 1, 0)
    let end = start
    while (end < lines.length && end - start + repeated < MAX_LINES) {
      size += (lines[end] as string).length + (end === start ? 0 : 1)
      if (size > MAX_CHARACTERS && end > start) break
      if ((lines[end] as string).length > MAX_CHARACTERS) break
      end++
      if (size > MAX_CHARACTERS) break
    }
    if (end < lines.length) end = nearestSymbol(firstLines, end, start)
    const overlap = size > MAX_CHARACTERS && end === start + 1 ? 0 : repeated
    chunks.push({
      lineStart: start - overlap + 1,
      lineEnd: end,
      overlap: lines.slice(start - overlap, start).join('\n'),
      text: lines.slice(start, end).join('\n'),
    })
    start = end
  }
  return chunks
}

/** The last first line of a symbol at or before a split, if close enough. */
function nearestSymbol(firstLines: ReadonlySet<number>, cut: number, start: number): number {
  for (let line = cut; line > start && cut - line <= REACH; line--) if (firstLines.has(line)) return line
  return cut
}

/** Maximum number of symbols inside a chunk, and around it, whose names and comments are embedded with it. */
const MAX_INSIDE = 40
const MAX_AROUND = 3

/** The index of the first symbol that starts at a line or below. Symbols are sorted by line. */
function firstFrom(symbols: readonly Pick<CodeSymbol, 'lineStart'>[], line: number): number {
  let [low, high] = [0, symbols.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((symbols[middle] as CodeSymbol).lineStart < line) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The text that is embedded for a chunk: the path, the names and comments of its declarations, and its content.
 * @param symbols sorted by line
 */
export function embeddedText(
  path: string,
  chunk: CodeChunk,
  symbols: readonly Pick<CodeSymbol, 'name' | 'lineStart' | 'lineEnd' | 'docComment'>[],
): string {
  const first = firstFrom(symbols, chunk.lineStart)
  const inside = symbols.slice(first, first + MAX_INSIDE).filter(({ lineStart }) => lineStart <= chunk.lineEnd)
  const around: (typeof symbols)[number][] = []
  for (let i = first - 1; i >= 0 && around.length < MAX_AROUND; i--) {
    const symbol = symbols[i]
    if (symbol !== undefined && symbol.lineEnd > chunk.lineEnd) around.unshift(symbol)
  }
  const names = [...new Set([...around, ...inside].map(({ name }) => name))].join(' ')
  const docs = inside.map(({ docComment }) => docComment.slice(0, 300)).filter((doc) => doc !== '')
  return [path, names, ...docs, contentOf(chunk)]
    .filter((part) => part !== '')
    .join('\n')
    .toWellFormed()
}

/** Maximum number of matching lines reported per file. */
const MAX_FILE_LINES = 20

/**
 * Converts line ends to `\
 * `; line numbers do not change.
 */
export const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n')

/**
 * Line numbers that contain one of the texts in any case, at most twenty. For a text of several lines, all lines that
 * it covers.
 * @param chunk its own lines and its overlap
 * @param from `own` ignores matches that end in the overlap
 */
export function matchLines(
  chunk: { readonly lineEnd: number; readonly overlap: string; readonly text: string },
  folded: readonly string[],
  from: 'own' | 'all',
): number[] {
  const repeated = chunk.overlap === '' ? [] : chunk.overlap.split('\n')
  const lines = [...repeated, ...chunk.text.split('\n')]
  const since = from === 'own' ? repeated.length : 0
  const first = chunk.lineEnd - lines.length + 1
  const low = lines.map(foldCase)
  const texts = folded.map((text) => text.split('\n'))
  const found = new Set<number>()
  for (let i = 0; i < low.length && found.size < MAX_FILE_LINES; i++)
    for (const parts of texts)
      if (i + parts.length > since && beginsAt(low, i, parts))
        for (const [j, part] of parts.entries()) if (part !== '') found.add(first + i + j)
  return [...found].sort((a, b) => a - b).slice(0, MAX_FILE_LINES)
}

/**
 * Whether a text of several lines matches from a line on: it ends the first line, equals those between, and starts the
 * last one.
 */
function beginsAt(lines: readonly string[], at: number, parts: readonly string[]): boolean {
  const last = parts.length - 1
  return parts.every((part, j) => {
    const line = lines[at + j]
    if (line === undefined) return false
    if (last === 0) return line.includes(part)
    if (j === 0) return line.endsWith(part)
    return j === last ? line.startsWith(part) : line === part
  })
}
