import * as z from 'zod'
import { judgementPatch, mayHoldMarkOf } from '../../domain/currency/pair'
import { checkValidity, validityOf } from '../../domain/currency/validity'
import type { Entry } from '../../domain/entry/entry'
import { titleOf } from '../../domain/entry/extracted-metadata'
import { AUDIENCES, type JsonObject } from '../../domain/entry/metadata'
import { readWorkStatus, WORK_STATUSES } from '../../domain/entry/work'
import { invalidInput, noSuchEntry, Problem } from '../../domain/errors'
import type { MergedProjects } from '../../domain/identity/scope'
import { openProject } from '../../domain/recall/project-access'
import { sha256Hex, trim } from '../../domain/text'
import { givenAs } from '../../domain/validation'
import { attempt, done, onlyValue, withRetries } from '../../services/outcome'
import { archivedNote } from '../../services/writing/entries/update-entries'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { jsonObject, newTags, output, strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { onlyOne, updatedFromReceipt } from '../receipt-outcomes'
import { core } from './family'
import { oneOf } from './remember'
import { checkExpiry, id, ids, kindOf, lean } from './vocabulary'

/** Attempts of an edit if other writes change the memory in between. */
const EDIT_TRIES = 20

/** Fields that `clear` accepts. An empty value clears nothing, because it may be a mistake. */
const CLEARED = ['title', 'status', 'project', 'tags', 'audience', 'valid_until', 'expires_at', 'pinned'] as const

const text = (description: string) => z.string().optional().meta({ description })

const input = z.strictObject({
  id: id('Memory'),
  title: text('Title'),
  content: text('Replaces all, or old_text'),
  old_text: text('Replace only this part'),
  append: text('Text to add'),
  kind: text('Kind'),
  status: oneOf(WORK_STATUSES, 'Task status'),
  project: text('Moves it'),
  tags: newTags('Replaces all').optional(),
  audience: oneOf(AUDIENCES, 'Who may read it'),
  pinned: z.boolean().optional().meta({ description: 'Shown at every start' }),
  valid_from: text('ISO 8601'),
  valid_until: text('ISO 8601'),
  expires_at: text('ISO 8601'),
  replaces: ids('IDs made obsolete').optional(),
  both_hold: ids('IDs still valid').optional(),
  metadata: jsonObject('Merged').optional(),
  clear: z
    .array(z.enum(CLEARED).meta({ description: 'Field' }))
    .max(CLEARED.length)
    .optional()
    .meta({ description: 'Fields to empty' }),
  expected_version: z.int().optional().meta({ description: 'Fail if not this' }),
})
type Arguments = z.output<typeof input>

/** Returns the fields that the call changes, in the order of the schema. */
const changed = ({ id: _, expected_version: __, clear = [], old_text: ___, append, ...given }: Arguments): string[] => [
  ...new Set([
    ...Object.keys({ ...given, ...(append === undefined ? {} : { content: append }) }).filter(
      (name) => name === 'content' || given[name as keyof typeof given] !== undefined,
    ),
    ...clear,
  ]),
]

/** Checks that `old_text` has a replacement and that the content is changed in only one way. @throws Problem invalid_input */
function checkEdit({ content, old_text, append }: Partial<Arguments>): void {
  if (old_text !== undefined && content === undefined)
    throw invalidInput('old_text needs content: the text that replaces it', [{ path: 'content', given: 'nothing' }])
  if (append !== undefined && content !== undefined)
    throw invalidInput('Give either append or content', [{ path: 'append', given: givenAs(append) }])
}

/** Applies an edit to a text. @throws Problem invalid_input if `old_text` does not occur exactly once */
function edited(text: string, { content = '', old_text, append }: Arguments): string {
  if (append !== undefined) return `${text.trimEnd()}\n\n${append}`
  const part = old_text ?? ''
  const at = text.indexOf(part)
  const isOnce = at >= 0 && text.indexOf(part, at + 1) < 0
  if (isOnce) return text.slice(0, at) + content + text.slice(at + part.length)
  throw invalidInput(
    `old_text ${at < 0 ? 'does not occur' : 'occurs more than once'} in the content. Fetch it, and copy a part that occurs once`,
    [{ path: 'old_text', given: givenAs(old_text) }],
  )
}

/** Builds one patch of metadata, text and tags. @throws Problem invalid_input, forbidden */
function patchOf({ principal, services }: ToolContext, args: Partial<Arguments>) {
  const { title, content, kind, status, project, tags, audience, pinned, expires_at, metadata = {}, clear = [] } = args
  checkEdit(args)
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
    status: status === undefined ? undefined : readWorkStatus(status),
    project: project === undefined ? undefined : openProject(principal, project, 'project'),
    audience,
    expires_at,
  }) as JsonObject
  const cleared = clear.flatMap((field) => (field === 'tags' ? [] : [[field, null]]))
  const patch: JsonObject = {
    ...metadata,
    ...named,
    ...validityOf(args),
    ...(pinned === undefined ? {} : { pinned }),
    ...Object.fromEntries(cleared),
  }
  checkExpiry(patch, services.now())
  return {
    ...(content === undefined ? {} : { text: content }),
    ...(Object.keys(patch).length === 0 ? {} : { metadataPatch: patch }),
    ...(clear.includes('tags') ? { tags: [] } : tags === undefined ? {} : { tags }),
  }
}

/**
 * Checks that every reader of a memory can read the others of its judgement.
 *
 * @throws Problem invalid_input that names the call on the other memory
 */
function checkReaders(scope: MergedProjects, entry: Entry, patch: JsonObject, others: readonly Entry[]): void {
  const { project } = patch
  const holder = {
    metadata: { ...entry.metadata, ...patch },
    project: project === undefined ? entry.project : typeof project === 'string' ? project : null,
  }
  const hidden = others.find((other) => !mayHoldMarkOf(scope, holder, other))
  if (hidden === undefined) return
  const call = mayHoldMarkOf(scope, hidden, holder)
    ? `Record the judgement there: update ${JSON.stringify({ id: hidden.id, both_hold: [entry.id] })}`
    : 'Memories of different projects are not compared, so they need no judgement'
  throw invalidInput(`both_hold: not every reader of memory ${entry.id} can read ${hidden.id}. ${call}`, [
    { path: 'both_hold', given: givenAs(hidden.id) },
  ])
}

export const update = defineWritingTool({
  family: core,
  name: 'update',
  title: 'Update',
  description: 'Change the given fields of a memory. restore undoes it.',
  effect: 'change',
  example: { id: 7, title: 'Refunds carry an idempotency key', status: 'done' },
  promise: 'CORE-11',
  budget: { tokens: 450, trips: 4, reads: [95, 95], writes: 39 },
  input,
  output: output({ id: z.int(), version: z.int(), changed: strings('Field') }),
  isCostly: ({ content, append, title }) => content !== undefined || append !== undefined || title !== undefined,
  queuesWork: ({ content, append, title, clear = [] }) =>
    content !== undefined || append !== undefined || title !== undefined || clear.includes('title'),
  inspect: (args, context) => void patchOf(context, soundArguments(input, args)),
  async work(context, args) {
    const { services, principal } = context
    const draft = { id: args.id, expectedVersion: args.expected_version, ...patchOf(context, args) }
    const { replaces = [], both_hold: others = [] } = args
    if (changed(args).length === 0)
      throw invalidInput('Name at least one field to change', [{ path: 'content', given: 'nothing' }])
    const edits = args.old_text !== undefined || args.append !== undefined
    const dates = args.valid_from !== undefined || args.valid_until !== undefined
    if (!edits && !dates && replaces.length === 0 && others.length === 0)
      return onlyValue(await services.updateEntries(principal, [done(draft)], true))
    // The edit is based on the text that was read, so it is repeated if another write came in between.
    return withRetries(async () => {
      const read = new Map(
        (await services.entries.read(principal, [...new Set([args.id, ...replaces, ...others])])).map((one) => [
          one.id,
          one,
        ]),
      )
      const missing = [args.id, ...replaces, ...others].find((one) => !read.has(one))
      if (missing !== undefined) throw noSuchEntry(missing)
      const entry = read.get(args.id) as Entry
      const expectedVersion = args.expected_version ?? entry.version
      if (dates) checkValidity({ ...entry.metadata, ...draft.metadataPatch })
      const text = edits ? edited(entry.text, args) : draft.text
      const content = {
        title: titleOf({ ...entry.metadata, ...draft.metadataPatch }),
        textHash: text === undefined ? entry.textHash : await sha256Hex(trim(text)),
      }
      const bothHold = others.map((one) => read.get(one) as Entry)
      checkReaders(principal, entry, draft.metadataPatch ?? {}, bothHold)
      const judged = judgementPatch(entry.metadata, content, { replaces, bothHold })
      const complete = {
        ...{ ...draft, expectedVersion },
        ...(text === undefined ? {} : { text }),
        ...(Object.keys(judged).length === 0 ? {} : { metadataPatch: { ...draft.metadataPatch, ...judged } }),
      }
      const outcome = await attempt(async () =>
        onlyValue(await services.updateEntries(principal, [done(complete)], true)),
      )
      if (outcome.ok) return outcome.value
      const { code, message } = outcome.problem
      if (code !== 'conflict' || args.expected_version !== undefined) throw outcome.problem
      throw new Problem('conflict', message, { retryable: true })
    }, EDIT_TRIES)
  },
  recall: (trace) => onlyOne(updatedFromReceipt(trace)),
  answer: ({ id: entry, version, archived, warnings = [] }, args) =>
    lean({
      ...{ id: entry, version, changed: changed(args) },
      warnings: [...warnings, ...archivedNote(archived ? [entry] : [])],
    }),
})
