import { firstCodePoints } from '../text'
import type { Millis } from '../time'
import type { Memory } from './memory'
import { MAX_SHOWN } from './rank-current'
import { bugFixOf, counted, daysAgo, HEAD, hintOf, isCaptured, isType, type Shown, seenOf } from './suggestions'
import { namesCommand, type WorkContext } from './work-context'

export interface GhostMessage {
  readonly id: string
  readonly content: string
  /** Milliseconds since 1970. */
  readonly at: Millis
  readonly trigger: 'session_context' | 'relevant_decision' | 'bug_fix_context' | 'command_context'
}

const MOST_FILES = 3
const PATH = 200
const TEST_OR_BUILD = /(?<![\p{L}\p{N}_])(?:test|build|vitest|jest|pytest|make)(?![\p{L}\p{N}_])/u
export const testsOrBuilds = (command: string | null): boolean => command !== null && TEST_OR_BUILD.test(command)

/** Whether an error or a fix names a command. */
const isAbout = (memory: Memory, command: string): boolean =>
  namesCommand(memory.text, command) || namesCommand(memory.title ?? '', command)

/** The fix for a failed command, else how often it failed; null without either. */
function commandMessage({ bugs }: Shown, command: string, now: Millis): GhostMessage | null {
  const about = bugs.filter((memory) => isAbout(memory, command))
  const fix = about.find((memory) => !isCaptured(memory))
  const failure = about.find(isCaptured)
  const message = ({ at, content }: Pick<GhostMessage, 'at' | 'content'>): GhostMessage => ({
    ...{ id: 'command', at, content, trigger: 'command_context' },
  })
  if (fix !== undefined) return message({ at: fix.updatedAt, content: hintOf(fix, now) })
  if (failure === undefined) return null
  const { times, at } = seenOf(failure)
  const content = `${firstCodePoints(command, HEAD)} failed ${counted(times)}, last ${daysAgo(at, now)}: error [${failure.id}]`
  return message({ at, content: content })
}

export function ghostMessagesOf(shown: Shown, { currentCommand }: WorkContext, now: Millis): GhostMessage[] {
  const { relevant, opened } = shown
  const bugFix = bugFixOf(shown)
  const files = [...new Map(opened.toReversed().map((file) => [file.path, file])).values()]
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST_FILES)
  const [latest] = files
  const command = testsOrBuilds(currentCommand) ? commandMessage(shown, currentCommand as string, now) : null
  const all: (GhostMessage | null)[] = [
    latest === undefined
      ? null
      : {
          ...({ id: 'session', at: latest.at, trigger: 'session_context' } as const),
          content: `Opened lately: ${files.map(({ path }) => firstCodePoints(path, PATH)).join(', ')}`,
        },
    ...relevant
      .filter(isType('decision'))
      .slice(0, 2)
      .map(
        (memory): GhostMessage => ({
          ...{ id: `decision-${memory.id}`, at: memory.updatedAt, trigger: 'relevant_decision' },
          content: hintOf(memory, now),
        }),
      ),
    bugFix === undefined
      ? null
      : {
          ...({ id: `bug-fix-${bugFix.id}`, at: bugFix.updatedAt, trigger: 'bug_fix_context' } as const),
          content: hintOf(bugFix, now),
        },
    command,
  ]
  return all.filter((message) => message !== null).slice(0, MAX_SHOWN.ghostMessages)
}
