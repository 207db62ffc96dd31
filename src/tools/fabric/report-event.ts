import * as z from 'zod'
import { MAX_FILE_BYTES } from '../../domain/code/indexed-files'
import type { Metadata } from '../../domain/entry/metadata'
import { limitExceeded } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import { jsonText } from '../../domain/json/write'
import { instantOf, temporal } from '../../domain/recall/calendar'
import { EVENT_TYPES, MAX_PAYLOAD_BYTES, MAX_SESSION_ID, REPORTERS } from '../../domain/recall/events/event'
import { outcomeOf } from '../../domain/recall/events/outcomes'
import { projectOfWrite } from '../../domain/recall/memory-metadata'
import { redact } from '../../domain/secrets/redact'
import { codePointLength, trim, utf8Length } from '../../domain/text'
import { readWrittenTime } from '../../domain/time'
import { collectIssues, IssueCollector } from '../../domain/validation'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { jsonObject, listOf, part, strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { reportFromReceipt } from '../receipt-outcomes'
import { isRecord } from '../record'
import { fabric } from './family'
import { fabricOutput, firstProject, iso, projectPath, replaced, shownScore } from './memory-serializer'

const event = z
  .strictObject({
    type: z.enum(EVENT_TYPES),
    payload: jsonObject(
      'By type: path, content, language | command, output, exitCode | error, context, file, line, stack | decision, ' +
        'rationale | pattern, code, language, file | feedback, rating',
      'path',
    ),
    timestamp: z.string().meta({ description: 'ISO 8601' }),
    sessionId: z.string(),
    cliType: z.enum(REPORTERS),
    projectPath,
  })
  .meta({ description: 'What happened' })

type Given = z.output<typeof event>

/** Checks the size of a payload, and separately of a file's content. */
function checkSizes({ type, payload }: Pick<Given, 'type' | 'payload'>, wrong: IssueCollector): void {
  const { content, ...rest } = payload
  const isFile = type === 'file_opened' && typeof content === 'string'
  const refuse = (path: string, bytes: number, most: number) => {
    if (bytes > most) wrong.note(limitExceeded(`${path} has ${bytes} bytes; at most ${most} are allowed`))
  }
  refuse('event.payload', utf8Length(jsonText(isFile ? rest : payload)), MAX_PAYLOAD_BYTES)
  if (isFile) refuse('event.payload.content', utf8Length(content as string), MAX_FILE_BYTES)
}

/**
 * Checks the given parts of an event except its payload; notes problems.
 *
 * @param callProject the project that the call names next to the event
 * @returns the time of the event in milliseconds since 1970, and its project in stored form
 */
function checkEvent(caller: Caller, given: Partial<Given>, callProject: unknown, wrong: IssueCollector) {
  const { type, payload, timestamp, sessionId } = given
  const places = { 'event.projectPath': given.projectPath, projectPath: callProject }
  const [path, projectPath] = firstProject(places, wrong) ?? ['event.projectPath', undefined]
  const named = projectPath === undefined ? {} : { projectPath }
  const project = wrong.check(path, projectPath, () => projectOfWrite(caller, named, path)) ?? null
  const written = timestamp === undefined ? undefined : readWrittenTime(trim(timestamp).toUpperCase())
  if (written === null)
    wrong.refuse('event.timestamp', timestamp, 'event.timestamp must be ISO 8601, such as 2026-02-25T09:00:00Z')
  if (sessionId !== undefined && (trim(sessionId) === '' || codePointLength(sessionId) > MAX_SESSION_ID))
    wrong.refuse('event.sessionId', sessionId, `event.sessionId must have 1 to ${MAX_SESSION_ID} characters`)
  if (projectPath !== undefined && redact(projectPath) !== projectPath)
    wrong.refuse(path, 'a secret', `${path} holds a password or token; name the project without it`)
  if (type !== undefined && payload !== undefined) checkSizes({ type, payload }, wrong)
  return { at: written ? instantOf('UTC', written) : 0, project }
}

/** Checks the arguments that have the right type. @throws Problem */
export function inspect({ event: named, projectPath }: Record<string, unknown>, { principal }: ToolContext): void {
  if (!isRecord(named)) return
  const sound = soundArguments(event, named)
  const { type, payload } = sound
  const placed = named.projectPath ?? projectPath
  const isPlaced = placed === undefined || typeof placed === 'string'
  collectIssues((wrong) => {
    checkEvent(isPlaced ? principal : { ...principal, projects: null }, sound, projectPath, wrong)
    if (type !== undefined && payload !== undefined) outcomeOf({ type, payload: payload as Metadata }, null, wrong)
  })
}

/** Reads the event, and notes problems except those of its payload. */
export function read({ principal }: ToolContext, { event, projectPath }: z.output<typeof input>) {
  const wrong = new IssueCollector()
  const { at, project } = checkEvent(principal, event, projectPath, wrong)
  const { type, sessionId, cliType: reporter, payload } = event
  return { project, reported: { type, sessionId, at, reporter, payload }, wrong }
}

export const input = z.strictObject({ event, projectPath })

export const reportEvent = defineWritingTool({
  family: fabric,
  name: 'context_reportEvent',
  title: 'Report an event',
  description:
    'Report what happened in a session: files, commands, errors (returns similar ones), decisions, patterns, ' +
    'feedback. Secrets are redacted.',
  effect: 'store',
  example: {
    event: {
      type: 'error_occurred',
      payload: { error: 'TypeError: user.email is undefined', file: 'src/users.ts' },
      timestamp: '2026-11-22T04:46:00Z',
      sessionId: 's2',
      cliType: 'claude-code',
      projectPath: 'ferry',
    },
  },
  promise: 'FABRIC-89',
  budget: { tokens: 340, trips: 5, reads: [2_790, 10_500], writes: 150 },
  input,
  output: fabricOutput({
    processed: z.boolean(),
    memoryId: z.string(),
    memoryIds: strings('Id'),
    triggeredActions: strings('Action'),
    message: z.string(),
    similar: listOf(part('Already known', { id: z.string(), type: z.string(), content: z.string() }), 'Already known'),
    similarCount: z.int(),
    existing: z.boolean(),
    evicted: strings('Working memory evicted to make space'),
    warnings: strings('Warning'),
  }),
  loads: () => temporal.load(),
  inspect,
  work: (context, args) => {
    const { project, reported, wrong } = read(context, args)
    return context.services.reportEvent.report(context.principal, project, reported, wrong)
  },
  recall: reportFromReceipt,
  unfinished: {
    when: ({ unindexed }) => unindexed,
    finish(context, args, facts) {
      const { project, reported } = read(context, args)
      return context.services.reportEvent.finish(context.principal, project, reported, facts)
    },
  },
  answer({ memoryIds, actions, message, similar, existing, evicted, warnings }) {
    return {
      processed: true,
      memoryId: String(memoryIds[0]),
      memoryIds: memoryIds.map(String),
      triggeredActions: actions,
      message,
      ...(similar === null
        ? {}
        : {
            similar: similar.shown.map(({ id, type, similarity, content, createdAt, ...one }) => ({
              ...{ id: String(id), type, similarity: shownScore(similarity), content, createdAt: iso(createdAt) },
              ...replaced(one),
            })),
            similarCount: similar.count,
          }),
      ...(existing ? { existing } : {}),
      ...(evicted.length === 0 ? {} : { evicted: evicted.map(String) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
