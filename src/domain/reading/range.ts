import { invalidInput } from '../errors'
import { LINE_INDEX_STEP, type LineIndex } from './lines'

/** The requested part of a text for `read_context_range` (threads contract §13). */
export type Part =
  /** Code points from 0, end excluded; null: to the end of the text. */
  | { readonly by: 'chars'; readonly start: number; readonly end: number | null }
  /** Lines from 1, both included; null: to the last line. */
  | { readonly by: 'lines'; readonly first: number; readonly last: number | null }

/** Maximum number of code points in one answer. */
const MAX_RANGE = 100_000

export interface TextRange {
  readonly startChar: number
  readonly endChar: number
  readonly startLine: number
  readonly endLine: number
  readonly text: string
  /** Whether the part is longer than the answer; the rest starts at `endChar`. */
  readonly truncated: boolean
}

/** A range of a text in code points, with the number of its first line. */
export interface LineRange {
  readonly from: number
  readonly to: number
  readonly line: number
}

/** Larger than the number of characters or lines of any text, and valid in both databases. */
const BEYOND = 1_000_000_000

const withinReach = (place: number | null): number | null => (place === null ? null : Math.min(place, BEYOND))

/** Checks a part and limits its positions. @throws Problem invalid_input when it ends before it starts */
export function checkPart(part: Part): Part {
  const [start, end] = part.by === 'chars' ? [part.start, part.end] : [part.first, part.last]
  const name = part.by === 'chars' ? 'char' : 'line'
  if (end !== null && start > end)
    throw invalidInput(`start_${name} ${start} is greater than end_${name} ${end}`, [
      { path: `end_${name}`, given: `number ${end}`, example: start },
    ])
  return part.by === 'chars'
    ? { by: 'chars', start: Math.min(start, BEYOND), end: withinReach(end) }
    : { by: 'lines', first: Math.min(start, BEYOND), last: withinReach(end) }
}

/** The range from a block of the index on, whose first line is known. */
function fromMark(index: number, { chars, starts }: LineIndex, length: number): LineRange {
  const from = index * LINE_INDEX_STEP
  // One more than shown, because \\r and \
  // are one line end.
  return { from, to: Math.min(chars, from + length + 1), line: 1 + (index === 0 ? 0 : (starts[index - 1] as number)) }
}

/** The range of a text that must be read for a part. */
export function rangeFor(part: Part, marks: LineIndex): LineRange {
  const { chars, lines, starts } = marks
  if (part.by === 'chars' || part.first > lines) {
    const start = part.by === 'chars' ? Math.min(part.start, chars) : chars
    const end = Math.min(part.by === 'chars' ? (part.end ?? chars) : chars, chars, start + MAX_RANGE)
    const index = Math.floor(start / LINE_INDEX_STEP)
    return fromMark(index, marks, end - index * LINE_INDEX_STEP)
  }
  /** The block in which a line starts. */
  const holding = (line: number): number => {
    const index = starts.findIndex((started) => started >= line - 1)
    return index === -1 ? starts.length : index
  }
  const first = part.first === 1 ? 0 : holding(part.first)
  const last = part.last === null || part.last >= lines ? starts.length : holding(part.last + 1)
  return fromMark(first, marks, Math.min((last - first + 1) * LINE_INDEX_STEP, LINE_INDEX_STEP + MAX_RANGE))
}

/**
 * A range that can be read before the index is known: by characters, or by lines. It is at least as long as the result
 * of `rangeFor`, and starts at the same block unless the part begins after the text.
 */
type Likely =
  | { readonly by: 'chars'; readonly from: number; readonly length: number }
  | { readonly by: 'lines'; readonly first: number; readonly last: number | null; readonly most: number }

/** Maximum length of a text (threads contract §2.1). */
const MOST_CHARS = 1_000_000

export function likelyRange(part: Part): Likely {
  if (part.by === 'lines') return { ...part, most: LINE_INDEX_STEP + MAX_RANGE }
  const start = Math.min(part.start, MOST_CHARS)
  const from = start - (start % LINE_INDEX_STEP)
  return { by: 'chars', from, length: Math.min(part.end ?? MOST_CHARS, start + MAX_RANGE) - from + 1 }
}

/** Moves through a text by code points and counts lines. */
class Cursor {
  private index = 0
  offset: number
  line: number

  constructor(
    private readonly text: string,
    { from, line }: LineRange,
  ) {
    this.offset = from
    this.line = line
  }

  get atEnd(): boolean {
    return this.index >= this.text.length
  }

  /** Whether the next character ends a line, or is the first of two that do. */
  get atLineEnd(): boolean {
    const unit = this.text.charCodeAt(this.index)
    return unit === 10 || unit === 13
  }

  step(): void {
    const unit = this.text.codePointAt(this.index) as number
    this.index += unit > 0xffff ? 2 : 1
    this.offset++
    if (unit === 10 || (unit === 13 && this.text.charCodeAt(this.index) !== 10)) this.line++
  }

  /** The current position. */
  place(): { index: number; offset: number; line: number } {
    return { index: this.index, offset: this.offset, line: this.line }
  }
}

/**
 * Cuts a part out of the range that was read.
 * @param text text of the range
 */
export function cutRange(text: string, stretch: LineRange, part: Part, { chars, lines }: LineIndex): TextRange {
  const cursor = new Cursor(text, stretch)
  const goTo = (offset: number) => {
    while (cursor.offset < offset && !cursor.atEnd) cursor.step()
  }
  if (part.by === 'chars' || part.first > lines) goTo(part.by === 'chars' ? Math.min(part.start, chars) : chars)
  else while (cursor.line < part.first && !cursor.atEnd) cursor.step()
  const start = cursor.place()

  const limit = start.offset + MAX_RANGE
  const wanted = part.by === 'chars' ? Math.min(part.end ?? chars, chars) : chars
  const lastLine = part.by === 'chars' ? null : Math.min(part.last ?? lines, lines)
  const atItsEnd = () => cursor.line === lastLine && cursor.atLineEnd
  let endLine = start.line
  while (cursor.offset < Math.min(wanted, limit) && !cursor.atEnd && !atItsEnd()) {
    endLine = cursor.line
    cursor.step()
  }
  if (atItsEnd()) endLine = cursor.line
  const end = cursor.place()
  return {
    startChar: start.offset,
    endChar: end.offset,
    startLine: Math.min(start.line, lines),
    endLine: Math.min(endLine, lines),
    text: text.slice(start.index, end.index),
    truncated: end.offset === limit && end.offset < wanted && !atItsEnd(),
  }
}
