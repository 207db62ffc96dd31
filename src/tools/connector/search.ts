import * as z from 'zod'
import { titleOf } from '../../domain/entry/title'
import { EVERYTHING } from '../../domain/search/filter'
import { defineTool } from '../define-tool'
import { output, part } from '../fields'
import { queryField } from '../query-field'
import { connector, entryUrl } from './family'

const BEST = 10
/** Code points of a text that are read to find its first line. */
const BEGINNING = 300

export const search = defineTool({
  family: connector,
  name: 'search',
  title: 'Search',
  description:
    'Find entries of the shared memory that answer a question, by words and meaning; fetch returns one in full.',
  enabled: (config) => config.fts.enabled || config.semantic.enabled,
  example: { query: 'why is the login test flaky?' },
  promise: 'PLATFORM-14',
  budget: { tokens: 80, trips: 4, reads: [4_450, 4_720], writes: 0 },
  input: z.strictObject({ query: queryField }),
  output: output({ results: z.array(part('Entry', { id: z.string(), title: z.string(), url: z.string() })) }),
  async handler({ services, principal, config, origin }, { query }) {
    const { results } = await services.rankedSearches.byBoth(principal, {
      query,
      filter: EVERYTHING,
      limit: BEST,
      offset: 0,
      previewLength: BEGINNING,
      method: config.hybrid.fusion,
      k: config.hybrid.k,
      legs: { fts: config.fts.enabled, semantic: config.semantic.enabled },
    })
    return {
      results: results.map(({ entry }) => ({
        id: String(entry.id),
        title: titleOf(entry),
        url: entryUrl(origin, entry.id),
      })),
    }
  },
})
