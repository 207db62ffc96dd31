import type { MergedProjects } from '../identity/scope'
import { firstCodePoints } from '../text'
import { baseName } from './file-paths'

/** The current work of an agent (fabric contract §5): its files and command, and whether a text mentions them. */

/** Maximum code points of the text that describes the current work. */
const CONTEXT = 2_000

/** The current work of an agent. Paths are normalized. */
export interface WorkContext extends MergedProjects {
  readonly project: string | null
  readonly sessionId: string | null
  readonly currentFile: string | null
  readonly currentCommand: string | null
  /** Limits patterns to this language. */
  readonly language: string | null
  readonly filePath: string | null
}

/** The files of the current work, without duplicates. */
export const filesOf = ({ currentFile, filePath }: WorkContext): string[] => [
  ...new Set([currentFile, filePath].filter((path) => path !== null)),
]

/** The text that memories are compared with; empty without any context. */
export const contextText = ({ currentFile, currentCommand }: WorkContext, working: readonly string[]): string =>
  firstCodePoints(
    [currentFile ?? '', currentCommand ?? '', ...working].filter((part) => part.trim() !== '').join('\n'),
    CONTEXT,
  )

const WITHIN_WORD = /[\p{L}\p{N}_]/u

/** Characters that continue a file name. */
const WITHIN_NAME = /[\p{L}\p{N}_-]/u

/** Whether a text contains a part that is not inside a longer name. */
function holdsWhole(text: string, part: string, neighbor: RegExp): boolean {
  for (let at = text.indexOf(part); part !== '' && at >= 0; at = text.indexOf(part, at + 1)) {
    const [before, behind, next] = [text[at - 1], text[at + part.length], text[at + part.length + 1]]
    // A full stop ends a sentence, unless the name continues after it.
    const goesOn = behind === '.' && next !== undefined && neighbor.test(next)
    const begins = before === undefined || !(neighbor.test(before) || (neighbor === WITHIN_NAME && before === '.'))
    if (begins && !goesOn && (behind === undefined || !neighbor.test(behind))) return true
  }
  return false
}

/** The names by which memories mention the current work: base names of its files, and its command. */
export const namesOf = (moment: WorkContext): string[] => [
  ...new Set(
    [...filesOf(moment).map((file) => baseName(file) || file), moment.currentCommand ?? ''].filter(
      (name) => name !== '',
    ),
  ),
]

/** Whether a text mentions one of the files by path or base name, or the command, as complete names. */
export const namesWork = (text: string, moment: WorkContext): boolean =>
  text !== '' &&
  (filesOf(moment).some((file) => holdsWhole(text, baseName(file) || file, WITHIN_NAME)) ||
    namesCommand(text, moment.currentCommand))

export const namesCommand = (text: string, command: string | null): boolean =>
  command !== null && holdsWhole(text, command, WITHIN_WORD)
