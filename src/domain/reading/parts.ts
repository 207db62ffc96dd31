import type { Steps } from '../scheduler'
import { firstCodePoints, WHITE_SPACE_RUN } from '../text'
import type { Heading } from './headings'
import { lineCutter } from './lines'

/** A text without headings is cut into parts of at most so many code points (threads contract §13). */
const MAX_PART = 2000
/** Of the words that name a part. */
const MAX_TITLE = 60

/** Where a part that starts here ends: behind the last blank line that fits, else the last line end, else at the limit. */
function partEnd(text: string, start: number, cut: ReturnType<typeof lineCutter>): number {
  const limit = start + firstCodePoints(text.slice(start, start + 2 * MAX_PART), MAX_PART).length
  if (limit >= text.length) return text.length
  let lineEnd = 0
  let blankEnd = 0
  for (let line = cut(start); line.next <= limit; line = cut(line.next)) {
    lineEnd = line.next
    if (text.slice(line.start, line.end).trim() === '') blankEnd = line.next
  }
  return blankEnd || lineEnd || limit
}

/** The first words, as many as fit. */
function firstWords(text: string): string {
  const words = text
    .slice(0, 8 * MAX_TITLE)
    .replace(WHITE_SPACE_RUN, ' ')
    .trim()
  const start = firstCodePoints(words, MAX_TITLE)
  if (start.length === words.length) return words
  const space = start.lastIndexOf(' ')
  return `${space > 0 && words[start.length] !== ' ' ? start.slice(0, space) : start.trimEnd()}…`
}

/** The parts of a text without headings, which cover it without gap. */
export function* readParts(text: string): Steps<Heading[]> {
  const parts: Heading[] = []
  const cut = lineCutter(text)
  for (let start = 0; start < text.length; ) {
    const end = partEnd(text, start, cut)
    parts.push({ level: 1, title: firstWords(text.slice(start, end)), start })
    yield end - start
    start = end
  }
  return parts
}
