/** The line of an output that says what went wrong (fabric contract §7). */
export const FAILURE = /error|exception|failed|fatal|panic|cannot/i

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** The first line that is not blank; empty for none. */
export const firstLine = (text: string): string => (linesOf(text)[0] ?? '').trim()

/** The first line with a word of failure, also within another word, else the last that is not blank; empty for none. */
export function errorLine(output: string): string {
  const lines = linesOf(output)
  return (lines.find((line) => FAILURE.test(line)) ?? lines.at(-1) ?? '').trim()
}
