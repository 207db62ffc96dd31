/** Whether a command failed (fabric contract §7): its exit code says so, else what it printed. */

/** Phrases that state that there is no failure. */
const NONE =
  /(?<!\d[.,]?)0 (?:errors?\b|failed\b|failures\b)|\b(?:no|without) errors\b|\b(?:errors|failed): ?0(?![.,]?\d)/gi
const FAILURE = /error|exception|failed|fatal|panic|traceback|command not found|non-zero exit|enoent|eacces/i
/** An exit code other than 0. */
const FAILED_EXIT = /exit code:? (?:[1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?!\d)/i

const statesFailure = (text: string): boolean => {
  const rest = text.replace(NONE, '')
  return FAILURE.test(rest) || FAILED_EXIT.test(rest)
}

/** @param exitCode null when none is known */
export const hasFailed = (output: string, exitCode: number | null): boolean =>
  exitCode === null ? statesFailure(output) : exitCode !== 0

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** The first line that is not blank; empty for none. */
export const firstLine = (text: string): string => (linesOf(text)[0] ?? '').trim()

/** The line of an output that says what went wrong: the first that states a failure, else the first of all. */
export const firstError = (output: string): string => (linesOf(output).find(statesFailure) ?? firstLine(output)).trim()
