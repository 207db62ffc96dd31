import { codePointLength } from '../text'

/**
 * Where the lines of a long text stand, roughly: kept beside it, so that any line of it is found by reading a few
 * thousand characters. Places are code points from 0, lines count from 1.
 */
export interface LineMarks {
  readonly chars: number
  readonly lines: number
  /** For each full stretch of `MARK_EVERY` code points, how many lines have started behind the first, up to its end. */
  readonly starts: readonly number[]
}

/** One mark for this many code points. */
export const MARK_EVERY = 8192
/** Texts up to here, in code points, have no marks: they are read whole. */
const UNMARKED = 2 * MARK_EVERY

const isSecondHalf = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Marks of any text, however short. */
export function lineMarks(text: string): LineMarks {
  const starts: number[] = []
  let chars = 0
  let started = 0
  let endsLine = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isSecondHalf(unit)) continue
    chars++
    endsLine = unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10)
    if (endsLine) started++
    if (chars % MARK_EVERY === 0) starts.push(started)
  }
  return { chars, lines: started + (endsLine ? 0 : 1), starts }
}

/** The marks that are kept beside a text; null for one that is short. */
export const keptMarks = (text: string): LineMarks | null =>
  text.length <= UNMARKED || codePointLength(text) <= UNMARKED ? null : lineMarks(text)
