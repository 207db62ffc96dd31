import type { LineMarks } from './marks'
import { MAX_RANGE, type Part, type Stretch, type TextRange } from './range'

/** Walks a stretch by code points and counts the lines it passes. */
class Cursor {
  private index = 0
  offset: number
  line: number

  constructor(
    private readonly text: string,
    { from, line }: Stretch,
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

  /** What lies between two places of the cursor. */
  place(): { index: number; offset: number; line: number } {
    return { index: this.index, offset: this.offset, line: this.line }
  }
}

/**
 * Cuts the part out of the stretch that was read for it.
 *
 * @param text of the stretch
 */
export function cutRange(text: string, stretch: Stretch, part: Part, { chars, lines }: LineMarks): TextRange {
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
