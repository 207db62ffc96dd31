import { type Metadata, own } from '../../entry/metadata'
import type { Inspection } from '../../flaws'
import { type EventMemory, type EventOutcome, type EventType, OPENED, type ReportedEvent } from './event'
import { errorLine, firstLine } from './outcome'
import { done, languageIn, paragraphs } from './outcome-parts'
import { beginning, Payload } from './payload'

/** What each type of event leaves (fabric contract §7). How much of outputs, files and stacks is kept, in code points. */
const OUTPUT = 500
const FAILED_OUTPUT = 4_000
const FILE = 1_000
const STACK = 4_000
const REPORT = 1_000
const HOUR = 3_600

function fileOpened(payload: Payload, { content: sent }: { readonly content: unknown }): EventOutcome {
  const path = payload.requiredPath('path', 'filePath')
  const language = languageIn(payload, path)
  const code = beginning(payload.text('content'), FILE)
  const memory: EventMemory = {
    ...{ type: 'scratchpad', layer: 1, ttl: OPENED.ttl, content: path, tags: [OPENED.tag] },
    metadata: {
      fileContext: { path, language },
      ...(code === '' ? {} : { codeBlock: { code, language, filePath: path } }),
    },
  }
  return done(memory, 'stored_scratchpad', 'File recorded.', {
    // An empty file takes the place of what it held.
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
    content: paragraphs(command, beginning(output, OUTPUT)),
  }
  if (exitCode === null || exitCode === 0) return done(ran, 'stored_command', 'Command recorded.')
  const line = errorLine(output) || command
  const failed: EventMemory = {
    ...{ type: 'bug_fix', layer: 2, tags: ['error', 'command_failed'], metadata, counts: true },
    content: paragraphs(line, ...(line === command ? [] : [command]), beginning(output, FAILED_OUTPUT)),
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
  const stack = beginning(payload.text('stack'), STACK)
  const place = path === '' || line === null ? path : `${path}:${line}`
  const lines = line !== null && line >= 1 ? { lineStart: line } : {}
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

/** The beginning or the end of a session, with what its reporter had to say. */
const session =
  (tag: string, ttl: number, words: string, action: string) =>
  (payload: Payload): EventOutcome =>
    done(
      {
        ...{ type: 'scratchpad', layer: 1, ttl, tags: [tag] },
        content: paragraphs(words, beginning(payload.lines(), REPORT)),
      },
      action,
      `${words}.`,
    )

function patternDetected(payload: Payload): EventOutcome {
  const path = payload.path('file')
  const code = payload.text('code')
  const language = languageIn(payload, path)
  const ofFile = path === '' ? {} : { filePath: path }
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
 * What is to be done about an event; nothing in it is a secret of a known form, but the content of a file, from which the index
 * takes them itself.
 *
 * @param project whose path is cut off from those of files
 * @param wrong what is missing is noted here
 */
export const outcomeOf = (
  { type, payload }: Pick<ReportedEvent, 'type' | 'payload'>,
  project: string | null,
  wrong: Inspection,
): EventOutcome => OUTCOMES[type](new Payload(payload, wrong, project), { content: own(payload, 'content') })
