import { codePointLength, firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'
import { type Gathered, wasMended } from './gathered'

/** What is written of a session (capture contract §3). */
export interface Checkpoint {
  readonly title: string
  readonly text: string
}

const LONGEST = 4_000
const TITLE = 80
/** Files and commands that are named, each list within so many characters. */
const LIST = 1_000

const oneLine = (text: string): string => trim(text.replace(WHITE_SPACE_RUN, ' '))

/** As many as fit, and how many there are more. */
function joined(items: readonly string[], separator: string): string {
  const shown: string[] = []
  let length = 0
  for (const item of items) {
    length += codePointLength(item) + separator.length
    if (shown.length > 0 && length > LIST) break
    shown.push(item)
  }
  const more = items.length - shown.length
  return shown.join(separator) + (more === 0 ? '' : `${separator}and ${more} more`)
}

/**
 * Null where there is nothing to tell: no file, no command, and one prompt at most.
 *
 * @param client as people call it
 */
export function checkpointOf(gathered: Gathered, client: string): Checkpoint | null {
  const { place, prompts, files, commands, decisions, answer } = gathered
  if (files.length === 0 && commands.length === 0 && prompts.count <= 1) return null
  const asked = prompts.first.map(({ text }) => oneLine(text))
  const title = firstCodePoints(asked[0] ?? '', TITLE) || `Session of ${client}`
  const where = [place.project ?? 'no project', ...(place.branch === null ? [] : [`branch ${place.branch}`])].join(', ')
  const mended = commands.filter(wasMended).map(({ command }) => oneLine(command))
  const parts = [
    `${client} in ${where}.`,
    ...(asked.length === 0 ? [] : [`Asked:\n${asked.map((text) => `- ${text}`).join('\n')}`]),
    ...(files.length === 0
      ? []
      : [
          `Files: ${joined(
            files.map(({ text }) => oneLine(text)),
            ', ',
          )}`,
        ]),
    ...(mended.length === 0
      ? []
      : [
          `Failed, later passed:\n${joined(
            mended.map((command) => `- ${command}`),
            '\n',
          )}`,
        ]),
    ...(decisions.length === 0
      ? []
      : [
          `Decided:\n${decisions
            .toSorted((a, b) => a.at - b.at)
            .map(({ who, text }) => `- ${who}: ${oneLine(text)}`)
            .join('\n')}`,
        ]),
    ...(answer === null ? [] : [`The last answer begins: ${oneLine(answer.text)}`]),
  ]
  return { title, text: firstCodePoints(parts.join('\n\n'), LONGEST) }
}
