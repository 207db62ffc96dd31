import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import { FEED_ACTIONS, FEED_LIMIT, MAX_FEED_LIMIT, MAX_WAIT_SECONDS } from '../../domain/history/feed'
import { defineTool } from '../define-tool'
import { output, part, threadId } from '../fields'
import { namedProject } from '../project'
import { history } from './family'
import { shownChange } from './feed-wire'

export const listChanges = defineTool({
  family: history,
  name: 'list_changes',
  title: 'List changes',
  description:
    'What was stored, updated or deleted since a cursor, in order. First call without after for a cursor, list what ' +
    'there is, then go on from next.',
  input: z.strictObject({
    after: z.string().optional().meta({ description: 'next of an earlier call; "start": oldest kept; default: now' }),
    thread_id: threadId('Only this thread').optional(),
    project: z.string().optional().meta({ description: 'Only this project' }),
    actions: z
      .array(z.enum(FEED_ACTIONS).meta({ description: 'Action' }))
      .max(FEED_ACTIONS.length)
      .optional()
      .meta({ description: 'Only these' }),
    limit: z.int().min(1).default(FEED_LIMIT).meta({ description: 'Changes, 1–200' }),
    wait_seconds: z
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(0)
      .meta({ description: 'Wait so long for a change when there is none' }),
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
  inspect: ({ project }, { principal }) => void namedProject(principal, project),
  async handler({ services, principal }, args) {
    const limit = Math.min(args.limit, MAX_FEED_LIMIT)
    const listed = await services.changes.list(principal, {
      after: args.after,
      filter: {
        threadId: args.thread_id === undefined ? null : checkThreadId(args.thread_id),
        project: namedProject(principal, args.project),
        actions: args.actions === undefined || args.actions.length === 0 ? null : args.actions,
      },
      limit,
      waitMs: args.wait_seconds * 1000,
    })
    return {
      changes: listed.changes.map(shownChange),
      next: listed.next,
      hasMore: listed.more,
      ...(limit === args.limit ? {} : { clamped_limit: { requested: args.limit, applied: limit } }),
    }
  },
})
