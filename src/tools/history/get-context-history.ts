import * as z from 'zod'
import { MAX_LIMIT } from '../../domain/search/window'
import { defineTool } from '../define-tool'
import { contextId, flag, limit, listOf, offset, output, part } from '../fields'
import { withImages } from '../images'
import { fitting } from '../result-size'
import { completeEntry } from '../threads/entry-serializer'
import { history } from './family'

export const getContextHistory = defineTool({
  family: history,
  name: 'get_context_history',
  title: 'Get the history of an entry',
  description:
    'List versions of an entry, newest first: when, by whom, what changed. With version: the entry as it was.',
  example: { context_id: 1, include_diff: true },
  promise: 'HISTORY-19',
  budget: { tokens: 160, trips: 2, reads: [82, 82], writes: 0 },
  input: z.strictObject({
    context_id: contextId('Entry, even if deleted'),
    version: z.int().min(1).optional().meta({ description: 'Return this in full' }),
    limit: limit(20),
    offset,
    include_diff: flag(false, 'Add text diffs'),
  }),
  output: output({
    context_id: z.int(),
    current_version: z.int(),
    deleted: z.boolean(),
    versions: z.array(
      part('Version', {
        version: z.int(),
        at: z.string(),
        action: z.string(),
        agent: z.string().optional(),
        key_id: z.string(),
        changed: listOf(z.string(), 'Part').optional(),
        preview: z.string(),
        diff: z.string().optional(),
      }),
    ),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    hasMore: z.boolean(),
    result: z.array(part('As get_context_by_ids returns it', {})),
  }),
  async handler(context, args) {
    const { services, principal } = context
    const { context_id: id, version, offset: skipped, include_diff: withDiffs } = args
    if (version !== undefined) {
      const entry = await services.readHistory.state(principal, id, version)
      const { kept, left } = await fitting([{ entry, show: () => completeEntry(entry) }])
      return { result: await withImages(context, kept, { include_images: true, image_format: 'block' }, left) }
    }
    const applied = Math.min(args.limit, MAX_LIMIT)
    const window = { limit: applied, offset: skipped }
    const page = await services.readHistory.versions(principal, id, window, withDiffs)
    return {
      context_id: id,
      current_version: page.currentVersion,
      deleted: page.deleted,
      versions: page.versions.map(({ version: number, at, action, agent, keyId, changed, preview, diff }) => ({
        ...{ version: number, at: new Date(at).toISOString(), action },
        ...(agent === null ? {} : { agent }),
        key_id: keyId,
        ...(changed === null ? {} : { changed }),
        preview,
        ...(diff === undefined ? {} : { diff }),
      })),
      ...{ total: page.total, limit: applied, offset: skipped },
      hasMore: skipped + page.versions.length < page.total,
    }
  },
})
