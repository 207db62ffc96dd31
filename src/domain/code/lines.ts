import { foldCase } from './names'

/** Which lines of a chunk hold what was looked for. */
const MAX_LINES = 20

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
  for (let i = 0; i < low.length && found.size < MAX_LINES; i++)
    for (const parts of texts)
      if (i + parts.length > since && beginsAt(low, i, parts))
        for (const [j, part] of parts.entries()) if (part !== '') found.add(first + i + j)
  return [...found].sort((a, b) => a - b).slice(0, MAX_LINES)
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
