import type { Merged } from '../identity/scope'
import { firstCodePoints } from '../text'
import { baseName } from './paths'

/** The moment that an agent is in (fabric contract §5): its files and command, and whether a text names them. */

/** Code points of the text that stands for the moment. */
const CONTEXT = 2_000

/** Paths are normal ones. */
export interface WorkContext extends Merged {
  readonly project: string | null
  readonly sessionId: string | null
  readonly currentFile: string | null
  readonly currentCommand: string | null
  /** Confines patterns. */
  readonly language: string | null
  readonly filePath: string | null
}

/** Files of the moment, each once. */
export const filesOf = ({ currentFile, filePath }: WorkContext): string[] => [
  ...new Set([currentFile, filePath].filter((path) => path !== null)),
]

/** The text that memories are compared with; empty when nothing stands for the moment. */
export const contextText = ({ currentFile, currentCommand }: WorkContext, working: readonly string[]): string =>
  firstCodePoints(
    [currentFile ?? '', currentCommand ?? '', ...working].filter((part) => part.trim() !== '').join('\n'),
    CONTEXT,
  )

const WITHIN_WORD = /[\p{L}\p{N}_]/u

/** Of a path: what stands before or behind it would be part of another name. */
const WITHIN_NAME = /[\p{L}\p{N}_-]/u

/** Whether a text holds a part whose neighbours do not belong to it. */
function holdsWhole(text: string, part: string, neighbour: RegExp): boolean {
  for (let at = text.indexOf(part); part !== '' && at >= 0; at = text.indexOf(part, at + 1)) {
    const [before, behind, next] = [text[at - 1], text[at + part.length], text[at + part.length + 1]]
    // A full stop ends a sentence, unless a name goes on behind it.
    const goesOn = behind === '.' && next !== undefined && neighbour.test(next)
    const begins = before === undefined || !(neighbour.test(before) || (neighbour === WITHIN_NAME && before === '.'))
    if (begins && !goesOn && (behind === undefined || !neighbour.test(behind))) return true
  }
  return false
}

/** What stands for the moment in the texts of memories: names of its files, and its command. */
export const namesOf = (moment: WorkContext): string[] => [
  ...new Set(
    [...filesOf(moment).map((file) => baseName(file) || file), moment.currentCommand ?? ''].filter(
      (name) => name !== '',
    ),
  ),
]

/** Whether a text names one of the files by path or base name, or the command, as whole segments and words. */
export const namesWork = (text: string, moment: WorkContext): boolean =>
  text !== '' &&
  (filesOf(moment).some((file) => holdsWhole(text, baseName(file) || file, WITHIN_NAME)) ||
    namesCommand(text, moment.currentCommand))

export const namesCommand = (text: string, command: string | null): boolean =>
  command !== null && holdsWhole(text, command, WITHIN_WORD)
