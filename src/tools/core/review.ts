import * as z from 'zod'
import {
  cursorAfter,
  MAX_REVIEWED,
  placeOfCursor,
  type Reviewed,
  type ReviewedEntry,
  toChangeId,
  withoutPlace,
} from '../../domain/capture/review'
import { titleOf } from '../../domain/entry/title'
import { invalidInput } from '../../domain/errors'
import { formatSecond } from '../../domain/time'
import { givenAs } from '../../domain/validation'
import { askBeforeReview } from '../consent'
import type { ToolContext } from '../context'
import { defineTool, type Tool } from '../define-tool'
import { defineWritingTool } from '../define-writing-tool'
import { listOf, output, part, strings } from '../fields'
import { namedProject } from '../project'
import { core } from './family'
import { DEFAULT_ANSWER, fields, id, lean, shortenedTo } from './vocabulary'

/** The tools of the review app: they list the captured sessions of the owner, and approve or drop them after a person agreed. */

const PREVIEW = 240
/** Places of a repository that an item names. */
const SOURCES = 3

const shown = (entry: ReviewedEntry) => ({
  id: entry.id,
  version: entry.version,
  ...lean({
    title: titleOf({ title: entry.title, text: entry.preview }),
    kind: entry.kind,
    project: entry.project,
    branch: entry.branch,
    client: entry.client,
    at: formatSecond(entry.updatedAt),
    expires_at: entry.expiresAt === null ? null : formatSecond(entry.expiresAt),
    readers: entry.approvedAudience,
    sources: entry.sources.slice(0, SOURCES),
    quote: entry.quote === null ? null : shortenedTo(entry.quote, PREVIEW),
    content: shortenedTo(entry.kind === 'session' ? withoutPlace(entry.preview) : entry.preview, PREVIEW),
  }),
})

const listing = defineTool({
  family: core,
  name: 'review',
  title: 'Review',
  description: 'Show the user captured sessions that await approval, to approve or drop. Only the user decides.',
  example: { project: 'ferry' },
  promise: 'CORE-73',
  budget: { tokens: 90, trips: 2, reads: [55, 55], writes: 0 },
  input: z.strictObject({
    project: fields.onlyProject,
    after: z.string().optional().meta({ description: 'next of the page before' }),
  }),
  output: output({
    waiting: listOf(
      part('Captured session or proposal', {
        id: z.int(),
        version: z.int(),
        title: z.string(),
        kind: z.string(),
        at: z.string(),
        content: z.string(),
      }),
      'Newest first',
    ),
    next: z.string(),
    hint: z.string(),
  }),
  async handler({ services, principal }, { project, after }) {
    const place = after === undefined ? null : placeOfCursor(after)
    if (after !== undefined && place === null)
      throw invalidInput('after must be next of an earlier answer', [{ path: 'after', given: givenAs(after) }])
    const query = { project: namedProject(principal, project), client: null, after: place, limit: MAX_REVIEWED + 1 }
    const found = await services.capture.review.list(principal, query)
    let left = DEFAULT_ANSWER - 100
    const waiting: Record<string, unknown>[] = []
    for (const entry of found.slice(0, MAX_REVIEWED)) {
      const one = shown(entry)
      left -= JSON.stringify(one).length + 1
      if (left < 0 && waiting.length > 0) break
      waiting.push(one)
    }
    const last = found.length > waiting.length ? found[waiting.length - 1] : undefined
    return {
      waiting,
      ...lean({
        next: last === undefined ? null : cursorAfter(last),
        hint: waiting.length === 0 ? 'No captured sessions await review.' : null,
      }),
    }
  },
})

/** Captured sessions are reviewed by keys that may write, as on the dashboard. */
export const review: Tool = { ...listing, role: 'writer', enabled: ({ captureDays }) => captureDays > 0 }

const seen = part('Session with the version that the person saw', { id: id('ID'), version: z.int().min(1) })

const decisionInput = z.strictObject({
  action: z.enum(['approve', 'drop']).meta({ description: 'Approve: agents find them; drop: delete them' }),
  sessions: z.array(seen).min(1).max(MAX_REVIEWED).meta({ description: 'Sessions that review lists' }),
})
type Decision = z.output<typeof decisionInput>

/** The sessions of a call, each once: IDs, and versions by ID. */
function selected({ sessions }: Decision) {
  const versions: Record<string, number> = {}
  for (const { id: one, version } of sessions) versions[String(one)] = version
  return { ids: Object.keys(versions).map(Number), versions }
}

async function decide(context: ToolContext, args: Decision): Promise<Reviewed> {
  const { services, principal } = context
  const { review: reviews } = services.capture
  const { ids, versions } = selected(args)
  await askBeforeReview(context, args.action, versions, () => reviews.look(principal, ids, versions))
  return args.action === 'approve' ? reviews.keepAll(principal, ids, versions) : reviews.drop(principal, ids, versions)
}

export const reviewDecide = defineWritingTool({
  family: core,
  name: 'review_decide',
  title: 'Approve or drop captured sessions',
  description: 'Approve or drop captured sessions after the user agrees in a dialog.',
  effect: 'change',
  example: { action: 'approve', sessions: [{ id: 7, version: 1 }] },
  promise: 'CORE-74',
  budget: { tokens: 190, trips: 7, reads: [670, 670], writes: 290 },
  input: decisionInput,
  output: output({ approved: z.int(), dropped: z.int(), change_id: z.string(), warnings: strings('Warning') }),
  enabled: ({ captureDays }) => captureDays > 0,
  work: decide,
  recall: ({ changeId, effect }, { action }): Reviewed =>
    action === 'approve'
      ? { did: 'keep_all', kept: effect.map(([one, version]) => [one, version - 1] as const) }
      : { did: 'drop', dropped: changeId },
  answer: (reviewed, args) => {
    const { length } = selected(args).ids
    return {
      ...(args.action === 'approve' ? { approved: length } : { dropped: length }),
      change_id: toChangeId(reviewed),
    }
  },
})
