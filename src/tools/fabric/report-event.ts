import { z } from 'zod'
import { MAX_FILE_BYTES } from '../../domain/code/paths'
import type { Metadata } from '../../domain/entry/metadata'
import { limitExceeded } from '../../domain/errors'
import { Inspection } from '../../domain/flaws'
import { jsonText } from '../../domain/json/write'
import { instantOf } from '../../domain/recall/calendar'
import {
  EVENT_TYPES,
  MAX_PAYLOAD_BYTES,
  MAX_SESSION_ID,
  REPORTERS,
  type ReportedEvent,
} from '../../domain/recall/events/event'
import { redact } from '../../domain/recall/secrets'
import { codePointLength, trim, utf8Length } from '../../domain/text'
import { readWrittenTime } from '../../domain/time'
import { defineTool } from '../define-tool'
import { jsonObject, listOf, part, strings } from '../fields'
import { fabric } from './family'
import { fabricOutput, iso, namedProject, projectPath, shownScore } from './wire'

const event = z
  .strictObject({
    type: z.enum(EVENT_TYPES),
    payload: jsonObject(
      'By type: path, content, language | command, output, exitCode | error, context, file, line, stack | decision, ' +
        'rationale | pattern, code, language, file | feedback, rating',
    ),
    timestamp: z.string().meta({ description: 'ISO 8601' }),
    sessionId: z.string(),
    cliType: z.enum(REPORTERS),
    projectPath,
  })
  .meta({ description: 'What happened' })

/** Bytes of what is reported, by themselves and of a file. */
function checkSizes({ type, payload }: z.output<typeof event>, wrong: Inspection): void {
  const { content, ...rest } = payload
  const isFile = type === 'file_opened' && typeof content === 'string'
  const refuse = (path: string, bytes: number, most: number) => {
    if (bytes > most) wrong.note(limitExceeded(`${path} has ${bytes} bytes; at most ${most} are allowed`))
  }
  refuse('event.payload', utf8Length(jsonText(isFile ? rest : payload)), MAX_PAYLOAD_BYTES)
  if (isFile) refuse('event.payload.content', utf8Length(content as string), MAX_FILE_BYTES)
}

function readEvent(given: z.output<typeof event>, wrong: Inspection): ReportedEvent {
  const { type, timestamp, sessionId, cliType, projectPath: project = '' } = given
  const written = readWrittenTime(trim(timestamp).toUpperCase())
  if (written === null)
    wrong.refuse('event.timestamp', timestamp, 'event.timestamp must be ISO 8601, such as 2026-02-25T09:00:00Z')
  if (trim(sessionId) === '' || codePointLength(sessionId) > MAX_SESSION_ID)
    wrong.refuse('event.sessionId', sessionId, `event.sessionId must have 1 to ${MAX_SESSION_ID} characters`)
  if (redact(project) !== project)
    wrong.refuse(
      'event.projectPath',
      'a secret',
      'event.projectPath holds a password or token; name the project without it',
    )
  checkSizes(given, wrong)
  const at = written === null ? 0 : instantOf('UTC', written)
  return { ...{ type, sessionId, at }, payload: given.payload as Metadata, reporter: cliType }
}

export const reportEvent = defineTool({
  family: fabric,
  name: 'context_reportEvent',
  title: 'Report an event',
  description:
    'Remember what happened in a session: files, commands, errors (tells of similar ones), decisions, patterns, ' +
    'feedback. Secrets are redacted.',
  effect: 'store',
  input: z.strictObject({ event }),
  output: fabricOutput({
    processed: z.boolean(),
    memoryId: z.string(),
    memoryIds: strings('Id'),
    triggeredActions: strings('Action'),
    message: z.string(),
    similar: listOf(part('Earlier error', { id: z.string(), similarity: z.number() }), 'Earlier error'),
    evicted: strings('Working memory that went to make room'),
    warnings: strings('Warning'),
  }),
  async handler({ services, principal }, { event: given }) {
    const wrong = new Inspection()
    const project = wrong.check('event.projectPath', given.projectPath, () =>
      namedProject(principal, given.projectPath),
    )
    const read = readEvent(given, wrong)
    const report = await services.reportEvent(principal, project ?? null, read, wrong)
    const { memoryIds, actions, message, similar, evicted, warnings } = report
    return {
      processed: true,
      memoryId: String(memoryIds[0]),
      memoryIds: memoryIds.map(String),
      triggeredActions: actions,
      message,
      ...(similar === null
        ? {}
        : {
            similar: similar.map(({ id, similarity, createdAt }) => ({
              id: String(id),
              similarity: shownScore(similarity),
              createdAt: iso(createdAt),
            })),
          }),
      ...(evicted.length === 0 ? {} : { evicted: evicted.map(String) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
