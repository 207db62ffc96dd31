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

/** Memories by words, by meaning or by both, with similarities that mean the same everywhere (fabric contract §4). */
export const RECALL_MODES = ['hybrid', 'semantic', 'keyword'] as const
type RecallMode = (typeof RECALL_MODES)[number]

type Matched = 'keyword' | 'semantic' | 'both'

/** A memory that a leg found, before it has been read. */
export interface RecallHit {
  readonly id: number
  readonly similarity: number
  readonly matched: Matched
}

export interface RecallRanking {
  /** Everything that the legs keep, in its order. */
  readonly ids: readonly number[]
  readonly passes: (id: number) => boolean
  /** Of what a leg found. */
  readonly layerOf: (id: number) => Layer
  /**
   * What is told of these hits. At most one round trip, shared with what is read in the same moment: of a memory that passes by meaning
   * alone, nobody has asked yet which words it holds.
   */
  readonly described: (ids: readonly number[]) => Promise<ReadonlyMap<number, RecallHit>>
  /** There may be more that pass. */
  readonly capped: boolean
  /** Meaning could not be asked. */
  readonly degraded: boolean
  readonly warnings: readonly string[]
  /** Where what is near in meaning stands in its memory, in code points. */
  readonly nearest: ReadonlyMap<number, number>
  /** Of the query, the rarest first. */
  readonly units: readonly Unit[]
  /** Words were searched and found nothing. */
  readonly isWithoutWords: boolean
}

export interface RecallRequest {
  readonly query: string
  readonly mode: RecallMode
  readonly filter: Filter
  /** 0 to 1. */
  readonly threshold: number
  /** Memories that one leg keeps: each costs rows, whether it is shown or not. */
  readonly kept: number
  /** What is at home elsewhere stands behind everything that is at home in it. */
  readonly project: string | null
}

const WITHOUT_MEANING = 'Semantic search failed; results match words only'
const WITHOUT_WORDS = 'Full-text search is switched off; results match meaning only'
/** The second leg's smoothing of ranks; nothing here is ordered by ranks. */
const RRF_K = 60

export type RankMemories = ReturnType<typeof createRankMemories>

/** What meaning says: its own best, and beside them what words found. */
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
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  /** What cosines of the model mean. */
  readonly levels: () => Promise<Levels>
  readonly finishing?: FinishIndex
  /** Warnings while vectors are still to be made. */
  readonly unfinished?: CatchUp['warnings']
}) {
  /** Both retrievers, as far as the mode asks for them. */
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
   * What passes, in its order. Two round trips, and one more where a leg is cut and words decide whether something passes that meaning
   * alone found.
   *
   * @throws Problem unavailable when no leg that was asked for works
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
    /** Those that meaning alone found, until it is known what words they hold. */
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
    /** By meaning and, of the words, all or none. */
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

/** Everything that the legs found, as the threads tools order it (threads contract §6.4, §7, §8), weight breaking near-ties. */
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
