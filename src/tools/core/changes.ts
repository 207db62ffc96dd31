import * as z from 'zod'
import { checkThreadId } from '../../domain/entry/draft'
import type { FeedChange } from '../../domain/history/feed'
import { resolveExpression } from '../../domain/recall/date-expressions'
import { firstCodePoints, foldAscii } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import type { ChangesPage } from '../../services/searching/history/changes'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { listOf, output, part, strings } from '../fields'
import { namedProject } from '../project'
import { core } from './family'
import { DEFAULT_ANSWER, fields, instantOf, kindOf, lean, loadsTimes, unknownProject, zoneOf } from './vocabulary'

const LIMIT = { usual: 30, most: 100 } as const
const PREVIEW = 120
/** Pages of the feed that one call reads to filter by agent or kind. */
const MAX_PAGES = 10
const PAGE = 200

const input = z.strictObject({
  since: z.string().optional().meta({
    description: 'Time, or a previous next; default: last call',
  }),
  project: fields.onlyProject,
  thread: fields.thread,
  by: z.string().optional().meta({ description: 'Agent; "others": not you' }),
  kind: fields.kinds,
  timezone: z.string().optional().meta({ description: 'Default UTC' }),
  limit: z.int().optional().meta({ description: '0–100; default 30' }),
})
type Arguments = z.output<typeof input>

/** Matches a cursor of the feed, which never looks like a time that `since` accepts. */
const CURSOR = /^[A-Za-z0-9_-]{48}$/

interface Start {
  readonly after?: string
  /** Milliseconds since 1970. */
  readonly since?: number
}

/** Returns the position where the changes start. @throws Problem invalid_input for a value that is neither a time nor a cursor */
function startOf(since: string, now: number, timezone: string | undefined): Start {
  const zone = zoneOf(timezone)
  const isTime = resolveExpression(since, zone, now) !== null
  if (!isTime && (since === 'start' || CURSOR.test(since))) return { after: since }
  return { since: instantOf(since, 'since', now, zone) }
}

/** Lists the requested changes, filtered by agent and kind page by page. */
async function listed(context: CallContext, args: Arguments, start: Start | null, limit: number) {
  const { services, principal } = context
  const kinds = new Set((args.kind ?? []).map((word) => kindOf(word) as string))
  const filter = {
    threadId: args.thread === undefined ? null : checkThreadId(args.thread),
    project: namedProject(principal, args.project),
    actions: null,
  }
  const by = args.by === undefined ? null : foldAscii(args.by.trim())
  const isOther = by === 'others'
  const isWanted = ({ agent, kind }: FeedChange): boolean =>
    (by === null || (isOther && agent !== principal.agent) || (agent !== null && foldAscii(agent) === by)) &&
    (kinds.size === 0 || (kind !== null && kinds.has(kind)))
  if (start === null || limit === 0) {
    const { changes, next } = await services.changes.latest(principal, limit === 0 ? 1 : PAGE, filter)
    const newest = limit === 0 ? [] : changes.filter(isWanted).slice(0, limit).reverse()
    return { changes: newest, next, more: false }
  }
  const found: FeedChange[] = []
  let from = start
  for (let pages = 1; ; pages++) {
    const page: ChangesPage = await services.changes.list(principal, {
      ...{ after: from.after, filter, waitMs: 0 },
      ...(from.since === undefined ? {} : { since: from.since }),
      limit: by === null && kinds.size === 0 ? limit : PAGE,
    })
    const wanted = page.changes.filter(isWanted)
    const left = limit - found.length
    found.push(...wanted.slice(0, left))
    const last = wanted.length > left ? found.at(-1) : undefined
    if (last !== undefined)
      return { changes: found, next: await services.changes.seal(principal, last.position), more: true }
    if (!page.more || found.length === limit || pages === MAX_PAGES)
      return { changes: found, next: page.next, more: page.more }
    from = { after: page.next }
  }
}

const shownChange = ({ action, entryId, threadId, project, kind, version, at, agent, preview, changeId }: FeedChange) =>
  lean({
    ...{ action, id: entryId, kind, project },
    thread: threadId === 'memory' || threadId === `project:${project}` ? null : threadId,
    ...{ by: agent, at: formatSecond(at), version: version > 1 ? version : null },
    content: firstCodePoints(preview.replaceAll(/\s+/g, ' '), PREVIEW),
    change_id: action === 'deleted' ? changeId : null,
  })

export const changes = defineTool({
  family: core,
  name: 'changes',
  title: 'Changes',
  description: 'List memories stored, updated (such as tasks finished) or deleted.',
  example: { since: '1 hour ago', limit: 2 },
  promise: 'CORE-15',
  budget: { tokens: 170, trips: 9, reads: [1_420, 4_560], writes: 3 },
  input,
  loads: loadsTimes,
  inspect: ({ project, kind }, { principal }) => {
    namedProject(principal, project)
    for (const word of Array.isArray(kind) ? kind : []) if (typeof word === 'string') kindOf(word)
  },
  output: output({
    changes: listOf(
      part('Change', {
        action: z.string(),
        id: z.int(),
        by: z.string().optional(),
        at: z.string(),
        content: z.string(),
      }),
      'Oldest first',
    ),
    since: z.string(),
    next: z.string(),
    more: z.boolean(),
    warnings: strings('Warning'),
  }),
  async handler(context, args) {
    const limit = Math.max(0, Math.min(args.limit ?? LIMIT.usual, LIMIT.most))
    const { services, principal } = context
    const { since } = args
    const isSinceLast = since === undefined && limit > 0
    const call = isSinceLast ? await services.changes.lastCall(principal, namedProject(principal, args.project)) : null
    const lastCall = call === null || call.since === null ? null : { since: call.since }
    const start: Start | null = since === undefined ? lastCall : startOf(since, services.now(), args.timezone)
    const { changes: found, next, more } = await listed(context, args, start, limit)
    await call?.note()
    const projects = found.map(({ project }) => project)
    const unknown = limit === 0 ? [] : await unknownProject(context, args.project, projects)
    let left = DEFAULT_ANSWER - 400
    const shown: Record<string, unknown>[] = []
    for (const change of found) {
      const one = shownChange(change)
      left -= JSON.stringify(one).length + 1
      if (left < 0) break
      shown.push(one)
    }
    const last = shown.length < found.length ? found[shown.length - 1] : undefined
    return {
      changes: shown,
      ...lean({ since: start?.since === undefined ? null : formatSecond(start.since) }),
      next: last === undefined ? next : await services.changes.seal(principal, last.position),
      ...lean({ more: more || last !== undefined, warnings: unknown }),
    }
  },
})
