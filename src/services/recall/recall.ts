import { unavailable } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import type { Memory } from '../../domain/recall/memory'
import { KEPT, weighed } from '../../domain/recall/similarity'
import type { Filter } from '../../domain/search/filter'
import { type Candidate, fuse } from '../../domain/search/fusion'
import type { Window } from '../../domain/search/window'
import type { Memories } from '../../ports/memories'
import { type FinishIndex, NOTHING_PENDING } from '../keeping/pending-index'
import { attempt } from '../outcome'
import type { SearchSemantic } from '../search-semantic'
import type { SemanticHit } from '../semantic-hits'
import { byWeightedSimilarity, type RecallWords, type WordHit, type WordRecall } from './recall-words'

/** Memories by words, by meaning or by both, with scores that mean the same everywhere (fabric contract §4). */
export const RECALL_MODES = ['hybrid', 'semantic', 'keyword'] as const
export type RecallMode = (typeof RECALL_MODES)[number]

export type Matched = 'keyword' | 'semantic' | 'both'

/** A memory that passed, before it has been read. */
export interface RecallHit {
  readonly id: number
  readonly similarity: number
  readonly weight: number
  readonly matched: Matched
}

export interface RecallRanking {
  /** Best first: all that pass, as far as legs keep them. */
  readonly hits: readonly RecallHit[]
  /** There may be more. */
  readonly capped: boolean
  /** Meaning could not be asked. */
  readonly degraded: boolean
  readonly warnings: readonly string[]
}

export interface RecallRequest {
  readonly query: string
  readonly mode: RecallMode
  readonly filter: Filter
  /** 0 to 1. */
  readonly threshold: number
}

export interface RecallPage extends Omit<RecallRanking, 'hits'> {
  readonly results: readonly (RecallHit & { readonly memory: Memory })[]
  /** Of the page, those that would pass the bytes that were allowed. */
  readonly omitted: readonly number[]
  /** Over all pages. */
  readonly total: number
}

const WITHOUT_MEANING = 'Meaning could not be searched; results are based on words only'
const WITHOUT_WORDS = 'Full text is switched off; results are based on meaning only'
/** A cosine of 0 says nothing, so it is no hit. */
const NOT_NOTHING = Number.MIN_VALUE
/** The second leg's smoothing of ranks; nothing here is ordered by ranks. */
const RRF_K = 60

export type Recall = ReturnType<typeof createRecall>

export function createRecall({
  words: recallWords,
  semantic,
  memories,
  afterwards,
  finishing = NOTHING_PENDING,
}: {
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  readonly memories: Pick<Memories, 'recalled'>
  /** Takes work that nobody waits for. */
  readonly afterwards: (work: () => Promise<void>) => void
  readonly finishing?: FinishIndex
}) {
  /**
   * Both legs as far as they are asked for, their hits beside each other, and what fuses them. Two round trips: the words and the
   * index, then the rows of what the index found and the vectors of what the words found.
   */
  async function legs(scope: Scope, { query, mode, filter, threshold }: RecallRequest) {
    const meaning = mode === 'keyword' ? null : semantic
    const words = mode === 'semantic' ? null : recallWords
    const embedded = meaning && (await attempt(() => meaning.embed(query)))
    const first = mode === 'keyword' ? 'most' : 'rarest'
    const [byWords, asked] = await Promise.all([
      words?.(scope, { query, filter, threshold, first }) ?? null,
      meaning && embedded?.ok ? attempt(() => meaning.find(scope, embedded.value, KEPT + 1, filter)) : null,
    ])
    if (meaning === null || !asked?.ok) return { byWords, near: null, beside: [] }
    const known = byWords?.hits.map(({ id }) => id) ?? []
    const floor = Math.max(threshold, NOT_NOTHING)
    const [answer, beside] = await Promise.all([
      attempt(() => meaning.answer(scope, asked.value, filter, KEPT + 1, floor)),
      attempt(() => meaning.nearestChunks(scope, asked.value, filter, known)),
    ])
    return { byWords, near: answer.ok ? answer.value.hits : null, beside: beside.ok ? beside.value : [] }
  }

  /** @throws Problem unavailable when no leg that was asked for works */
  async function rank(scope: Scope, request: RecallRequest): Promise<RecallRanking> {
    const { mode } = request
    const { byWords, near, beside } = await legs(scope, request)
    if (mode === 'semantic' && near === null) throw unavailable('Meaning cannot be searched now; try mode keyword')
    if (mode === 'keyword' && byWords === null) throw unavailable('Full text is switched off; try mode semantic')
    if (byWords === null && near === null) throw unavailable('Neither words nor meaning can be searched now')
    const hits = mergeLegs(byWords?.hits ?? [], (near ?? []).slice(0, KEPT))
    const unwritten = finishing.warnings([
      ...(mode === 'semantic' ? [] : (['words'] as const)),
      ...(mode === 'keyword' ? [] : (['vectors'] as const)),
    ])
    const missing = [
      ...(mode !== 'keyword' && near === null ? [WITHOUT_MEANING] : []),
      ...(mode === 'hybrid' && byWords === null ? [WITHOUT_WORDS] : []),
    ]
    return {
      hits:
        byWords?.hits.length && near?.length ? fuseLegs(hits, byWords, near, beside) : hits.sort(byWeightedSimilarity),
      capped: (byWords?.cut ?? false) || (near?.length ?? 0) > KEPT,
      degraded: missing.length > 0,
      warnings: [...missing, ...unwritten, ...(byWords?.warnings ?? [])],
    }
  }

  return {
    rank,

    /**
     * A page of what passes, each memory on it noted as accessed. Three round trips, one call of the embedder.
     *
     * @throws Problem unavailable when the mode needs what is not to be had
     */
    async page(scope: Scope, request: RecallRequest & Window, maxBytes: number): Promise<RecallPage> {
      const { hits, ...rest } = await rank(scope, request)
      const wanted = hits.slice(request.offset, request.offset + request.limit)
      const ids = wanted.map(({ id }) => id)
      const { memories: found, omitted } = await memories.recalled(scope, request.filter, ids, maxBytes, afterwards)
      const byId = new Map(wanted.map((hit) => [hit.id, hit]))
      const results = found.map((memory) => ({ ...(byId.get(memory.id) as RecallHit), memory }))
      return { ...rest, results, omitted, total: hits.length }
    },
  }
}

/** Everything that a leg kept, each memory once, with the larger of its two scores. */
function mergeLegs(words: readonly WordHit[], near: readonly SemanticHit[]): RecallHit[] {
  const merged = new Map<number, RecallHit>()
  for (const { id, similarity, weight } of words) merged.set(id, { id, similarity, weight, matched: 'keyword' })
  for (const { id, cosine, weight } of near) {
    const known = merged.get(id)
    const similarity = Math.min(1, Math.max(known?.similarity ?? 0, cosine))
    merged.set(id, { id, similarity, weight, matched: known ? 'both' : 'semantic' })
  }
  return [...merged.values()]
}

/** The order of what both legs have to say, as the fusion by scores has it (threads contract §8), times weight. */
function fuseLegs(
  hits: readonly RecallHit[],
  words: WordRecall,
  near: readonly SemanticHit[],
  beside: readonly SemanticHit[],
): RecallHit[] {
  const wordOf = new Map(words.hits.map((hit, i) => [hit.id, { ...hit, rank: i + 1 }]))
  const placeOf = new Map(near.map(({ id }, i) => [id, i + 1]))
  const chunkOf = new Map([...beside, ...near].map((hit) => [hit.id, hit]))
  const candidates = hits.map(({ id }): Candidate => {
    const chunk = chunkOf.get(id)
    return {
      id,
      ftsRank: wordOf.get(id)?.rank ?? null,
      ftsScore: wordOf.get(id)?.score ?? null,
      semanticRank: placeOf.get(id) ?? null,
      nearest: chunk === undefined ? null : { cosine: chunk.cosine, codePoints: chunk.length },
    }
  })
  const fused = new Map(fuse('scores', candidates, RRF_K).order.map((one) => [one.id, one.fused]))
  const key = ({ id, weight }: RecallHit): number => weighed(fused.get(id) as number, weight)
  return hits.toSorted((a, b) => key(b) - key(a) || b.similarity - a.similarity || b.id - a.id)
}
