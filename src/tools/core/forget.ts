import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import type { DeleteSelection } from '../../domain/entry/selection'
import { titleOf } from '../../domain/entry/title'
import { invalidInput } from '../../domain/errors'
import { MOST_DELETED } from '../../domain/identity/audit'
import { and, EVERYTHING, ofProject } from '../../domain/search/filter'
import { givenAs } from '../../domain/validation'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { flag, listOf, output, part, strings } from '../fields'
import { areSound, soundArguments } from '../parse-arguments'
import { namedProject } from '../project'
import {
  countRemaining,
  type DeletionOutcome,
  deletionFromReceipt,
  executeDeletion,
  hasDeleted,
  isUncounted,
} from '../threads/deletion'
import { core } from './family'
import { fields, filterOf, ids, lean, loadsTimes } from './vocabulary'

/** Memories that a dry run lists by title. */
const NAMED = 20

const filter = z
  .strictObject({
    project: fields.onlyProject,
    kind: fields.kinds,
    tags: fields.tags,
    until: fields.until,
  })
  .meta({ description: 'Or all matches: first dry_run true, then false' })

const input = z.strictObject({
  ids: ids('IDs').optional(),
  thread: z.string().optional().meta({ description: 'Or a complete thread' }),
  filter: filter.optional(),
  dry_run: z.boolean().optional().meta({ description: 'true: only list' }),
  erase: flag(false, 'Permanent; only if the user asks'),
})
type Arguments = z.output<typeof input>

interface Facts {
  readonly deletion: DeletionOutcome
  readonly named: readonly { readonly id: number; readonly title: string }[]
}

/** Checks that exactly one selection is given, and that a filter has `dry_run` and a condition. @throws Problem invalid_input */
function check({ ids: named, thread, filter: given, dry_run }: Partial<Arguments>): void {
  const ways = Object.entries({ ids: named, thread, filter: given }).filter(([, value]) => value !== undefined)
  if (ways.length !== 1)
    throw invalidInput('Give exactly one of ids, thread and filter', [
      { path: ways[1]?.[0] ?? 'ids', given: givenAs(ways[1]?.[1]), example: [42] },
    ])
  if (thread?.trim() === '') throw invalidInput('thread is blank', [{ path: 'thread', given: givenAs(thread) }])
  if (thread !== undefined) checkThreadId(thread)
  if (given !== undefined && dry_run === undefined)
    throw invalidInput('filter needs dry_run: true lists what would be deleted, false deletes it', [
      { path: 'dry_run', given: 'nothing', example: true },
    ])
  if (given !== undefined && Object.values(given).every((value) => value === undefined || value.length === 0))
    throw invalidInput('filter is empty: name at least one condition', [{ path: 'filter', given: givenAs(given) }])
}

interface Selected {
  readonly selection: DeleteSelection
  /** Number of memories that match the filter; null without a filter. */
  readonly total: number | null
}

async function selected({ services, principal }: ToolContext, args: Arguments): Promise<Selected> {
  const { ids: named, thread, filter: given } = args
  if (given === undefined)
    return {
      selection: {
        ...(named === undefined ? { threadIds: [checkThreadId(thread ?? '')] } : { ids: named }),
      },
      total: null,
    }
  const wanted = filterOf(given, services.now())
  const place = namedProject(principal, given.project)
  // A deletion by project selects only memories of the project, not memories without one.
  const exact = place === null ? wanted : and([wanted, ofProject('project', principal, place)])
  const page = await services.entries.page(principal, exact, { limit: MOST_DELETED, offset: 0, previewLength: 1 })
  return { selection: { ids: page.entries.map(({ id }) => id) }, total: page.total }
}

async function forgetting(context: ToolContext, args: Arguments): Promise<Facts> {
  const { selection, total } = await selected(context, args)
  if (selection.ids?.length === 0) return { deletion: { did: 'look', count: 0, ids: [], missing: [] }, named: [] }
  const found = await executeDeletion(context, selection, { dry_run: args.dry_run ?? false, erase: args.erase })
  if (found.did === 'look') return { deletion: found, named: await titles(context, found.ids) }
  const remaining = total === null ? found.remaining : Math.max(0, total - found.count)
  return { deletion: { ...found, remaining }, named: [] }
}

async function titles({ services, principal }: ToolContext, found: readonly number[]): Promise<Facts['named']> {
  const wanted = found.slice(0, NAMED)
  const previews = await services.entries.previews(principal, EVERYTHING, wanted, 300)
  const byId = new Map(previews.map((one) => [one.id, titleOf(one)]))
  return wanted.flatMap((id) => (byId.has(id) ? [{ id, title: byId.get(id) as string }] : []))
}

const NOTHING = 'No matching memory that you can delete'

function answer({ deletion, named }: Facts, { ids: asked = [], dry_run }: Arguments): Record<string, unknown> {
  const { count } = deletion
  const unmatched = new Set(asked).size - count
  const few = unmatched > 0 ? [`${unmatched} of the IDs are not memories that you can delete`] : []
  const warnings = count > 0 ? few : deletion.missing.length > 0 ? deletion.missing : [NOTHING]
  if (deletion.did === 'look')
    return dry_run ? { would_delete: count, ...lean({ memories: named, warnings }) } : { deleted: 0, warnings }
  const left = deletion.remaining ?? 0
  const more = left === 0 ? null : `${left} more match: call again`
  if (deletion.did === 'erase') return { erased: count, ...lean({ not_yours: deletion.left, more, warnings }) }
  const until = deletion.until === null ? null : new Date(deletion.until).toISOString().slice(0, 10)
  return {
    deleted: count,
    ...lean({
      undo: count === 0 ? null : `restore {"change_id": "${deletion.changeId}"}`,
      undo_until: count === 0 ? null : until,
      more,
      warnings,
    }),
  }
}

export const forget = defineWritingTool({
  family: core,
  name: 'forget',
  title: 'Forget',
  description: 'Delete memories. Returns the call that undoes it.',
  effect: 'delete',
  example: { ids: [7] },
  promise: 'CORE-12',
  budget: { tokens: 240, trips: 4, reads: [660, 3_280], writes: 24 },
  input,
  output: output({
    deleted: z.int(),
    undo: z.string(),
    would_delete: z.int(),
    memories: listOf(part('Memory', { id: z.int(), title: z.string() }), 'Would be deleted'),
    warnings: strings('Warning'),
  }),
  loads: loadsTimes,
  inspect: (args) => {
    const sound = soundArguments(input, args)
    if (areSound(args, sound, ['ids', 'thread', 'filter'])) check(sound)
  },
  isCostly: () => false,
  queuesWork: (_, { deletion }) => hasDeleted(deletion),
  async work(context, args) {
    check(args)
    return forgetting(context, args)
  },
  recall: (trace) => ({ deletion: deletionFromReceipt(trace), named: [] }),
  answer,
  unfinished: {
    when: ({ deletion }) => isUncounted(deletion),
    async finish(context, args, { deletion, named }) {
      const { selection } = await selected(context, args)
      return { deletion: await countRemaining(context, selection, deletion), named }
    },
  },
})
