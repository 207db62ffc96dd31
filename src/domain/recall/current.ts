import { languageOf } from '../code/languages'
import { firstCodePoints } from '../text'
import type { Memory } from './memory'
import { typeOfKind } from './memory'

/** What stands before a coding agent at this moment (fabric contract §5): which memories, in which order, and what they suggest. */
export const MOST = { working: 10, relevant: 10, patterns: 5, suggestions: 5, ghostMessages: 5 } as const

/** Where relevant memories come from: of layer 2 the newest, and of layers 2 and 3 those nearest to what is being done. */
export const CANDIDATES = { newest: 50, nearest: 50 } as const
/** Least similarity of a memory of layer 3 that names no file of the moment. */
export const LEAST_SEMANTIC = 0.3

/** Code points of the text that stands for the moment. */
const CONTEXT = 2_000
/** Working memories whose contents belong to it. */
export const CONTEXT_WORKING = 3

export interface Moment {
  readonly sessionId: string | null
  readonly currentFile: string | null
  readonly currentCommand: string | null
  /** Confines patterns. */
  readonly language: string | null
  readonly filePath: string | null
}

/** The weights of a score, beside the weight of the memory. */
export const SHARES = {
  base: 0.25,
  fresh: 0.2,
  similarity: 0.4,
  /** Its file is the one that is open. */
  file: 0.55,
  /** Its content names that file. */
  named: 0.35,
  /** Its content holds the command. */
  command: 0.3,
  /** A decision while a file is open. */
  decision: 0.12,
  /** A bug_fix while something is tested or built. */
  bugFix: 0.2,
  /** Stored by this session. */
  session: 0.25,
} as const

/** Days after which freshness counts a third. */
export const FADING_DAYS = 14
export const DAY = 86_400_000

/** What the database tells of a memory with regard to the moment. */
export interface Marks {
  readonly file: boolean
  readonly named: boolean
  readonly command: boolean
  readonly session: boolean
}

/** Files of the moment, each once. */
export const filesOf = ({ currentFile, filePath }: Moment): string[] => [
  ...new Set([currentFile, filePath].filter((path) => path !== null)),
]

export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)

const TEST_OR_BUILD = /\b(?:test|spec|jest|vitest|pytest|mocha|build|compile|make|tsc|lint|check|cargo|gradle|mvn)\b/i

export const testsOrBuilds = (command: string | null): boolean => command !== null && TEST_OR_BUILD.test(command)

/** The text that memories are compared with; empty when nothing stands for the moment. */
export const contextText = ({ currentFile, currentCommand }: Moment, working: readonly string[]): string =>
  firstCodePoints(
    [currentFile ?? '', currentCommand ?? '', ...working].filter((part) => part.trim() !== '').join('\n'),
    CONTEXT,
  )

export const scoreNow = (
  memory: Pick<Memory, 'kind' | 'weight' | 'updatedAt'>,
  marks: Marks,
  similarity: number,
  moment: Moment,
  now: number,
): number => {
  const type = typeOfKind(memory.kind)
  const days = (now - memory.updatedAt) / DAY
  const share = (holds: boolean, weight: number): number => (holds ? weight : 0)
  return (
    (memory.weight / 3) *
    (SHARES.base +
      SHARES.fresh * Math.exp(-days / FADING_DAYS) +
      SHARES.similarity * similarity +
      share(marks.file, SHARES.file) +
      share(marks.named, SHARES.named) +
      share(marks.command, SHARES.command) +
      share(type === 'decision' && filesOf(moment).length > 0, SHARES.decision) +
      share(type === 'bug_fix' && testsOrBuilds(moment.currentCommand), SHARES.bugFix) +
      share(marks.session, SHARES.session))
  )
}

/** A pattern as it is shown. */
export interface Pattern {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly code: string
  readonly language: string
  readonly usageCount: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
  readonly relatedFiles: readonly string[]
}

const DESCRIPTION = 200
export const NO_LANGUAGE = 'text'

const stringAt = (memory: Memory, key: string, member: string): string | null => {
  const value = memory.metadata !== null && Object.hasOwn(memory.metadata, key) ? memory.metadata[key] : null
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, member)) return null
  const found = value[member]
  return typeof found === 'string' ? found : null
}

/** @param usedAt when it was last used, apart from being shown now */
export function patternOf(memory: Memory, usedAt: number): Pattern {
  const files = [stringAt(memory, 'fileContext', 'path'), stringAt(memory, 'codeBlock', 'filePath')]
  return {
    id: memory.id,
    name: memory.title ?? `Pattern ${memory.id}`,
    description: firstCodePoints(memory.text, DESCRIPTION),
    code: stringAt(memory, 'codeBlock', 'code') ?? memory.text,
    language: stringAt(memory, 'codeBlock', 'language') ?? stringAt(memory, 'fileContext', 'language') ?? NO_LANGUAGE,
    usageCount: Math.max(1, memory.accessCount),
    lastUsedAt: usedAt,
    relatedFiles: [...new Set(files.filter((file) => file !== null))],
  }
}

/** The language of the open file; null when none is open, or nobody knows its ending. */
export const languageNow = ({ currentFile }: Moment): string | null => {
  const language = currentFile === null ? NO_LANGUAGE : languageOf(currentFile)
  return language === NO_LANGUAGE ? null : language
}

export interface Suggestion {
  readonly id: string
  readonly type: 'memory' | 'pattern' | 'action'
  readonly content: string
  readonly confidence: number
  readonly sources: readonly number[]
}

export interface GhostMessage {
  readonly id: string
  readonly content: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly trigger: 'session_context' | 'relevant_decision' | 'bug_fix_context' | 'command_context'
}

/** A file that was opened, and when. */
export interface OpenedFile {
  readonly path: string
  readonly at: number
}

/** What is shown of the moment, from which the rest follows. */
export interface Shown {
  readonly working: readonly Memory[]
  readonly relevant: readonly Memory[]
  readonly patterns: readonly Pattern[]
  /** Newest first. */
  readonly opened: readonly OpenedFile[]
}

const LINE = 200
const lineOf = ({ title, text }: Memory): string => firstCodePoints(title ?? text, LINE)
const isType = (type: string) => (memory: Memory) => typeOfKind(memory.kind) === type
const bugFixOf = ({ relevant, working }: Shown): Memory | undefined => [...relevant, ...working].find(isType('bug_fix'))

export function suggestionsOf(shown: Shown): Suggestion[] {
  const { relevant, patterns } = shown
  const bugFix = bugFixOf(shown)
  const all: Suggestion[] = [
    ...relevant
      .filter(isType('decision'))
      .slice(0, 2)
      .map(
        (memory): Suggestion => ({
          ...{ id: `decision-${memory.id}`, type: 'memory', confidence: 0.8, sources: [memory.id] },
          content: `Decided: ${lineOf(memory)}`,
        }),
      ),
    ...patterns.slice(0, 2).map(
      ({ id, name, usageCount }): Suggestion => ({
        ...{ id: `pattern-${id}`, type: 'pattern', confidence: usageCount > 5 ? 0.9 : 0.7, sources: [id] },
        content: `Pattern to follow: ${name}`,
      }),
    ),
    ...(bugFix === undefined
      ? []
      : [
          {
            ...({ id: `bug-fix-${bugFix.id}`, type: 'action', confidence: 0.75, sources: [bugFix.id] } as const),
            content: `Look at an earlier fix: ${lineOf(bugFix)}`,
          },
        ]),
    ...(relevant.length < 3
      ? []
      : [
          {
            ...({ id: 'explore', type: 'action', confidence: 0.6, sources: relevant.map(({ id }) => id) } as const),
            content: `Explore ${relevant.length} related memories`,
          },
        ]),
  ]
  return all.slice(0, MOST.suggestions)
}

const MOST_FILES = 3

export function ghostMessagesOf(shown: Shown, { currentCommand }: Moment): GhostMessage[] {
  const { relevant, opened } = shown
  const bugFix = bugFixOf(shown)
  const files = [...new Map(opened.map((file) => [file.path, file])).values()].slice(0, MOST_FILES)
  const [latest] = files
  const all: GhostMessage[] = [
    ...(latest === undefined
      ? []
      : [
          {
            ...({ id: 'session', at: latest.at, trigger: 'session_context' } as const),
            content: `Opened lately: ${files.map(({ path }) => path).join(', ')}`,
          },
        ]),
    ...relevant
      .filter(isType('decision'))
      .slice(0, 2)
      .map(
        (memory): GhostMessage => ({
          ...{ id: `decision-${memory.id}`, at: memory.updatedAt, trigger: 'relevant_decision' },
          content: firstCodePoints(memory.text, LINE),
        }),
      ),
    ...(bugFix === undefined
      ? []
      : [
          {
            ...({ id: `bug-fix-${bugFix.id}`, at: bugFix.updatedAt, trigger: 'bug_fix_context' } as const),
            content: `An earlier fix: ${firstCodePoints(bugFix.text, LINE)}`,
          },
        ]),
    ...(bugFix === undefined || !testsOrBuilds(currentCommand)
      ? []
      : [
          {
            ...({ id: 'command', at: bugFix.updatedAt, trigger: 'command_context' } as const),
            content: `Before ${firstCodePoints(currentCommand ?? '', LINE)}: a fix of an earlier failure is known`,
          },
        ]),
  ]
  return all.slice(0, MOST.ghostMessages)
}
