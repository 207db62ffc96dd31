import * as z from 'zod'
import { validityOf } from '../../domain/currency/validity'
import { AUDIENCES } from '../../domain/entry/metadata'
import { readWorkStatus, WORK_STATUSES } from '../../domain/entry/work'
import { invalidInput } from '../../domain/errors'
import { readRemembered } from '../../domain/pack/remember'
import type { Millis } from '../../domain/time'
import { givenAs } from '../../domain/validation'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { jsonObject, listOf, output, part } from '../fields'
import { inspectImages } from '../images'
import { mayReplaceMembers, mayReplaceOutput } from '../may-replace'
import { soundArguments } from '../parse-arguments'
import { rememberedFromReceipt } from '../receipt-outcomes'
import { core } from './family'
import { checkExpiry, ids, kindOf, lean } from './vocabulary'

const text = (description: string) => z.string().optional().meta({ description })

/** A string with listed values that the domain checks, so that all problems are reported together. */
export const oneOf = (values: readonly string[], description: string) =>
  z
    .string()
    .optional()
    .meta({ description, enum: [...values] })

export const images = z
  .array(
    z.strictObject({ data: z.unknown().optional(), mime_type: z.string().optional() }).meta({
      type: 'object',
      description: 'Base64 of a file',
      properties: { data: { type: 'string' }, mime_type: { type: 'string' } },
    }),
  )
  .max(100)
  .meta({ description: 'PNG, JPEG, GIF, WebP' })

const links = z
  .array(z.union([z.string(), z.int()]).meta({ description: 'Link', anyOf: undefined, type: 'string' }))
  .optional()

const input = z.strictObject({
  title: z.string().meta({ description: '≤ 200 characters' }),
  content: z.string().meta({ description: 'Self-contained: what, why, where' }),
  kind: z.string().optional().meta({
    description: 'decision, rule (must), convention, gotcha, procedure, plan, task, note …',
  }),
  project: text('Your project; omit only if for all'),
  tags: z
    .array(z.string().meta({ description: 'Tag' }))
    .max(100)
    .optional()
    .meta({ description: 'Tags' }),
  replaces: ids('IDs it makes obsolete').optional(),
  related_to: links.meta({ description: '"12" or "depends_on:12"' }),
  status: oneOf(WORK_STATUSES, 'Task status'),
  audience: oneOf(AUDIENCES, 'private: only you. Default: project, else org'),
  valid_from: text('ISO 8601; default now'),
  valid_until: text('Then left out of packs'),
  expires_at: text('Then deleted'),
  merges: ids('IDs summarized and replaced').optional(),
  metadata: jsonObject('Custom fields', 'assignee').optional(),
  images: images.optional(),
})

type Arguments = z.output<typeof input>

/** Maximum number of links of one memory. */
const MAX_LINKS = 20

/** Translates the arguments to those of `remember` in the packs family. */
function toRemember(args: Arguments, now: Millis) {
  const { replaces = [], merges = [], related_to = [], expires_at, valid_from, valid_until, ...given } = args
  const links = [...new Set([...replaces, ...merges].map(String)), ...related_to]
  if (links.length > MAX_LINKS)
    throw invalidInput(`replaces, merges and related_to have more than ${MAX_LINKS} items together`, [
      { path: 'related_to', given: givenAs(related_to) },
    ])
  const superseded = [...new Set([...replaces, ...merges])].map((id) => `supersedes:${id}`)
  const named = { ...validityOf({ valid_from, valid_until }), ...(expires_at === undefined ? {} : { expires_at }) }
  const metadata = Object.keys(named).length === 0 ? given.metadata : { ...given.metadata, ...named }
  checkExpiry(metadata ?? {}, now)
  const status = readWorkStatus(given.status) ?? given.status
  return {
    ...given,
    ...(status === undefined ? {} : { status }),
    kind: kindOf(given.kind ?? 'note'),
    diary: false,
    related_to: [...superseded, ...related_to],
    ...(merges.length === 0 ? {} : { from: merges, sumsUp: true as const }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** Checks the arguments that have the right type, to report their problems together with the others. @throws Problem */
function inspect(args: Record<string, unknown>, context: ToolContext): void {
  const sound = soundArguments(input, args)
  const { title = 'Title', content = 'content' } = sound
  readRemembered(context.principal, toRemember({ ...sound, title, content } as Arguments, context.services.now()))
  inspectImages(args, context)
}

export const remember = defineWritingTool({
  family: core,
  name: 'remember',
  title: 'Remember',
  description: 'Store a decision, rule or finding for the team.',
  effect: 'store',
  example: {
    title: 'Refunds carry a key',
    content: 'A retried refund paid twice; the key is the booking id.',
    kind: 'decision',
    project: 'ferry',
    tags: ['payments'],
  },
  promise: 'CORE-18',
  budget: { tokens: 450, trips: 5, reads: [470, 470], writes: 30 },
  input,
  output: output({
    id: z.int(),
    kind: z.string(),
    project: z.string(),
    existing: z.boolean(),
    similar: listOf(part('Memory', { id: z.int(), title: z.string() }), 'Nearly the same'),
    may_replace: mayReplaceOutput,
    judge: z.string(),
  }),
  inspect,
  work: ({ services, principal }, args) => services.packs.remember(principal, toRemember(args, services.now())),
  recall: rememberedFromReceipt,
  answer: ({ id, existing, kind, project, links: made, conflicts, mayReplace, warnings }) =>
    lean({
      ...{ id, kind, project, existing },
      replaces: made.filter(({ relation }) => relation === 'supersedes').map(({ to }) => to),
      similar: conflicts.map(({ id: other, title, reason }) => ({ id: other, title, reason })),
      ...mayReplaceMembers(mayReplace, (other) => other, {
        replaces: (earlier) => `update ${JSON.stringify({ id, replaces: [earlier.id] })}`,
        bothHold: ({ id: earlier, isHolder }) =>
          `update ${JSON.stringify(isHolder ? { id: earlier, both_hold: [id] } : { id, both_hold: [earlier] })}`,
      }),
      warnings,
    }),
})
