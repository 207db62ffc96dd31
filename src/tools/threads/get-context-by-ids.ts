import { z } from 'zod'
import { defineTool } from '../define-tool'
import { contextIds, includeImages, listOf, output } from '../fields'
import { imageFormat, withImages } from '../images'
import { threads } from './family'
import { wholeEntry, wholeEntryOutput } from './wire'

export const getContextByIds = defineTool({
  family: threads,
  name: 'get_context_by_ids',
  title: 'Get context by ids',
  description: 'Bring entries whole, with images, in the order asked for. What does not exist is listed in missing.',
  effect: 'read',
  input: z.strictObject({
    context_ids: contextIds('The entries to bring').min(1),
    include_images: includeImages(true),
    image_format: imageFormat,
  }),
  output: output({ result: z.array(wholeEntryOutput), missing: listOf(z.int(), 'Id') }),
  async handler(context, args) {
    const ids = [...new Set(args.context_ids)]
    const byId = new Map(
      (await context.services.entries.read(context.principal, ids)).map((entry) => [entry.id, entry]),
    )
    const entries = ids.flatMap((id) => byId.get(id) ?? [])
    const shown = entries.map((entry) => ({ entry, shown: wholeEntry(entry) }))
    return {
      result: await withImages(context, shown, args),
      missing: ids.filter((id) => !byId.has(id)),
    }
  },
})
