import { unavailable } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import type { Memory } from '../../domain/recall/memory'
import { excerptOf, placeOfMatch } from '../../domain/recall/room'
import {
  jointSimilarity,
  KEPT,
  type Levels,
  meaningOf,
  meaningSimilarity,
  weightFactor,
  wordSimilarity,
} from '../../domain/recall/similarity'
import type { Analyzer } from '../../domain/search/analysis'
import type { Filter } from '../../domain/search/filter'
import { type Candidate, fuse } from '../../domain/search/fusion'
import type { Unit } from '../../domain/search/query-unit'
import type { Window } from '../../domain/search/window'
import { offsetAfter } from '../../domain/text'
import type { Memories } from '../../ports/memories'
import { type FinishIndex, NOTHING_PENDING } from '../keeping/pending-index'
import { attempt } from '../outcome'
import type { SearchSemantic } from '../search-semantic'
import type { SemanticHit } from '../semantic-hits'
import type { RecallWords, WordHit, WordRecall } from './recall-words'

/** Memories by words, by meaning or by both, with similarities that mean the same everywhere (fabric contract §4). */
export const RECALL_MODES = ['hybrid', 'semantic', 'keyword'] as const
export type RecallMode = (typeof RECALL_MODES)[number]

export type Matched = 'keyword' | 'semantic' | 'both'

/** A memory that a leg found, before it has been read. */
export interface RecallHit {
  readonly id: number
  readonly similarity: number
  readonly matched: Matched
}

export interface RecallRanking {
  /** In their order: everything that has a similarity, as far as legs keep it. */
  readonly hits: readonly RecallHit[]
  /** There may be more that pass. */
  readonly capped: boolean
  /** Meaning could not be asked. */
  readonly degraded: boolean
  readonly warnings: readonly string[]
  /** Where what is near in meaning stands in its memory, in code points. */
  readonly nearest: ReadonlyMap<number, number>
  /** Of the query, the rarest first. */
  readonly units: readonly Unit[]
}

export interface RecallRequest {
  readonly query: string
  readonly mode: RecallMode
  readonly filter: Filter
  /** 0 to 1. */
  readonly threshold: number
  /** What is at home elsewhere stands behind everything that is at home in it. */
  readonly project: string | null
}

export interface RecallPage extends Pick<RecallRanking, 'capped' | 'degraded' | 'warnings'> {
  /** `around` is where in the text stands what the memory was found by; null where that is not known. */
  readonly results: readonly (RecallHit & { readonly memory: Memory; readonly around: number | null })[]
  /** Of the page, those that would pass the bytes that were allowed. */
  readonly omitted: readonly number[]
  /** Over all pages. */
  readonly total: number
  /** On the first page, where nothing passes: how many have a similarity at all, and the most similar. */
  readonly below: {
    readonly count: number
    readonly best: readonly { readonly id: number; readonly similarity: number; readonly excerpt: string }[]
  } | null
}

const WITHOUT_MEANING = 'Meaning could not be searched; results are based on words only'
const WITHOUT_WORDS = 'Full text is switched off; results are based on meaning only'
/** The second leg's smoothing of ranks; nothing here is ordered by ranks. */
const RRF_K = 60
/** Of what is told where nothing passes. */
const BELOW = { most: 3, excerpt: 200 } as const

export type Recall = ReturnType<typeof createRecall>

/** What meaning says: its own best, and beside them what words found. */
interface Meaning {
  readonly near: readonly SemanticHit[]
  readonly beside: readonly SemanticHit[]
  readonly levels: Levels
}

export function createRecall({
  words: recallWords,
  semantic,
  levels,
  memories,
  analyzer,
  finishing = NOTHING_PENDING,
}: {
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  /** What cosines of the model mean. */
  readonly levels: () => Promise<Levels>
  readonly memories: Pick<Memories, 'shown' | 'away'>
  readonly analyzer: Analyzer
  readonly finishing?: FinishIndex
}) {
  /**
   * Both legs as far as they are asked for. Two round trips: the words and the index, then the rows of what the index found and the
   * vectors of what the words found.
   */
  async function legs(scope: Scope, { query, mode, filter }: RecallRequest) {
    const meaning = mode === 'keyword' ? null : semantic
    const words = mode === 'semantic' ? null : recallWords
    const embedded = meaning && (await attempt(() => Promise.all([meaning.embed(query), levels()])))
    const [byWords, asked] = await Promise.all([
      words?.(scope, { query, filter }) ?? null,
      meaning && embedded?.ok ? attempt(() => meaning.find(scope, embedded.value[0], KEPT + 1, filter)) : null,
    ])
    if (meaning === null || !embedded?.ok || !asked?.ok) return { byWords, byMeaning: null }
    const known = byWords?.hits.map(({ id }) => id) ?? []
    const [near, beside] = await Promise.all([
      attempt(() => meaning.answer(scope, asked.value, filter, KEPT + 1)),
      attempt(() => meaning.nearestChunks(scope, asked.value, filter, known)),
    ])
    const byMeaning: Meaning | null = near.ok
      ? { near: near.value.hits, beside: beside.ok ? beside.value : [], levels: embedded.value[1] }
      : null
    return { byWords, byMeaning }
  }

  /** @throws Problem unavailable when no leg that was asked for works */
  async function rank(scope: Scope, request: RecallRequest): Promise<RecallRanking> {
    const { mode, threshold } = request
    const { byWords, byMeaning } = await legs(scope, request)
    if (mode === 'semantic' && byMeaning === null) throw unavailable('Meaning cannot be searched now; try mode keyword')
    if (mode === 'keyword' && byWords === null) throw unavailable('Full text is switched off; try mode semantic')
    if (byWords === null && byMeaning === null) throw unavailable('Neither words nor meaning can be searched now')
    const near = byMeaning?.near.slice(0, KEPT) ?? []
    const chunks = new Map([...(byMeaning?.beside ?? []), ...near].map((hit) => [hit.id, hit]))
    const shares = new Map(byWords?.hits.map(({ id, share }) => [id, share]))
    const others = near.flatMap(({ id }) => (shares.has(id) ? [] : [id]))
    for (const [id, share] of (await byWords?.sharesOf(others)) ?? []) shares.set(id, share)

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
    const order = orderOf(byWords?.hits ?? [], near, chunks)
    const hits = order.map(hitOf).filter(({ similarity }) => similarity > 0)
    const passes = new Set(hits.flatMap(({ id, similarity }) => (similarity >= threshold ? [id] : [])))
    const cuts = (leg: readonly { readonly id: number }[]): boolean =>
      leg.length > 0 && passes.has(leg.at(-1)?.id as number)
    const unwritten = finishing.warnings([
      ...(mode === 'semantic' ? [] : (['words'] as const)),
      ...(mode === 'keyword' ? [] : (['vectors'] as const)),
    ])
    const missing = [
      ...(mode !== 'keyword' && byMeaning === null ? [WITHOUT_MEANING] : []),
      ...(mode === 'hybrid' && byWords === null ? [WITHOUT_WORDS] : []),
    ]
    return {
      hits,
      capped:
        (isCut(byWords) && cuts(byWords.hits.toSorted(bySimilarity))) ||
        ((byMeaning?.near.length ?? 0) > KEPT && cuts(near)),
      degraded: missing.length > 0,
      warnings: [...missing, ...unwritten, ...(byWords?.warnings ?? [])],
      nearest: new Map([...chunks].map(([id, { start }]) => [id, start])),
      units: byWords?.units ?? [],
    }
  }

  /** Where in a memory stands what it was found by. */
  function placeIn(text: string, id: number, { units, nearest }: RecallRanking): number | null {
    const place = placeOfMatch(text, units, analyzer)
    const chunk = nearest.get(id)
    return place ?? (chunk === undefined || chunk === 0 ? null : offsetAfter(text, 0, chunk))
  }

  return {
    rank,

    /**
     * A page of what passes; it writes nothing. Three round trips, one more where a leg is cut or something is at home elsewhere, and one
     * call of the embedder.
     *
     * @throws Problem unavailable when the mode needs what is not to be had
     */
    async page(scope: Scope, request: RecallRequest & Window, maxBytes: number): Promise<RecallPage> {
      const ranking = await rank(scope, request)
      const { filter, threshold, project, offset, limit } = request
      const passing = ranking.hits.filter(({ similarity }) => similarity >= threshold)
      const isBelow = passing.length === 0 && offset === 0 && ranking.hits.length > 0
      const told = isBelow ? ranking.hits.toSorted(bySimilarity).slice(0, BELOW.most) : []
      const read = (ids: readonly number[]) => memories.shown(scope, filter, ids, maxBytes)
      const idsOf = (hits: readonly RecallHit[]): number[] => hits.map(({ id }) => id)
      let wanted = isBelow ? told : passing.slice(offset, offset + limit)
      let [found, away] = await Promise.all([
        read(idsOf(wanted)),
        project === null ? new Set<number>() : memories.away(scope, project, idsOf(passing)),
      ])
      if (!isBelow && away.size > 0) {
        const home = [...passing.filter(({ id }) => !away.has(id)), ...passing.filter(({ id }) => away.has(id))]
        const anew = home.slice(offset, offset + limit)
        if (anew.some(({ id }, i) => id !== wanted[i]?.id)) found = await read(idsOf(anew))
        wanted = anew
      }
      const byId = new Map(wanted.map((hit) => [hit.id, hit]))
      const { memories: whole, omitted } = found
      const { capped, degraded, warnings } = ranking
      const rest = { capped, degraded, warnings, total: passing.length }
      if (isBelow) {
        const best = whole.map(({ id, text }) => ({
          ...{ id, similarity: (byId.get(id) as RecallHit).similarity },
          excerpt: excerptOf(text, BELOW.excerpt, placeIn(text, id, ranking)).content,
        }))
        return { ...rest, results: [], omitted: [], below: { count: ranking.hits.length, best } }
      }
      const results = whole.map((memory) => ({
        ...{ ...(byId.get(memory.id) as RecallHit), memory, around: placeIn(memory.text, memory.id, ranking) },
      }))
      return { ...rest, results, omitted, below: null }
    },
  }
}

const isCut = (words: WordRecall | null): words is WordRecall => words?.cut === true

const bySimilarity = (
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
  const wordOf = new Map(words.map((hit, i) => [hit.id, { ...hit, rank: i + 1 }]))
  const placeOf = new Map(near.map(({ id }, i) => [id, i + 1]))
  const candidates = [...new Set([...wordOf.keys(), ...placeOf.keys()])].map((id): Candidate => {
    const chunk = chunks.get(id)
    return {
      id,
      ftsRank: wordOf.get(id)?.rank ?? null,
      ftsScore: wordOf.get(id)?.score ?? null,
      semanticRank: placeOf.get(id) ?? null,
      nearest: chunk === undefined ? null : { cosine: chunk.cosine, codePoints: chunk.length },
    }
  })
  const weightOf = (id: number): number => (wordOf.get(id)?.weight ?? chunks.get(id)?.weight) as number
  return byKey(
    fuse('scores', candidates, RRF_K).order.map(({ id, fused }) => ({ id, key: fused * weightFactor(weightOf(id)) })),
  )
}
