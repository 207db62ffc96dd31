import { z } from 'zod'
import { defineTool } from '../define-tool'
import { contextIds, flag, output } from '../fields'
import { threads } from './family'
import { imagesToWire, wholeEntry, wholeEntryOutput } from './wire'

export const getContextByIds = defineTool({
  family: threads,
  name: 'get_context_by_ids',
  title: 'Get context by ids',
  description:
    'Bring entries whole, with images, in the order asked for. Ids that do not exist or are not visible are listed in missing.',
  effect: 'read',
  input: z.strictObject({
    context_ids: contextIds('The entries to bring').min(1),
    include_images: flag(true, 'Bring image data too'),
  }),
  output: output({ result: z.array(wholeEntryOutput), missing: z.array(z.int()) }),
  async handler(context, args) {
    const ids = [...new Set(args.context_ids)]
    const byId = new Map(
      (await context.services.entries.read(context.principal, ids)).map((entry) => [entry.id, entry]),
    )
    const entries = ids.flatMap((id) => byId.get(id) ?? [])
    const images = args.include_images ? await imagesToWire(context, entries) : null
    return {
      result: entries.map((entry) => ({
        ...wholeEntry(entry),
        ...(images && entry.images.length > 0 ? { images: images.get(entry.id) } : {}),
      })),
      missing: ids.filter((id) => !byId.has(id)),
    }
  },
})
