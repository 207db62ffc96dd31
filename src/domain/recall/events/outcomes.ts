import { languageOf, normalizeLanguage } from '../../code/languages'
import { type Metadata, own } from '../../entry/metadata'
import { DAY_MS, type Millis } from '../../time'
import type { IssueCollector } from '../../validation'
import {
  type EventMemory,
  type EventOutcome,
  type EventType,
  firstCharacters,
  OPENED,
  Payload,
  type ReportedEvent,
} from './event'

/** Creates the memories of an event (fabric contract §7). First: the line of an output with the error message. */
export const FAILURE = /error|exception|failed|fatal|panic|cannot/i

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** The first line that is not blank; empty without one. */
export const firstLine = (text: string): string => (linesOf(text)[0] ?? '').trim()

/**
 * The first line with a word for a failure, also inside another word, else the last line that is not blank; empty
 * without one.
 */
export function errorLine(output: string): string {
  const lines = linesOf(output)
  return (lines.find((line) => FAILURE.test(line)) ?? lines.at(-1) ?? '').trim()
}

/** Joins non-empty parts to lines. */

export const paragraphs = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

/** The language from the payload, else from the file name. */
const languageIn = (payload: Payload, path: string): string => {
  const named = payload.text('language').trim()
  return named === '' ? languageOf(path) : normalizeLanguage(named)
}

export const done = (
  memory: EventMemory,
  action: string,
  message: string,
  more: Partial<EventOutcome> = {},
): EventOutcome => ({ memories: [memory], actions: [action], message, failure: null, file: null, ...more })

/** Limits of outputs, files and stacks in stored memories, in code points. */
const OUTPUT = 500
const FAILED_OUTPUT = 4_000
const FILE = 1_000
const STACK = 4_000
const REPORT = 1_000
const HOUR = 3_600

function fileOpened(payload: Payload, { content: sent }: { readonly content: unknown }): EventOutcome {
  const path = payload.requiredPath('path', 'filePath')
  const language = languageIn(payload, path)
  const code = firstCharacters(payload.text('content'), FILE)
  const memory: EventMemory = {
    ...{ type: 'scratchpad', layer: 1, ttl: OPENED.ttl, content: path, tags: [OPENED.tag] },
    metadata: {
      fileContext: { path, language },
      ...(code === '' ? {} : { codeBlock: { code, language, filePath: path } }),
    },
  }
  return done(memory, 'stored_scratchpad', 'File recorded.', {
    // An empty file is indexed too: it replaces the former content.
    file: typeof sent === 'string' ? { path, content: sent, language } : null,
  })
}

function commandExecuted(payload: Payload): EventOutcome {
  const command = payload.required('command')
  const output = payload.text('output')
  const exitCode = payload.integer('exitCode')
  const metadata: Metadata = exitCode === null ? {} : { exitCode }
  const ran: EventMemory = {
    ...{ type: 'scratchpad', layer: 1, ttl: 2 * HOUR, tags: ['command_executed'], metadata },
    content: paragraphs(command, firstCharacters(output, OUTPUT)),
  }
  if (exitCode === null || exitCode === 0) return done(ran, 'stored_command', 'Command recorded.')
  const line = errorLine(output) || command
  const failed: EventMemory = {
    ...{ type: 'bug_fix', layer: 2, tags: ['error', 'command_failed'], metadata, counts: true },
    content: paragraphs(line, ...(line === command ? [] : [command]), firstCharacters(output, FAILED_OUTPUT)),
  }
  return {
    memories: [ran, failed],
    actions: ['stored_command', 'stored_error_memory', 'searched_similar_errors'],
    message: 'Error recorded.',
    failure: { line, of: { command } },
    file: null,
  }
}

function errorOccurred(payload: Payload): EventOutcome {
  const error = payload.required('error')
  const path = payload.path('file')
  const line = payload.integer('line')
  const stack = firstCharacters(payload.text('stack'), STACK)
  const place = path === '' || line === null ? path : `${path}:${line}`
  const lines: Record<string, number> = line !== null && line >= 1 ? { lineStart: line } : {}
  const memory: EventMemory = {
    ...{ type: 'bug_fix', layer: 2, tags: ['error', 'bug_fix'], counts: true },
    content: paragraphs(error, place, payload.text('context')),
    metadata: {
      ...(path === '' ? {} : { fileContext: { path, ...lines, language: languageIn(payload, path) } }),
      ...(stack === '' ? {} : { stack }),
    },
  }
  return done(memory, 'stored_error_memory', 'Error recorded.', {
    actions: ['stored_error_memory', 'searched_similar_errors'],
    failure: { line: firstLine(error), of: path === '' ? null : { file: path } },
  })
}

const decisionMade = (payload: Payload): EventOutcome =>
  done(
    {
      ...{ type: 'decision', layer: 2, tags: ['decision', 'architecture'] },
      content: paragraphs(payload.required('decision'), payload.text('rationale')),
    },
    'stored_decision',
    'Decision recorded.',
  )

/** The start or end of a session, with the values of its payload. */
const session =
  (tag: string, ttl: number, words: string, action: string) =>
  (payload: Payload): EventOutcome =>
    done(
      {
        ...{ type: 'scratchpad', layer: 1, ttl, tags: [tag] },
        content: paragraphs(words, firstCharacters(payload.lines(), REPORT)),
      },
      action,
      `${words}.`,
    )

function patternDetected(payload: Payload): EventOutcome {
  const path = payload.path('file')
  const code = payload.text('code')
  const language = languageIn(payload, path)
  const ofFile: Record<string, string> = path === '' ? {} : { filePath: path }
  const memory: EventMemory = {
    ...{ type: 'code_pattern', layer: 3, tags: ['pattern', 'code_pattern'] },
    content: payload.required('pattern'),
    metadata: {
      ...(path === '' ? {} : { fileContext: { path, language } }),
      ...(code === '' ? {} : { codeBlock: { code, language, ...ofFile } }),
    },
  }
  return done(memory, 'stored_pattern', 'Pattern recorded.')
}

function userFeedback(payload: Payload): EventOutcome {
  const feedback = payload.required('feedback')
  const rating = payload.text('rating')
  const memory: EventMemory = {
    ...{ type: 'relationship', layer: 3, tags: ['feedback', 'user_preference'] },
    content: paragraphs(feedback, rating === '' ? '' : `Rating: ${rating}`),
    metadata: { source: 'user_explicit' },
  }
  return done(memory, 'stored_feedback', 'Feedback recorded.')
}

const OUTCOMES: Readonly<Record<EventType, (payload: Payload, given: { readonly content: unknown }) => EventOutcome>> =
  {
    file_opened: fileOpened,
    command_executed: commandExecuted,
    error_occurred: errorOccurred,
    decision_made: decisionMade,
    session_start: session('session_start', 24 * HOUR, 'Session started', 'initialized_session'),
    session_end: session('session_end', HOUR, 'Session ended', 'session_closed'),
    pattern_detected: patternDetected,
    user_feedback: userFeedback,
  }

/**
 * The memories and actions of an event. Known forms of secrets are redacted, except in the content of a file, which the
 * index redacts.
 * @param project removed from the start of file paths
 * @param wrong receives issues of the payload
 */
export const outcomeOf = (
  { type, payload }: Pick<ReportedEvent, 'type' | 'payload'>,
  project: string | null,
  wrong: IssueCollector,
): EventOutcome => OUTCOMES[type](new Payload(payload, wrong, project), { content: own(payload, 'content') })

/** The message of the answer to an event (fabric contract §7). */
interface Similar {
  readonly id: number
  readonly type: string
  readonly captured: boolean
  readonly seenAt: Millis
  readonly supersededBy?: number | undefined
}

/** The age in days, as words (fabric contract §5). */
function daysAgo(durationMs: Millis): string {
  const days = Math.floor(durationMs / DAY_MS)
  return days < 1 ? 'today' : days === 1 ? '1 day ago' : `${days} days ago`
}

/** The type of a memory as a word. */
const wordOf = ({ type, captured }: Similar): string =>
  type === 'bug_fix' ? (captured ? 'error' : 'fix') : type === 'code_pattern' ? 'pattern' : type

export const countedAction = (action: string): string =>
  action === 'stored_error_memory' ? 'counted_error_memory' : action

/**
 * The message about an event and similar errors.
 * @param message the message without a failure
 * @param known earlier reports and similar memories of the failure; null for an event without one
 */
export function eventMessage(
  message: string,
  known: {
    readonly before: { readonly count: number } | null
    readonly similar: { readonly shown: readonly Similar[]; readonly count: number }
  } | null,
  now: Millis,
): string {
  if (known === null) return message
  const { before, similar } = known
  const recorded = before === null ? message : `Error recorded, seen ${before.count + 1} times.`
  const [first] = similar.shown
  if (first === undefined) return `${recorded} No similar error known.`
  const memories = similar.count === 1 ? 'memory' : 'memories'
  const until = first.supersededBy === undefined ? '' : `, superseded by [${first.supersededBy}]`
  return `${recorded} Found ${similar.count} similar ${memories}: ${wordOf(first)} [${first.id}], ${daysAgo(now - first.seenAt)}${until}.`
}
