import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import { FEED_ACTIONS, FEED_LIMIT, type FeedFilter, MAX_FEED_LIMIT, MAX_WAIT_SECONDS } from '../../domain/history/feed'
import { temporal } from '../../domain/recall/calendar'
import { resolveExpression } from '../../domain/recall/date-expressions'
import type { Millis } from '../../domain/time'
import type { ChangesPage, ListRequest } from '../../services/searching/history/changes'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { output, part, threadId } from '../fields'
import { namedProject } from '../project'
import { shownChange } from './change-serializer'
import { history } from './family'

/** Reads `after`: a cursor, `start`, or a time in words or ISO 8601 (UTC). */
function startOf(after: string | undefined, now: Millis): Pick<ListRequest, 'after' | 'since'> {
  const since = after === undefined ? null : resolveExpression(after, 'UTC', now)
  return since === null ? { after } : { after: undefined, since }
}

/** Returns the newest changes in commit order, and the current cursor. */
async function newest({ services, principal }: CallContext, filter: FeedFilter, limit: number): Promise<ChangesPage> {
  const { changes, next } = await services.changes.latest(principal, Math.max(1, limit), filter)
  return { changes: limit === 0 ? [] : [...changes].reverse(), next, more: false }
}

export const listChanges = defineTool({
  family: history,
  name: 'list_changes',
  title: 'List changes',
  description:
    'List entries stored, updated or deleted since a time or cursor, in order. Without after: the newest changes. Call again with next.',
  example: { limit: 2 },
  promise: 'HISTORY-38',
  budget: { tokens: 210, trips: 2, reads: [330, 330], writes: 0 },
  input: z.strictObject({
    after: z
      .string()
      .optional()
      .meta({ description: 'Time such as "yesterday" (UTC), next of an earlier call, or "start"' }),
    thread_id: threadId('Only this thread').optional(),
    project: z.string().optional().meta({ description: 'Only this project' }),
    actions: z
      .array(z.enum(FEED_ACTIONS).meta({ description: 'Action' }))
      .max(FEED_ACTIONS.length)
      .optional()
      .meta({ description: 'Only these' }),
    limit: z.int().min(0).default(FEED_LIMIT).meta({ description: 'Changes, 0–200; 0: only next' }),
    wait_seconds: z
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(0)
      .meta({ description: 'Wait this long if nothing changed yet' }),
  }),
  output: output({
    changes: z.array(
      part('Change', {
        change_id: z.string(),
        action: z.string(),
        context_id: z.int(),
        thread_id: z.string().optional(),
        project: z.string().optional(),
        version: z.int(),
        at: z.string(),
        agent: z.string().optional(),
        kind: z.string().optional(),
        preview: z.string(),
      }),
    ),
    next: z.string(),
    hasMore: z.boolean(),
    clamped_limit: part('When limit was above 200', {}),
  }),
  loads: ({ after }) => (after ? temporal.load() : null),
  inspect: ({ project }, { principal }) => void namedProject(principal, project),
  async handler(context, args) {
    const { services, principal } = context
    const limit = Math.min(args.limit, MAX_FEED_LIMIT)
    const filter = {
      threadId: args.thread_id === undefined ? null : checkThreadId(args.thread_id),
      project: namedProject(principal, args.project),
      actions: args.actions === undefined || args.actions.length === 0 ? null : args.actions,
    }
    const listed =
      limit === 0 || (args.after === undefined && args.wait_seconds === 0)
        ? await newest(context, filter, limit)
        : await services.changes.list(principal, {
            ...startOf(args.after, services.now()),
            ...{ filter, limit, waitMs: args.wait_seconds * 1000 },
          })
    return {
      changes: listed.changes.map(shownChange),
      next: listed.next,
      hasMore: listed.more,
      ...(limit === args.limit ? {} : { clamped_limit: { requested: args.limit, applied: limit } }),
    }
  },
})
