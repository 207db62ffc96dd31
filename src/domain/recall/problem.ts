import { sha256Hex } from '../text'
import type { Failure } from './events/event'
import { baseName, isSameFile, normalPath } from './paths'

/** One problem is one memory (fabric contract §7): what of a failure tells that it has been reported before. */

/** Hexadecimal runs and numbers, at whatever place of a word. */
const VARYING = /0x[0-9a-f]+|[0-9a-f]{6,}|\d+/g

/** A line as it is compared: without case, numbers and hexadecimal runs. */
export const patternOf = (line: string): string =>
  line
    .trim()
    .toLowerCase()
    .replace(VARYING, (run) => (/\d/.test(run) ? '#' : run))

/** Where the memory of a problem says which one it is. */
export const PROBLEM = 'problem'
const KEY_LENGTH = 32

/** What all reports of a problem have in common; of a file the name alone, since its path may be told in several ways. */
export async function problemKey({ line, of }: Failure): Promise<string> {
  const place = of === null ? [] : 'file' in of ? ['file', baseName(normalPath(of.file))] : ['command', of.command]
  return (await sha256Hex(JSON.stringify([patternOf(line), ...place]))).slice(0, KEY_LENGTH)
}

/** A memory of a problem with the same key. */
export interface Reported {
  readonly id: number
  readonly version: number
  /** The file that it names; null for none. */
  readonly path: string | null
  /** How often it was reported. */
  readonly count: number
}

/** The one of these that stands for the failure. @param reported the oldest first */
export function sameProblem({ of }: Failure, project: string | null, reported: readonly Reported[]): Reported | null {
  if (of === null || !('file' in of)) return reported[0] ?? null
  const file = normalPath(of.file, project)
  return reported.find(({ path }) => path !== null && isSameFile(normalPath(path, project), file)) ?? null
}
