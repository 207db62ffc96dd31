import { foldCase } from './names'
import type { CodeSymbol } from './symbols'

/** How a file is cut into the pieces that are searched by meaning and by text (fabric contract §9). */
export interface CodeChunk {
  /** Lines from 1, overlap included. */
  readonly lineStart: number
  readonly lineEnd: number
  /** The lines at its beginning that the chunk before it ends with. */
  readonly overlap: string
  /** Its own lines, which are in no other chunk. */
  readonly text: string
}

const MAX_LINES = 100
const MAX_CHARACTERS = 4000
const OVERLAP = 10
/** A cut moves up to the first line of a symbol that lies within this many lines. */
const REACH = 20
/** Characters of a line too long for one chunk that its next piece repeats, so that a name is not cut in two. */
const LINE_OVERLAP = 200

/** What a chunk shows. */
export const contentOf = ({ overlap, text }: Pick<CodeChunk, 'overlap' | 'text'>): string =>
  overlap === '' ? text : `${overlap}\n${text}`

/** Pieces of one line that is longer than a chunk. */
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

/** How many of the lines before `start` are repeated: ten, fewer when they would take half of the chunk. */
function overlapBefore(lines: readonly string[], start: number, since: number): number {
  let [count, size] = [0, 0]
  while (count < OVERLAP && start - count - 1 >= since) {
    size += (lines[start - count - 1] as string).length + 1
    if (size > MAX_CHARACTERS / 2) break
    count++
  }
  return count
}

/** Chunks in order; none for a text of white space only. */
export function cutCode(text: string, symbols: readonly CodeSymbol[]): CodeChunk[] {
  if (text.trim() === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const firstLines = new Set(symbols.map(({ lineStart }) => lineStart - 1))
  const chunks: CodeChunk[] = []
  /** Lines before it are not repeated: they belong to a line cut into pieces. */
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

/** The last first line of a symbol at or before the cut, when it is near. */
function nearestSymbol(firstLines: ReadonlySet<number>, cut: number, start: number): number {
  for (let line = cut; line > start && cut - line <= REACH; line--) if (firstLines.has(line)) return line
  return cut
}

/** Symbols of a chunk whose names and comments are embedded with it; and of those around it. */
const MAX_INSIDE = 40
const MAX_AROUND = 3

/** The first of the symbols, which are in the order of their lines, that begins at a line or below. */
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
 * The text that is embedded for a chunk: the path, the names and comments of its declarations, and its text.
 *
 * @param symbols in the order of their lines
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

/** Which lines of a chunk hold what was looked for. */
const MAX_FILE_LINES = 20

/** The one way in which lines end where code is looked at; their number stays. */
export const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n')

/**
 * Numbers of lines that hold one of the texts in any case, at most twenty. A text of several lines is held by each line over which it
 * goes.
 *
 * @param chunk its own lines and those that it repeats; `from`: `own` leaves out what ends in those that it repeats
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

/** Whether a text begins in a line, and goes on in those behind it: it ends the first, is those between, begins the last. */
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
