import { z } from 'zod'
import { RESULT_BYTES } from '../../domain/window'
import { defineTool } from '../define-tool'
import { contextIds, includeImages, listOf, output } from '../fields'
import { imageFormat, withImages } from '../images'
import { fitting, omittedMember } from '../result-size'
import { threads } from './family'
import { omittedOutput, wholeEntry, wholeEntryOutput } from './wire'

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
  output: output({ result: z.array(wholeEntryOutput), missing: listOf(z.int(), 'Id'), omitted: omittedOutput }),
  async handler(context, args) {
    const ids = [...new Set(args.context_ids)]
    const read = await context.services.entries.readWithin(context.principal, ids, RESULT_BYTES)
    const { kept, omitted, left } = fitting(read.entries.map((entry) => ({ entry, shown: wholeEntry(entry) })))
    const found = new Set([...read.entries.map(({ id }) => id), ...read.omitted])
    return {
      result: await withImages(context, kept, args, left),
      missing: ids.filter((id) => !found.has(id)),
      ...omittedMember([...omitted, ...read.omitted]),
    }
  },
})
