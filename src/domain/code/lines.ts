import { foldCase } from './names'

/** Which lines of a chunk hold what was looked for. */
const MAX_LINES = 20

/**
 * Numbers of lines that hold one of the texts in any case, at most twenty.
 *
 * @param chunk its own lines and those that it repeats; `from`: where to look
 */
export function matchLines(
  chunk: { readonly lineEnd: number; readonly overlap: string; readonly text: string },
  folded: readonly string[],
  from: 'own' | 'all',
): number[] {
  const own = chunk.text.split('\n')
  const lines = from === 'all' && chunk.overlap !== '' ? [...chunk.overlap.split('\n'), ...own] : own
  const first = chunk.lineEnd - lines.length + 1
  const found: number[] = []
  for (const [i, line] of lines.entries()) {
    if (found.length === MAX_LINES) break
    const low = foldCase(line)
    if (folded.some((text) => low.includes(text))) found.push(first + i)
  }
  return found
}
