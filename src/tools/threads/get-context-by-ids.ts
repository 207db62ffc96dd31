import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import { historyCutoff } from '../../domain/history/version'
import { RESULT_BYTES } from '../../domain/search/window'
import { parseInstant } from '../../domain/time'
import { givenAs } from '../../domain/validation'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { contextIds, includeImages, listOf, output } from '../fields'
import { imageFormat, withImages } from '../images'
import { fitting, omittedMember } from '../result-size'
import { completeEntry, completeEntryOutput, omittedOutput } from './entry-serializer'
import { threads } from './family'

/** Parses `as_of`. @throws Problem invalid_input for an invalid time, or one before the oldest retained version */
function instantOf(given: string, { config, services }: CallContext): number {
  const at = parseInstant(given)
  const wrong = (message: string) => invalidInput(message, [{ path: 'as_of', given: givenAs(given) }])
  if (at === null) throw wrong('as_of must be an ISO 8601 date or date-time, such as 2026-01-31T12:00:00Z')
  const oldest = historyCutoff(config.history, services.now())
  if (at < oldest) throw wrong(`as_of is before the oldest retained version, ${new Date(oldest).toISOString()}`)
  return at
}

export const getContextByIds = defineTool({
  family: threads,
  name: 'get_context_by_ids',
  title: 'Get context by ids',
  description: 'Fetch complete entries by ID, with images, in the order requested. Unknown IDs are listed in missing.',
  example: { context_ids: [1] },
  promise: 'THREADS-68',
  budget: { tokens: 170, trips: 2, reads: [53, 53], writes: 0 },
  input: z.strictObject({
    context_ids: contextIds('Entries to fetch').min(1),
    include_images: includeImages(true),
    image_format: imageFormat,
    as_of: z.string().optional().meta({ description: 'State at this time, ISO 8601' }),
  }),
  output: output({ result: z.array(completeEntryOutput), missing: listOf(z.int(), 'Id'), omitted: omittedOutput }),
  async handler(context, args) {
    const ids = [...new Set(args.context_ids)]
    const { services, principal } = context
    const at = args.as_of === undefined ? null : instantOf(args.as_of, context)
    const read =
      at === null
        ? await services.entries.readWithin(principal, ids, RESULT_BYTES)
        : await services.history.asOf(principal, ids, at, RESULT_BYTES)
    const { kept, omitted, left } = await fitting(
      read.entries.map((entry) => ({ entry, show: () => completeEntry(entry) })),
    )
    const found = new Set([...read.entries.map(({ id }) => id), ...read.omitted])
    return {
      result: await withImages(context, kept, args, left),
      missing: ids.filter((id) => !found.has(id)),
      ...omittedMember([...omitted, ...read.omitted]),
    }
  },
})
