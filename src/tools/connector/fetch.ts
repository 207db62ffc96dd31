import * as z from 'zod'
import { titleOf } from '../../domain/entry/title'
import { notFound } from '../../domain/errors'
import { RESULT_BYTES } from '../../domain/search/window'
import { defineTool } from '../define-tool'
import { contextId, output, part } from '../fields'
import { connector, entryUrl } from './family'

export const fetchEntry = defineTool({
  family: connector,
  name: 'fetch',
  title: 'Fetch',
  description: 'Read one complete entry, by an ID from search.',
  example: { id: '1' },
  promise: 'PLATFORM-14',
  budget: { tokens: 60, trips: 2, reads: [12, 12], writes: 0 },
  input: z.strictObject({ id: contextId('Id of an entry', { type: 'string' }) }),
  output: output({
    id: z.string(),
    title: z.string(),
    text: z.string(),
    url: z.string(),
    metadata: part('As stored', {}),
    superseded_by: z.string().optional().meta({ description: 'ID of the entry that replaces it' }),
  }),
  async handler({ services, principal, origin }, { id }) {
    const [entry] = (await services.entries.readWithin(principal, [id], RESULT_BYTES)).entries
    if (entry === undefined) throw notFound(`Entry with ID ${id} not found`)
    return {
      id: String(id),
      title: titleOf(entry),
      text: entry.text,
      url: entryUrl(origin, id),
      metadata: entry.metadata ?? {},
      ...(entry.supersededBy === undefined ? {} : { superseded_by: String(entry.supersededBy) }),
    }
  },
})
