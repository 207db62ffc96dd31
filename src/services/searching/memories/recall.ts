import type { Scope } from '../../../domain/identity/scope'
import { excerptOf, placeOfMatch } from '../../../domain/recall/excerpts'
import type { Memory } from '../../../domain/recall/memory'
import { unknownProject } from '../../../domain/recall/project-access'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { successorsFirst } from '../../../domain/search/hits'
import type { Window } from '../../../domain/search/window'
import { offsetAfter } from '../../../domain/text'
import type { Memories } from '../../../ports/memories'
import { didYouMean, NO_SUGGESTIONS, type SuggestWords } from '../ranked/suggest-words'
import {
  bySimilarity,
  type RankMemories,
  type RecallHit,
  type RecallRanking,
  type RecallRequest,
} from './rank-memories'

export interface RecallPage extends Pick<RecallRanking, 'capped' | 'degraded' | 'warnings'> {
  /** `around` is the position of the match in the text; null if unknown. */
  readonly results: readonly (RecallHit & { readonly memory: Memory; readonly around: number | null })[]
  /** IDs of memories on the page that exceed the allowed bytes. */
  readonly omitted: readonly number[]
  /** Number of results on all pages. */
  readonly total: number
  /** Best memories below the threshold, on a first page without results. */
  readonly below: {
    readonly count: number
    readonly best: readonly { readonly id: number; readonly similarity: number; readonly excerpt: string }[]
  } | null
}

interface RecallPageRequest extends RecallRequest, Window {
  /** Whether to check that the project has memories if nothing is found. */
  readonly doubtsProject?: boolean
}

/** Memories and characters listed below the threshold. */
const BELOW = { most: 3, excerpt: 200 } as const

export type Recall = ReturnType<typeof createRecall>

export function createRecall({
  rank,
  memories,
  analyzer,
  suggestWords = NO_SUGGESTIONS,
}: {
  readonly rank: RankMemories
  readonly memories: Pick<Memories, 'shown' | 'away' | 'count'>
  readonly analyzer: Analyzer
  readonly suggestWords?: SuggestWords
}) {
  /** Returns the position of the match in a memory. */
  async function placeIn(text: string, id: number, { units, nearest }: RecallRanking): Promise<number | null> {
    const place = await scheduler.run(placeOfMatch(text, units, analyzer))
    const chunk = nearest.get(id)
    return place ?? (chunk === undefined || chunk === 0 ? null : offsetAfter(text, 0, chunk))
  }

  return {
    /**
     * Returns a page of results; writes nothing.
     *
     * Takes three round trips, one more if a retriever was cut, a memory belongs to another project, or a project has no results;
     * and one call of the embedder.
     *
     * @throws Problem unavailable if the mode needs an unavailable retriever
     * @example
     * await services.recall.page(principal, { query: 'tenant queries', mode: 'hybrid', filter, threshold: 0.7, kept: 200, limit: 10, offset: 0, project: 'ferry' }, 1_000_000)
     */
    async page(scope: Scope, request: RecallPageRequest, maxBytes: number): Promise<RecallPage> {
      const ranking = await rank(scope, request)
      const { filter, project, offset, limit, doubtsProject = false } = request
      const { capped, degraded, warnings } = ranking
      const passing = ranking.ids.filter(ranking.passes)
      const rest = { capped, degraded, warnings, total: passing.length }
      /** Reads memories in the order of the IDs. */
      const read = async (ids: readonly number[]) => {
        const [shown, hits] = await Promise.all([
          memories.shown(scope, project, filter, ids, maxBytes),
          ranking.described(ids),
        ])
        const found = shown.memories.map((memory) => ({ ...(hits.get(memory.id) as RecallHit), memory }))
        return { found, omitted: shown.omitted }
      }
      if (passing.length === 0 && offset === 0) {
        const all = [...(await ranking.described(ranking.ids)).values()].filter(({ similarity }) => similarity > 0)
        const isDoubtful = doubtsProject && !ranking.ids.some((id) => ranking.layerOf(id) < 3)
        const asks = request.mode !== 'semantic' && ranking.isWithoutWords
        const [{ found }, counts, meant] = await Promise.all([
          read(idsOf(all.sort(bySimilarity).slice(0, BELOW.most))),
          project === null || !isDoubtful ? null : memories.count(scope, project),
          asks ? suggestWords(scope, request.query, filter) : [],
        ])
        const suggestion = didYouMean(meant)
        const unknown =
          counts === null || counts.some(({ layer }) => layer < 3) ? [] : [unknownProject(project as string)]
        const best: NonNullable<RecallPage['below']>['best'][number][] = []
        for (const { id, similarity, memory } of found) {
          const { text } = memory
          const excerpt = excerptOf(text, BELOW.excerpt, await placeIn(text, id, ranking)).content
          best.push({ id, similarity, excerpt })
        }
        const below = all.length === 0 ? null : { count: all.length, best }
        return {
          ...rest,
          warnings: [
            ...warnings,
            ...unknown,
            ...(suggestion === null ? [] : [`No memory holds these words; ${suggestion}`]),
          ],
          results: [],
          omitted: [],
          below,
        }
      }
      const wanted = passing.slice(offset, offset + limit)
      // Only memories of the complete organization may belong to another project.
      const ofOrg = project === null ? [] : passing.filter((id) => ranking.layerOf(id) === 3)
      let [page, away] = await Promise.all([
        read(wanted),
        project === null ? new Set<number>() : memories.away(scope, project, ofOrg),
      ])
      if (away.size > 0) {
        const home = [...passing.filter((id) => !away.has(id)), ...passing.filter((id) => away.has(id))]
        const reordered = home.slice(offset, offset + limit)
        if (reordered.some((id, i) => id !== wanted[i])) page = await read(reordered)
      }
      const results: RecallPage['results'][number][] = []
      for (const hit of page.found) results.push({ ...hit, around: await placeIn(hit.memory.text, hit.id, ranking) })
      const ordered = successorsFirst(results, ({ memory }) => memory)
      return { ...rest, results: ordered, omitted: page.omitted, below: null }
    },
  }
}

const idsOf = (hits: readonly RecallHit[]): number[] => hits.map(({ id }) => id)
