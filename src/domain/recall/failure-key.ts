import { sha256Hex } from '../text'
import type { Failure } from './events/event'
import { baseName, isSameFile, normalPath } from './file-paths'

/** Recognizes repeated reports of one failure, which are stored as one memory (fabric contract §7). */

/** Hexadecimal runs and numbers, also inside words. */
const VARYING = /0x[0-9a-f]+|[0-9a-f]{6,}|\d+/g

/** Normalizes a line for comparison: lower case, with numbers and hexadecimal runs replaced. */
export const patternOf = (line: string): string =>
  line
    .trim()
    .toLowerCase()
    .replace(VARYING, (run) => (/\d/.test(run) ? '#' : run))

/** Metadata key that identifies the failure of a memory. */
export const PROBLEM = 'problem'
const KEY_LENGTH = 32

/**
 * The key that all reports of a failure share. It contains only the base name of a file, because reports spell its path
 * differently.
 */
export async function problemKey({ line, of }: Failure): Promise<string> {
  const place = of === null ? [] : 'file' in of ? ['file', baseName(normalPath(of.file))] : ['command', of.command]
  return (await sha256Hex(JSON.stringify([patternOf(line), ...place]))).slice(0, KEY_LENGTH)
}

/** A stored memory with the same failure key. */
export interface Reported {
  readonly id: number
  readonly version: number
  /** Path of its file; null without one. */
  readonly path: string | null
  /** Number of reports. */
  readonly count: number
}

/** The stored memory of a failure; null for a new failure. @param reported oldest first */
export function sameProblem({ of }: Failure, project: string | null, reported: readonly Reported[]): Reported | null {
  if (of === null || !('file' in of)) return reported[0] ?? null
  const file = normalPath(of.file, project)
  return reported.find(({ path }) => path !== null && isSameFile(normalPath(path, project), file)) ?? null
}
