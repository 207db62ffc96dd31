import * as z from 'zod'
import type { Layer } from '../../domain/entry/entry'
import type { Metadata } from '../../domain/entry/metadata'
import { normalizeTags } from '../../domain/entry/selection'
import type { Scope } from '../../domain/identity/scope'
import { budgetOf, type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import { type Memory, type MemoryCount, typeOfKind } from '../../domain/recall/memory'
import { unknownProject } from '../../domain/recall/project-access'
import { clampLimit, RESULT_BYTES } from '../../domain/search/window'
import { collectIssues } from '../../domain/validation'
import { defineTool } from '../define-tool'
import { flag, limit, listOf, offset, tags } from '../fields'
import { soundArguments } from '../parse-arguments'
import { provenance } from '../provenance'
import { fitting } from '../result-size'
import { fabric } from './family'
import {
  checkAsked,
  fabricOutput,
  kindsOf,
  leanMemory,
  memoryOutput,
  omittedMemories,
  projectPath,
} from './memory-serializer'

function statistics(all: readonly MemoryCount[]) {
  const counts = all.filter(({ archived }) => !archived)
  const archivedIn = (wanted: number) =>
    all.reduce((sum, { layer, archived, count }) => (archived && layer === wanted ? sum + count : sum), 0)
  const sum = (of: (count: MemoryCount) => boolean) => counts.filter(of).reduce((total, { count }) => total + count, 0)
  const [l1, l2, l3] = [1, 2, 3].map((layer) => sum((count) => count.layer === layer)) as [number, number, number]
  const byType: Record<string, number> = {}
  for (const { kind, count } of counts) byType[typeOfKind(kind)] = (byType[typeOfKind(kind)] ?? 0) + count
  return {
    ...{ l1, l2, l3, total: l1 + l2 + l3 },
    pinned: {
      l2: sum(({ layer, pinned }) => layer === 2 && pinned),
      l3: sum(({ layer, pinned }) => layer === 3 && pinned),
    },
    archived: { l2: archivedIn(2), l3: archivedIn(3) },
    byType,
  }
}

/** Code points of contents (for each memory, and at least) and of the complete answer (fabric contract §1). */
const BUDGET = { each: 200, least: 2_000, whole: 480, shortest: 32 } as const
const NOTHING: Excerpt = { content: '', truncated: true, length: 1_000 }

/**
 * Serializes a memory of a list; its tags are a member next to its metadata.
 *
 * @param most the agent and key that is shown once for the complete list
 */
function listed(memory: Memory, excerpt: Excerpt, project: string | null, most: string) {
  const { metadata, by, ...rest } = leanMemory(memory, excerpt, project)
  const { tags: _, ...others } = metadata as Metadata
  return { ...rest, metadata: others, tags: [...memory.tags], pinned: memory.pinned, ...(by === most ? {} : { by }) }
}

/** Returns the agent and key that stored most of these memories. */
function mostBy(memories: readonly Memory[]): string {
  const groups = Map.groupBy(memories, (memory) => provenance(memory).by)
  const [most] = [...groups].sort(([, a], [, b]) => b.length - a.length)
  return most?.[0] ?? ''
}

/** Characters of an answer. A short list gets enough for its contents to use the minimum budget. */
const wholeOf = (shown: number, beside: number): number =>
  Math.max(budgetOf(shown, BUDGET.whole, 0), Math.min(budgetOf(20, BUDGET.whole, 0), BUDGET.least + beside))

const input = z.strictObject({
  layer: z.int().min(1).max(3).default(2).meta({ description: 'Layer' }),
  type: z.string().optional().meta({ description: 'Only this type' }),
  tags: tags('Any of these').optional(),
  archived: flag(false, 'Only archived ones'),
  limit: limit(20),
  offset,
  stats: flag(false, 'Only count'),
  projectPath,
})

/** Arguments that statistics ignore. */
const OF_LISTS = ['layer', 'type', 'tags', 'archived', 'limit', 'offset']

/** Checks the arguments. @throws Problem that lists every problem */
const checked = (scope: Scope, { type, projectPath }: Partial<z.output<typeof input>>) =>
  collectIssues((wrong) => ({
    project: checkAsked(scope, { projectPath }, wrong),
    kinds: type === undefined ? null : (wrong.check('type', type, () => kindsOf(type, 'type')) ?? null),
  }))

export const list = defineTool({
  family: fabric,
  name: 'context_list',
  title: 'List memories',
  description: 'List the newest memories of a layer, or count them with stats.',
  example: { layer: 2, projectPath: 'ferry' },
  promise: 'FABRIC-51',
  budget: { tokens: 200, trips: 2, reads: [1_664, 7_370], writes: 0 },
  input,
  output: fabricOutput({
    memories: listOf(memoryOutput, 'Memory'),
    by: z.string().optional().meta({ description: 'Of memories without by' }),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    layer: z.int(),
    hasMore: z.boolean(),
  }),
  counting: (args) =>
    String(args.stats).toLowerCase() === 'true'
      ? Object.fromEntries(Object.entries(args).filter(([name]) => !OF_LISTS.includes(name)))
      : args,
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async handler({ services, principal }, args) {
    const { project, kinds } = checked(principal, args)
    if (args.stats) return statistics(await services.memories.count(principal, project))
    const { limit } = clampLimit(args.limit)
    const { offset } = args
    const layer = args.layer as Layer
    const page = await services.memories.list(
      principal,
      project,
      {
        ...{ layer, limit, offset, kinds, archived: args.archived },
        tags: normalizeTags(args.tags ?? []),
      },
      RESULT_BYTES,
    )
    const isDoubtful = project !== null && page.total === 0 && layer < 3
    const counts = isDoubtful ? await services.memories.count(principal, project) : []
    const isUnknown = isDoubtful && !counts.some((one) => one.layer < 3)
    const most = mostBy(page.memories)
    const beside = page.memories.reduce(
      (sum, one) => sum + JSON.stringify(listed(one, NOTHING, project, most)).length,
      0,
    )
    const shown = page.memories.length
    const least = Math.min(budgetOf(shown, BUDGET.each, BUDGET.least), shown * BUDGET.shortest)
    const budget = Math.max(
      least,
      Math.min(budgetOf(shown, BUDGET.each, BUDGET.least), wholeOf(shown, beside) - beside),
    )
    const excerpts = excerptsOf(
      page.memories.map(({ text }) => ({ text, around: null })),
      budget,
    )
    const { kept, omitted } = await fitting(
      page.memories.map((entry, i) => ({ entry, show: () => listed(entry, excerpts[i] as Excerpt, project, most) })),
    )
    return {
      memories: kept.map(({ shown }) => shown),
      ...(most === '' ? {} : { by: most }),
      ...{ total: page.total, limit, offset, layer },
      hasMore: offset + page.memories.length + page.omitted.length < page.total,
      ...(isUnknown ? { warnings: [unknownProject(project)] } : {}),
      ...omittedMemories([...omitted, ...page.omitted]),
    }
  },
})
