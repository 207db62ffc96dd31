import type { Layer } from '../../../domain/entry/entry'
import { unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import {
  aliasThreshold,
  jointSimilarity,
  type Levels,
  meaningOf,
  meaningSimilarity,
  weightFactor,
  wordSimilarity,
} from '../../../domain/recall/similarity'
import type { Filter } from '../../../domain/search/filter'
import { fuse } from '../../../domain/search/fusion'
import type { Unit } from '../../../domain/search/query'
import { type FinishIndex, NOTHING_PENDING } from '../../maintenance/pending-index'
import type { CatchUp } from '../../maintenance/sync-vectors'
import { attempt } from '../../outcome'
import { askBoth, gather } from '../ranked/ranked-search'
import type { SearchSemantic, SemanticHit, SemanticRanking } from '../ranked/search-semantic'
import type { RecallWords, WordHit, WordRecall } from './recall-words'

/** Modes of recall: by meaning, by words, or both. Similarities are comparable between modes (fabric contract §4). */
export const RECALL_MODES = ['hybrid', 'semantic', 'keyword'] as const
type RecallMode = (typeof RECALL_MODES)[number]

type Matched = 'keyword' | 'semantic' | 'both'

/** A memory that a retriever found, before it is read. */
export interface RecallHit {
  readonly id: number
  readonly similarity: number
  readonly matched: Matched
}

export interface RecallRanking {
  /** IDs of everything that the retrievers returned, ordered. */
  readonly ids: readonly number[]
  readonly passes: (id: number) => boolean
  /** Returns the layer of a found memory. */
  readonly layerOf: (id: number) => Layer
  /**
   * Returns the hits of these IDs.
   *
   * Takes at most one round trip, shared with other reads: memories found only by meaning may still need their matching words.
   */
  readonly described: (ids: readonly number[]) => Promise<ReadonlyMap<number, RecallHit>>
  /** Whether more memories may pass the threshold. */
  readonly capped: boolean
  /** Whether semantic search failed. */
  readonly degraded: boolean
  readonly warnings: readonly string[]
  /** Position of the closest passage in each memory, in code points. */
  readonly nearest: ReadonlyMap<number, number>
  /** Units of the query, rarest first. */
  readonly units: readonly Unit[]
  /** Whether a search by words found nothing. */
  readonly isWithoutWords: boolean
}

export interface RecallRequest {
  readonly query: string
  readonly mode: RecallMode
  readonly filter: Filter
  /** Minimum similarity, 0 to 1. */
  readonly threshold: number
  /** Memories that each retriever returns. Each costs rows, whether it is shown or not. */
  readonly kept: number
  /** Memories of this project rank before all others. */
  readonly project: string | null
}

const WITHOUT_MEANING = 'Semantic search failed; results match words only'
const WITHOUT_WORDS = 'Full-text search is switched off; results match meaning only'
/** Smoothing of ranks; this order does not use ranks. */
const RRF_K = 60

export type RankMemories = ReturnType<typeof createRankMemories>

/** Results by meaning: the closest memories, and similarities of those found by words. */
interface Meaning {
  readonly near: readonly SemanticHit[]
  readonly known: SemanticRanking['known']
  readonly levels: Levels
}

export function createRankMemories({
  words: recallWords,
  semantic: searchSemantic,
  levels,
  finishing = NOTHING_PENDING,
  unfinished = async () => [],
}: {
  /** Null if switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  /** Returns the reference cosines of the model. */
  readonly levels: () => Promise<Levels>
  readonly finishing?: FinishIndex
  /** Warnings while vectors are pending. */
  readonly unfinished?: CatchUp['warnings']
}) {
  /** Runs the retrievers of the mode. */
  async function found(scope: Scope, request: RecallRequest) {
    const { query, mode, filter, kept } = request
    const semantic = mode === 'keyword' ? null : searchSemantic
    const [{ words, meaning }, known] = await Promise.all([
      askBoth(scope, {
        ...{ query, filter, depth: kept + 1, semantic },
        words: mode === 'semantic' || recallWords === null ? null : () => recallWords(scope, request),
        beside: ({ hits }) => hits.map(({ id }) => id),
      }),
      semantic && attempt(levels),
    ])
    if (words?.ok === false) throw words.problem
    const byMeaning: Meaning | null =
      meaning?.ok && known?.ok ? { near: meaning.value.hits, known: meaning.value.known, levels: known.value } : null
    return { byWords: words?.value ?? null, byMeaning }
  }

  /**
   * Ranks the memories above the threshold.
   *
   * Takes two round trips, and one more if a retriever was cut and words decide about memories found only by meaning.
   *
   * @throws Problem unavailable if no requested retriever works
   */
  return async (scope: Scope, request: RecallRequest): Promise<RecallRanking> => {
    const { mode, threshold, kept } = request
    const { byWords, byMeaning } = await found(scope, request)
    if (mode === 'semantic' && byMeaning === null) throw unavailable('Meaning cannot be searched now; try mode keyword')
    if (mode === 'keyword' && byWords === null) throw unavailable('Full text is switched off; try mode semantic')
    if (byWords === null && byMeaning === null) throw unavailable('Neither words nor meaning can be searched now')
    const near = byMeaning?.near.slice(0, kept) ?? []
    const chunks = byMeaning?.known ?? new Map<number, SemanticHit>()
    const layers = new Map([...(byWords?.hits ?? []), ...near].map(({ id, layer }) => [id, layer]))
    const shares = new Map(byWords?.hits.map(({ id, share }) => [id, share]))
    /** Memories found only by meaning whose matching words are not known yet. */
    const unasked = new Set(byWords?.cut ? near.flatMap(({ id }) => (shares.has(id) ? [] : [id])) : [])
    const askShares = async (ids: readonly number[]): Promise<void> => {
      const asked = ids.filter((id) => unasked.delete(id))
      for (const [id, share] of (await byWords?.sharesOf(asked)) ?? []) shares.set(id, share)
    }

    const hitOf = (id: number): RecallHit => {
      const chunk = chunks.get(id)
      const meaning = chunk === undefined || byMeaning === null ? 0 : meaningOf(chunk.cosine, byMeaning.levels)
      const share = shares.get(id) ?? 0
      const [ofWords, ofMeaning] = [wordSimilarity(share), meaningSimilarity(meaning)]
      const isWordsAlone = byMeaning === null || chunk === undefined
      const similarity = isWordsAlone ? ofWords : byWords === null ? ofMeaning : jointSimilarity(meaning, share)
      const [isWord, isMeant] = [share > 0 && ofWords >= threshold, meaning > 0 && ofMeaning >= threshold]
      const alone = isWordsAlone ? 'keyword' : byWords === null ? 'semantic' : null
      return { id, similarity, matched: alone ?? (isWord === isMeant ? 'both' : isWord ? 'keyword' : 'semantic') }
    }
    const called = new Set(byWords?.hits.flatMap((hit) => (hit.called ? [hit.id] : [])))
    const others = called.size === 0 ? threshold : aliasThreshold(threshold)
    const isEnough = (id: number, similarity: number): boolean =>
      similarity > 0 && similarity >= (called.has(id) ? threshold : others)
    /** Returns the similarity if the memory contains all or none of the words. */
    const jointly = (id: number, share: 0 | 1): number => {
      const { cosine } = chunks.get(id) as SemanticHit
      return jointSimilarity(meaningOf(cosine, (byMeaning as Meaning).levels), share)
    }
    await askShares([...unasked].filter((id) => !isEnough(id, jointly(id, 0)) && isEnough(id, jointly(id, 1))))
    const ids = orderOf(byWords?.hits ?? [], near, chunks)
    const passing = new Set(ids.filter((id) => isEnough(id, unasked.has(id) ? jointly(id, 0) : hitOf(id).similarity)))
    const cuts = (leg: readonly { readonly id: number }[]): boolean =>
      leg.length > 0 && passing.has(leg.at(-1)?.id as number)
    const unwritten = finishing.warnings([
      ...(mode === 'semantic' ? [] : (['words'] as const)),
      ...(mode === 'keyword' ? [] : (['vectors'] as const)),
    ])
    const late = byMeaning === null ? [] : await unfinished(scope, ['vectors'])
    const missing = [
      ...(mode !== 'keyword' && byMeaning === null ? [WITHOUT_MEANING] : []),
      ...(mode === 'hybrid' && byWords === null ? [WITHOUT_WORDS] : []),
    ]
    return {
      ids,
      passes: (id) => passing.has(id),
      layerOf: (id) => layers.get(id) as Layer,
      async described(wanted) {
        await askShares(wanted)
        return new Map(wanted.map((id) => [id, hitOf(id)]))
      },
      capped:
        (isCut(byWords) && cuts(byWords.hits.toSorted(bySimilarity))) ||
        ((byMeaning?.near.length ?? 0) > kept && cuts(near)),
      degraded: missing.length > 0,
      warnings: [...missing, ...late, ...unwritten, ...(byWords?.warnings ?? [])],
      nearest: new Map([...chunks].map(([id, { start }]) => [id, start])),
      units: byWords?.units ?? [],
      isWithoutWords: byWords !== null && byWords.hits.length === 0,
    }
  }
}

const isCut = (words: WordRecall | null): words is WordRecall => words?.cut === true

export const bySimilarity = (
  a: { readonly id: number; readonly similarity: number },
  b: { readonly id: number; readonly similarity: number },
): number => b.similarity - a.similarity || b.id - a.id

/**
 * Orders everything that the retrievers found as the threads tools do (threads contract §6.4, §7, §8). Weight breaks near ties.
 */
function orderOf(
  words: readonly WordHit[],
  near: readonly SemanticHit[],
  chunks: ReadonlyMap<number, SemanticHit>,
): number[] {
  if (near.length === 0) return words.map(({ id }) => id)
  const byKey = (keyed: { readonly id: number; readonly key: number }[]): number[] =>
    keyed.sort((a, b) => b.key - a.key || b.id - a.id).map(({ id }) => id)
  if (words.length === 0)
    return byKey(near.map(({ id, cosine, weight }) => ({ id, key: cosine * weightFactor(weight) })))
  const wordOf = new Map(words.map((hit) => [hit.id, hit]))
  const candidates = gather(words, near, chunks)
  const weightOf = (id: number): number => (wordOf.get(id)?.weight ?? chunks.get(id)?.weight) as number
  const titled = (id: number): number => wordOf.get(id)?.titled ?? 0
  return fuse('scores', candidates, RRF_K)
    .order.map(({ id, fused }) => ({ id, key: fused * weightFactor(weightOf(id)) }))
    .sort((a, b) => titled(b.id) - titled(a.id) || b.key - a.key || b.id - a.id)
    .map(({ id }) => id)
}
