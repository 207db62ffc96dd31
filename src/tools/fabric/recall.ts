import { z } from 'zod'
import type { Layer } from '../../domain/entry/entry'
import { normalizeTags } from '../../domain/entry/tags'
import { inspected } from '../../domain/flaws'
import type { Scope } from '../../domain/identity/scope'
import { recallFilter } from '../../domain/recall/filter'
import { clampLimit, RESULT_BYTES } from '../../domain/search/window'
import { RECALL_MODES } from '../../services/recall/recall'
import { defineTool } from '../define-tool'
import { limit, listOf, offset, strings, tags } from '../fields'
import { soundArguments } from '../parse-arguments'
import { isRecord } from '../record'
import { fitting } from '../result-size'
import { fabric } from './family'
import { kindsOf, shownMemory } from './memory-wire'
import { checkAsked, fabricOutput, omittedMemories, projectPath, sessionId, shownScore, threshold } from './wire'

const filter = z.strictObject({
  types: strings('Type').optional(),
  layers: z
    .array(z.int().min(1).max(3).meta({ description: 'Layer' }))
    .optional()
    .meta({ description: 'Layers' }),
  tags: tags('Any of these').optional(),
  projectPath,
})

const input = z.strictObject({
  query: z.string().meta({ description: 'What to look for' }),
  sessionId,
  limit: limit(10),
  offset,
  threshold: threshold(0.7),
  mode: z.enum(RECALL_MODES).default('hybrid').meta({ description: 'By words (keyword), meaning or both' }),
  filter: filter.optional().meta({ description: 'Only such memories; layer 3 is of every project' }),
})

/** What a filter means. @throws Problem that tells everything that is wrong with what is given */
const checked = (scope: Scope, { filter = {}, ...asked }: Partial<z.output<typeof input>>) =>
  inspected((wrong) => {
    const project = checkAsked(scope, { ...asked, projectPath: filter.projectPath }, wrong, 'filter.projectPath')
    const kinds = (filter.types ?? []).flatMap((type, i) => {
      const path = `filter.types[${i}]`
      return wrong.check(path, type, () => kindsOf(type, path)) ?? []
    })
    return { project, kinds }
  })

export const recall = defineTool({
  family: fabric,
  name: 'context_recall',
  title: 'Recall memories',
  description:
    'Find memories by words and meaning. Similarity is absolute: nothing passes the threshold by being the least bad.',
  effect: 'read',
  input,
  output: fabricOutput({
    results: listOf(z.looseObject({ similarity: z.number(), layer: z.int(), matched: z.string() }), 'Memory found'),
    total: z.int(),
    offset: z.int(),
    limit: z.int(),
    hasMore: z.boolean(),
    degraded: z.boolean(),
  }),
  inspect: ({ filter: given, ...rest }, { principal }) =>
    void checked(principal, {
      ...soundArguments(input, rest),
      ...(isRecord(given) ? { filter: soundArguments(filter, given) } : {}),
    }),
  async handler({ services, principal }, args) {
    const { kinds, project } = checked(principal, args)
    const { layers = [], tags = [] } = args.filter ?? {}
    const { limit } = clampLimit(args.limit)
    const { offset } = args
    const page = await services.recall.page(
      principal,
      {
        ...{ query: args.query, mode: args.mode, threshold: args.threshold, limit, offset },
        filter: recallFilter({ kinds, layers: layers as Layer[], tags: normalizeTags(tags), project }),
      },
      RESULT_BYTES,
    )
    const shown = page.results.map(({ memory, similarity, matched }) => ({
      entry: memory,
      show: () => ({
        memory: shownMemory(memory),
        ...{ similarity: shownScore(similarity), layer: memory.layer, matched },
      }),
    }))
    const { kept, omitted } = await fitting(shown, services.pace)
    return {
      results: kept.map(({ shown }) => shown),
      ...{ total: page.total, offset, limit },
      hasMore: offset + limit < page.total,
      ...(page.capped ? { totalCapped: true } : {}),
      ...(page.degraded ? { degraded: true } : {}),
      ...(page.warnings.length === 0 ? {} : { warnings: page.warnings }),
      ...omittedMemories([...omitted, ...page.omitted]),
    }
  },
})
