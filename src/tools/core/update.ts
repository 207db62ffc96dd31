import * as z from 'zod'
import { AUDIENCES, type JsonObject } from '../../domain/entry/metadata'
import { readWorkStatus, WORK_STATUSES } from '../../domain/entry/work'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/flaws'
import { openProject } from '../../domain/recall/project'
import { done, onlyValue } from '../../services/outcome'
import { archivedNote } from '../../services/writing/entries/updated-entry'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { onlyOne, updatedBefore, updatedEntry } from '../facts'
import { expectedVersion, jsonObject, newTags, output, strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { core } from './family'
import { oneOf } from './remember'
import { id, kindOf, lean } from './vocabulary'

/** Fields that can be cleared; clearing says so by name, since an empty value may be a mistake. */
const CLEARED = ['title', 'status', 'project', 'tags', 'audience', 'expires_at', 'pinned'] as const

const text = (description: string) => z.string().optional().meta({ description })

const input = z.strictObject({
  id: id('Memory'),
  title: text('Title'),
  content: text('Replaces all of it'),
  kind: text('Kind'),
  status: oneOf(WORK_STATUSES, 'Of a task'),
  project: text('Moves it'),
  tags: newTags('Replaces all').optional(),
  audience: oneOf(AUDIENCES, 'Who may read it'),
  pinned: z.boolean().optional().meta({ description: 'Shown at every start' }),
  expires_at: text('ISO 8601'),
  metadata: jsonObject('Merged; null deletes a key').optional(),
  clear: z
    .array(z.enum(CLEARED).meta({ description: 'Field' }))
    .max(CLEARED.length)
    .optional()
    .meta({ description: 'Fields to empty' }),
  expected_version: expectedVersion,
})
type Arguments = z.output<typeof input>

/** The fields that the call names, in the order of the schema. */
const changed = ({ id: _, expected_version: __, clear = [], ...given }: Arguments): string[] => [
  ...new Set([...Object.keys(given).filter((name) => given[name as keyof typeof given] !== undefined), ...clear]),
]

/** The change as one patch of metadata, with text and tags. @throws Problem invalid_input, forbidden */
function patchOf({ principal }: ToolContext, args: Partial<Arguments>) {
  const { title, content, kind, status, project, tags, audience, pinned, expires_at, metadata = {}, clear = [] } = args
  for (const field of clear)
    if (args[field] !== undefined)
      throw invalidInput(`${field} is both given and in clear`, [{ path: 'clear', given: givenAs(clear) }])
  if (title !== undefined && title.trim() === '')
    throw invalidInput('title is blank: omit it, or name it in clear', [{ path: 'title', given: givenAs(title) }])
  if (status !== undefined && readWorkStatus(status) === null)
    throw invalidInput(`status must be one of: ${WORK_STATUSES.join(', ')}`, [
      { path: 'status', given: givenAs(status) },
    ])
  if (audience !== undefined && !AUDIENCES.some((known) => known === audience))
    throw invalidInput(`audience must be one of: ${AUDIENCES.join(', ')}`, [
      { path: 'audience', given: givenAs(audience), example: 'project' },
    ])
  const named: JsonObject = lean({
    title,
    kind: kind === undefined ? undefined : kindOf(kind),
    status,
    project: project === undefined ? undefined : openProject(principal, project, 'project'),
    audience,
    expires_at,
  }) as JsonObject
  const cleared = clear.flatMap((field) => (field === 'tags' ? [] : [[field, null]]))
  const patch: JsonObject = {
    ...metadata,
    ...named,
    ...(pinned === undefined ? {} : { pinned }),
    ...Object.fromEntries(cleared),
  }
  return {
    ...(content === undefined ? {} : { text: content }),
    ...(Object.keys(patch).length === 0 ? {} : { metadataPatch: patch }),
    ...(clear.includes('tags') ? { tags: [] } : tags === undefined ? {} : { tags }),
  }
}

export const update = defineWritingTool({
  family: core,
  name: 'update',
  title: 'Update',
  description: 'Change fields of a memory; the others stay. restore undoes it.',
  effect: 'change',
  input,
  output: output({ id: z.int(), version: z.int(), changed: strings('Field') }),
  isCostly: ({ content, title }) => content !== undefined || title !== undefined,
  queuesWork: ({ content, title, clear = [] }) =>
    content !== undefined || title !== undefined || clear.includes('title'),
  inspect: (args, context) => void patchOf(context, soundArguments(input, args)),
  facts: updatedEntry,
  async work(context, args) {
    const { services, principal } = context
    const draft = { id: args.id, expectedVersion: args.expected_version, ...patchOf(context, args) }
    return onlyValue(await services.updateEntries(principal, [done(draft)], true))
  },
  recall: (trace) => onlyOne(updatedBefore(trace)),
  answer: ({ id: entry, version, archived, warnings }, args) =>
    lean({
      ...{ id: entry, version, changed: changed(args) },
      warnings: [...warnings, ...archivedNote(archived ? [entry] : [])],
    }),
})
