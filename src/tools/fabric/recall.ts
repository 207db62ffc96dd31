import * as z from 'zod'
import type { Layer } from '../../domain/entry/entry'
import { normalizeTags } from '../../domain/entry/selection'
import type { Scope } from '../../domain/identity/scope'
import type { Excerpt } from '../../domain/recall/excerpts'
import { recallFilter } from '../../domain/recall/recall-filter'
import { RETRIEVER_LIMIT } from '../../domain/recall/similarity'
import { clampLimit, RESULT_BYTES } from '../../domain/search/window'
import { collectIssues } from '../../domain/validation'
import { RECALL_MODES } from '../../services/searching/memories/rank-memories'
import type { RecallPage } from '../../services/searching/memories/recall'
import { defineTool } from '../define-tool'
import { limit, listOf, offset, part, strings, tags } from '../fields'
import { soundArguments } from '../parse-arguments'
import { isRecord } from '../record'
import { fitting } from '../result-size'
import { fabric } from './family'
import {
  checkAsked,
  checkProject,
  excerptsFor,
  fabricOutput,
  kindsOf,
  leanMemory,
  omittedMemories,
  projectPath,
  sessionId,
  shownScore,
  threshold,
} from './memory-serializer'

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
  filter: filter.optional().meta({ description: 'Only such memories; layer 3 covers all projects' }),
  projectPath,
})

/** Checks the arguments and reads the filter. @throws Problem that lists every problem */
const checked = (scope: Scope, { filter = {}, projectPath, ...asked }: Partial<z.output<typeof input>>) =>
  collectIssues((wrong) => {
    checkAsked(scope, asked, wrong)
    const project = checkProject(scope, { projectPath, 'filter.projectPath': filter.projectPath }, wrong)
    const kinds = (filter.types ?? []).flatMap((type, i) => {
      const path = `filter.types[${i}]`
      return wrong.check(path, type, () => kindsOf(type, path)) ?? []
    })
    return { project, kinds }
  })

/** Budget of a default page of 2,000 tokens, in code points. */
const BUDGET = { each: 450, least: 2_000, whole: { each: 680, least: 2_600 } } as const

const shownBelow = ({ count, best }: NonNullable<RecallPage['below']>) => ({
  count,
  best: best.map(({ id, similarity, excerpt }) => ({ id: String(id), similarity: shownScore(similarity), excerpt })),
})

export const recall = defineTool({
  family: fabric,
  name: 'context_recall',
  title: 'Recall memories',
  description:
    'Find memories by words and meaning. Similarity is absolute; if none passes, below lists the closest. ' +
    'Long contents are cut; context_get returns all.',
  example: { query: 'tenant queries', threshold: 0 },
  promise: 'FABRIC-55',
  budget: { tokens: 350, trips: 4, reads: [8_300, 22_300], writes: 0 },
  input,
  output: fabricOutput({
    results: listOf(z.looseObject({ similarity: z.number(), layer: z.int(), matched: z.string() }), 'Memory found'),
    total: z.int(),
    offset: z.int(),
    limit: z.int(),
    hasMore: z.boolean(),
    degraded: z.boolean(),
    below: part('Closest memories if none passes', { count: z.int() }),
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
        ...{
          query: args.query,
          mode: args.mode,
          threshold: args.threshold,
          kept: RETRIEVER_LIMIT,
          limit,
          offset,
          project,
        },
        doubtsProject: true,
        filter: recallFilter({
          ...{ kinds, layers: layers as Layer[], tags: normalizeTags(tags), project },
          merged: principal.merged,
        }),
      },
      RESULT_BYTES,
    )
    const excerpts = excerptsFor(page.results, project, BUDGET)
    const shown = page.results.map(({ memory, similarity, matched }, i) => ({
      entry: memory,
      show: () => ({
        memory: leanMemory(memory, excerpts[i] as Excerpt, project),
        ...{ similarity: shownScore(similarity), layer: memory.layer, matched },
      }),
    }))
    const { kept, omitted } = await fitting(shown)
    return {
      results: kept.map(({ shown }) => shown),
      ...{ total: page.total, offset, limit },
      hasMore: offset + limit < page.total,
      ...(page.capped ? { totalCapped: true } : {}),
      ...(page.degraded ? { degraded: true } : {}),
      ...(page.below === null ? {} : { below: shownBelow(page.below) }),
      ...(page.warnings.length === 0 ? {} : { warnings: page.warnings }),
      ...omittedMemories([...omitted, ...page.omitted]),
    }
  },
})
