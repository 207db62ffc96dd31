import { diffArrays } from 'diff'

/** A part of a line; `differs` where the other line has other words. */
export interface Segment {
  readonly text: string
  readonly differs: boolean
}

/** Maximum number of differing words; lines that differ more are shown without parts. */
const MAX_EDITS = 200

/** Words, white space and single signs. */
const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

function add(to: Segment[], text: string, differs: boolean): void {
  const last = to.at(-1)
  if (last?.differs === differs) to[to.length - 1] = { text: last.text + text, differs }
  else to.push({ text, differs })
}

/**
 * Compares two lines word by word. Returns null if they share no word, or differ too much to help a reader.
 *
 * @example
 * differingWords('a red boat', 'a blue boat')?.before // [{ text: 'a ', … }, { text: 'red', differs: true }, { text: ' boat', … }]
 */
export function differingWords(before: string, after: string): { before: Segment[]; after: Segment[] } | null {
  const parts = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: MAX_EDITS })
  if (
    parts === undefined ||
    !parts.some(({ added, removed, value }) => !added && !removed && /\S/.test(value.join('')))
  )
    return null
  const found = { before: [] as Segment[], after: [] as Segment[] }
  for (const { added, removed, value } of parts) {
    const text = value.join('')
    if (!added) add(found.before, text, removed)
    if (!removed) add(found.after, text, added)
  }
  return found
}
