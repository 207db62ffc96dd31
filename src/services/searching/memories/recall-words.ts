import type { Layer } from '../../../domain/entry/entry'
import type { Scope } from '../../../domain/identity/scope'
import { aliasMatchesIn } from '../../../domain/recall/answer-confidence'
import type { MemoryInContext } from '../../../domain/recall/rank-current'
import { type MatchedFraction, matchedFraction, weightFactor, wordSimilarity } from '../../../domain/recall/similarity'
import type { WorkContext } from '../../../domain/recall/work-context'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { SELECTION_WARNINGS } from '../../../domain/search/candidate-selection'
import type { Filter } from '../../../domain/search/filter'
import { hitCounter, matchedUnits } from '../../../domain/search/hit-counts'
import { parseQuery, type Unit } from '../../../domain/search/query'
import { hasTier, PART_TIMES, type ScoredTerm, scoredTerms, type TermStatistics } from '../../../domain/search/score'
import type { Millis } from '../../../domain/time'
import { SCORED_LENGTH, type TextColumn, type TextHit } from '../../../ports/full-text'
import { createRankWords, type WordDependencies } from '../ranked/search-text'

/** A memory found by words. */
export interface WordHit {
  readonly id: number
  /** Fraction of the query that it contains, weighted by rarity, 0 to 1 (fabric contract §4, K). */
  readonly share: number
  /** Whether the query contains one of its aliases. */
  readonly called: boolean
  /** Similarity by words only, 0 to 1. */
  readonly similarity: number
  /** Full-text score, which a fusion uses (threads contract §6.4). */
  readonly score: number
  /** Number of words of its title if the query is that title, otherwise 0. */
  readonly titled: number
  /** 1 to 5. */
  readonly weight: number
  readonly layer: Layer
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
}

export interface WordRecall {
  /**
   * Best first. Of a query with two or three units, memories with all of them come first; then by score and weight, then newest
   * first.
   */
  readonly hits: readonly WordHit[]
  /** Whether more were found than returned. */
  readonly cut: boolean
  /** Units of the query, rarest first. */
  readonly units: readonly Unit[]
  /**
   * Returns the fraction of the query that each memory contains, 0 to 1; memories without any may be absent. Takes at most one
   * round trip.
   */
  readonly sharesOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, number>>
  readonly warnings: readonly string[]
}

interface WordRequest {
  readonly query: string
  /** Types, layers, tags and project, applied before ranking. */
  readonly filter: Filter
}

interface KeptWords extends WordRequest {
  /** Maximum memories that are returned. */
  readonly kept: number
}

interface QuickLookup extends WordRequest {
  readonly moment: WorkContext
}

/** A memory found by the quick search. */
interface QuickHit extends Pick<WordHit, 'share'> {
  readonly atMoment: MemoryInContext
}

/** Limits of the quick search for a situation: equal work in small and large stores (fabric contract §5). */
const QUICK = {
  /**
   * Words that select memories: the first of the text, and the longest, because long words are rare.
   *
   * Each costs as much as a separate search.
   */
  words: { first: 6, longest: 4 },
  /** Memories that are checked. A word in more memories selects none. */
  candidates: 64,
} as const

/** Columns without type and tags, which are filters. */
const COLUMNS: readonly TextColumn[] = ['title', 'body', 'code']
/** Returns the depth of a search as the threads tools use it; one more shows whether there are more. */
const depthOf = (kept: number) => ({ candidates: kept + 1, complete: kept / 2 })

const NOTHING_HELD: ReadonlyMap<number, number> = new Map()

/** Returns a function that finds the units of a query in the previews of memories, with their positions. */
export const createHolding = (analyzer: Analyzer) => (terms: readonly ScoredTerm[], units: readonly Unit[]) => {
  const count = hitCounter(analyzer, terms)
  const held = matchedUnits(analyzer, terms, units)
  return async (read: Pick<TextHit, 'id' | 'title' | 'text' | 'code'>): Promise<number[]> => {
    const { candidate, work } = count({ ...read, ...UNCOUNTED })
    await scheduler.tick(work)
    return held(read, candidate.frequencies)
  }
}

export type RecallWords = ReturnType<typeof createRecallWords>

/** Fields of a hit that only the scorer reads. */
const UNCOUNTED = { context: '', length: 0, following: [], complete: false } as const

/** Reports whether the text is longer than the part that was read. */
const isLong = ({ text, code }: TextHit): boolean => text.length >= SCORED_LENGTH || code.length >= SCORED_LENGTH

export function createRecallWords({ fullText, analyzer }: WordDependencies) {
  const rankWords = createRankWords({ fullText, analyzer })

  const holding = createHolding(analyzer)

  /**
   * Finds memories similar to a text by its rarer words, with the fraction that each preview contains.
   *
   * Takes one round trip that reads a bounded number of rows.
   */
  async function lookUp(scope: Scope, { query: text, filter, moment }: QuickLookup): Promise<QuickHit[]> {
    const query = parseQuery(text, 'match', analyzer)
    const { units } = query
    const terms = leading(scoredTerms(units))
    if (terms.length === 0) return []
    const found = await fullText.searchByRareWords(scope, {
      ...{ query, terms, filter, columns: COLUMNS, moment, rare: QUICK.candidates, candidates: QUICK.candidates },
    })
    // Words that were not searched count as neither rare nor common.
    const others = Math.sqrt(QUICK.candidates * found.statistics.entries)
    const share = queryFractions(units, terms, found.statistics, others)
    const heldIn = holding(terms, units)
    const hits: QuickHit[] = []
    for (const hit of found.hits)
      hits.push({ share: share(await heldIn(hit)), atMoment: hit.atMoment as MemoryInContext })
    return hits
  }

  /** Finds memories by the words of a query in title, content, code block and file path. Usually takes one round trip. */
  async function words(scope: Scope, { query: text, filter, kept }: KeptWords): Promise<WordRecall> {
    const query = parseQuery(text, 'match', analyzer)
    const { units, warnings } = query
    const none = { hits: [], cut: false, units, sharesOf: async () => NOTHING_HELD, warnings }
    if (query.expression === null) return none
    const terms = scoredTerms(units)
    const found = await rankWords(scope, {
      ...{ query, terms, mode: 'match', filter, columns: COLUMNS, depth: depthOf(kept) },
    })
    const { hits, frequencies, statistics, chosenBy } = found
    if (hits.size === 0) return none
    const isCut = [...hits.values()].filter(({ isByParts }) => !isByParts).length > kept
    const share = queryFractions(units, terms, statistics)
    const ranked = found.ranked.slice(0, kept)
    const all = units.map((_, place) => place)
    const heldBy = matchedUnits(analyzer, terms, units)
    const heldOf = new Map<number, readonly number[]>()
    for (const { id } of ranked) {
      const hit = hits.get(id) as TextHit
      heldOf.set(id, hit.complete ? all : heldBy(hit, frequencies.get(id) ?? []))
      await scheduler.tick(hit.text.length + hit.code.length)
    }
    const { isCalled, shareOf: shareBy } = aliasMatchesIn(
      { text, terms, units, statistics },
      ranked.map(({ id }) => hits.get(id)?.aliases ?? []),
      { share, analyzer },
    )

    /** The engine also knows the words after the preview of a text. */
    const sharesOf = async (ids: readonly number[]): Promise<ReadonlyMap<number, number>> => {
      const shares = new Map<number, number>()
      if (ids.length === 0) return shares
      const heldIn = holding(terms, units)
      for (const standing of await fullText.entryTexts(scope, { units, columns: COLUMNS }, ids))
        shares.set(standing.id, shareBy(standing.aliases, [...(await heldIn(standing)), ...standing.held]))
      return shares
    }
    const isPartlyRead = (id: number): boolean => {
      const hit = hits.get(id) as TextHit
      return (heldOf.get(id) as readonly number[]).length < units.length && isLong(hit) && !hit.isByParts
    }
    const beyond = await sharesOf(ranked.map(({ id }) => id).filter(isPartlyRead))
    const isTiered = hasTier('match', units.length)
    const keyed = ranked.map(({ id, score, titled }) => {
      const hit = hits.get(id) as TextHit
      const own =
        (beyond.get(id) ?? shareBy(hit.aliases, heldOf.get(id) as readonly number[])) * (hit.isByParts ? PART_TIMES : 1)
      const { weight, layer, createdAt } = hit
      const called = isCalled(hit.aliases)
      return {
        hit: { id, share: own, called, similarity: wordSimilarity(own), score, titled, weight, layer, createdAt },
        tier: hit.isByParts ? -1 : isTiered && hit.complete ? 1 : 0,
        key: score * weightFactor(weight),
      }
    })
    keyed.sort((a, b) => b.hit.titled - a.hit.titled || b.tier - a.tier || b.key - a.key || b.hit.id - a.hit.id)
    const rarity = new Map(units.map((unit, place) => [unit, share([place])]))
    return {
      hits: keyed.map(({ hit }) => hit),
      cut: isCut,
      units: units.toSorted((a, b) => (rarity.get(b) as number) - (rarity.get(a) as number)),
      sharesOf: async (ids) => (isCut ? sharesOf(ids) : NOTHING_HELD),
      warnings: [...warnings, ...SELECTION_WARNINGS[chosenBy]],
    }
  }

  return Object.assign(words, { lookUp })
}

/**
 * Returns the number of memories that contain a unit; of several words, the rarest counts. Null if none of its words was counted.
 */
function holdingOf(
  { terms }: Unit,
  counted: readonly ScoredTerm[],
  { entriesWithTerm }: TermStatistics,
): number | null {
  const counts = counted.flatMap(({ term }, place) => (terms.includes(term) ? [entriesWithTerm[place] as number] : []))
  return counts.length === 0 ? null : Math.min(...counts)
}

/**
 * Returns the fraction of the query in each memory.
 *
 * @param uncounted number of memories that contain a unit whose words were not counted
 */
export const queryFractions = (
  units: readonly Unit[],
  terms: readonly ScoredTerm[],
  statistics: TermStatistics,
  uncounted = 0,
): MatchedFraction =>
  matchedFraction(
    statistics.entries,
    units.map((unit) => holdingOf(unit, terms, statistics) ?? uncounted),
  )

/** Returns the terms that may select memories. */
function leading(terms: readonly ScoredTerm[]): ScoredTerm[] {
  const { first, longest } = QUICK.words
  const others = terms.slice(first).sort((a, b) => b.term.length - a.term.length)
  return [...terms.slice(0, first), ...others.slice(0, longest)]
}
