import * as z from 'zod'
import { KINDS } from '../../domain/entry/kind'
import { AUDIENCES } from '../../domain/entry/metadata'
import { WORK_STATUSES } from '../../domain/entry/work'
import { readRemembered } from '../../domain/pack/remember'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { flag, jsonObject, listOf, output, part, tags } from '../fields'
import { callsOfThreads, mayReplaceMembers, mayReplaceTexts } from '../may-replace'
import { soundArguments } from '../parse-arguments'
import { rememberedFromReceipt } from '../receipt-outcomes'
import { packs } from './family'

const text = (description: string) => z.string().optional().meta({ description })

/** A string with listed values that the domain checks, so that all problems are reported together. */
const oneOf = (values: readonly string[], description: string) =>
  z
    .string()
    .optional()
    .meta({ description, enum: [...values] })

const input = z.strictObject({
  title: z.string().meta({ description: 'Short name, ≤ 200' }),
  content: z.string().optional().meta({ description: 'Optional with from' }),
  kind: z
    .string()
    .default('note')
    .meta({ description: 'What it is', enum: [...KINDS] }),
  project: text('Project key'),
  domain: text('Subject area'),
  agent_id: text('Author; default: key’s agent'),
  diary: flag(false, 'In the agent’s diary'),
  audience: oneOf(AUDIENCES, 'Default: project if named, else org'),
  tags: tags('Tags').optional(),
  status: oneOf(WORK_STATUSES, 'Of a task, epic or project'),
  related_to: z
    .array(z.union([z.string(), z.int()]).meta({ description: 'Link', anyOf: undefined, type: 'string' }))
    .optional()
    .meta({
      description:
        '"<id>" or "<relation>:<id>": supersedes, contradicts, depends_on, requires, supports, decides, ' +
        'derived_from, part_of, references',
    }),
  from: z
    .array(z.union([z.string(), z.int()]).meta({ description: 'Id', anyOf: undefined, type: 'string' }))
    .optional()
    .meta({ description: 'Its sources' }),
  // `from` is a keyword of Python, so frameworks that call tools from code need another name.
  from_ids: z
    .array(z.union([z.string(), z.int()]).meta({ description: 'Id', anyOf: undefined, type: 'string' }))
    .optional()
    .meta({ description: 'Same as from' }),
  source_url: text('Its origin'),
  valid_at: text('ISO 8601'),
  thread_id: text('Default: the project’s'),
  metadata: jsonObject('More fields').optional(),
})

/** Merges both names of the sources into one list without duplicates. */
function withSources<Args extends { readonly from?: unknown; readonly from_ids?: unknown }>({
  from_ids,
  ...args
}: Args) {
  if (!Array.isArray(from_ids)) return args
  const from = Array.isArray(args.from) ? args.from : []
  return { ...args, from: [...new Set([...from, ...from_ids].map(String))] }
}

/** Checks the arguments that have the right type; skips rules that depend on a wrong one. @throws Problem */
function inspect(args: Record<string, unknown>, { principal }: ToolContext): void {
  const {
    kind,
    status,
    project,
    audience,
    agent_id,
    diary = false,
    ...sound
  } = withSources(soundArguments(input, args))
  const isWrong = (name: string, read: unknown): boolean => read === undefined && args[name] !== undefined
  const placeless = isWrong('project', project)
  readRemembered(placeless ? { ...principal, projects: null } : principal, {
    ...{ title: 'Title', content: 'text', ...sound, kind: kind ?? 'note', agent_id },
    ...(kind === undefined ? {} : { status }),
    ...(placeless ? {} : { project, audience }),
    diary: diary && !isWrong('agent_id', agent_id),
  })
}

export const remember = defineWritingTool({
  family: packs,
  name: 'remember',
  title: 'Remember',
  description: 'Store what others should know, typed and linked. context returns it.',
  effect: 'store',
  example: {
    title: 'Tokens rotate',
    content: 'Access tokens last 15 minutes; each refresh token works once.',
    kind: 'decision',
    project: 'ferry',
    related_to: ['references:1'],
  },
  promise: 'PACK-1',
  budget: { tokens: 540, trips: 4, reads: [500, 475], writes: 30 },
  input,
  output: output({
    success: z.boolean(),
    id: z.string(),
    existing: z.boolean().optional(),
    kind: z.string(),
    project: z.string().nullable(),
    links: listOf(part('Link', { relation: z.string(), id: z.string() }), 'Links made'),
    conflicts: listOf(part('Entry', { id: z.string(), title: z.string(), reason: z.string() }), 'May say the same'),
    may_replace: mayReplaceTexts.optional(),
    judge: z.string().optional(),
  }),
  inspect,
  work: ({ services, principal }, args) => services.packs.remember(principal, withSources(args)),
  recall: rememberedFromReceipt,
  answer: ({ id, existing, kind, project, links, conflicts, mayReplace, warnings }) => ({
    success: true,
    id: String(id),
    ...(existing ? { existing } : {}),
    kind,
    project,
    links: links.map(({ relation, to }) => ({ relation, id: String(to) })),
    conflicts: conflicts.map((conflict) => ({ ...conflict, id: String(conflict.id) })),
    ...mayReplaceMembers(mayReplace, String, callsOfThreads(id)),
    ...(warnings.length === 0 ? {} : { warnings }),
  }),
})
