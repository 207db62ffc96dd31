import type { Layer } from '../../../domain/entry/entry'
import type { Scope } from '../../../domain/identity/scope'
import type { MemoryInContext } from '../../../domain/recall/current'
import { callsIn } from '../../../domain/recall/doubt'
import type { WorkContext } from '../../../domain/recall/moment'
import { type MatchedFraction, matchedFraction, weightFactor, wordSimilarity } from '../../../domain/recall/similarity'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { CHOICE_WARNINGS } from '../../../domain/search/chosen-by'
import type { Filter } from '../../../domain/search/filter'
import { hitCounter, unitsHeld } from '../../../domain/search/hit-counts'
import { parseQuery, type Unit } from '../../../domain/search/query'
import { hasTier, PART_TIMES, type ScoredTerm, scoredTerms, type TermStatistics } from '../../../domain/search/score'
import type { Millis } from '../../../domain/time'
import { SCORED_LENGTH, type TextColumn, type TextHit } from '../../../ports/full-text'
import { createRankWords, type WordDependencies } from '../ranked/search-text'

/** A memory that words found. */
export interface WordHit {
  readonly id: number
  /** How much of the query it holds, by rarity, 0 to 1 (fabric contract §4, K). */
  readonly share: number
  /** The query holds an alias of it whole. */
  readonly called: boolean
  /** Of the words alone, 0 to 1. */
  readonly similarity: number
  /** As full text scores it, by which a fusion goes (threads contract §6.4). */
  readonly score: number
  /** Words of its title where the query is that title, else 0. */
  readonly titled: number
  /** 1 to 5. */
  readonly weight: number
  readonly layer: Layer
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
}

export interface WordRecall {
  /** Best first: of a query of two or three units those that hold all, then by score and weight, then the newer id. */
  readonly hits: readonly WordHit[]
  /** There may be more than were kept. */
  readonly cut: boolean
  /** Of the query, the rarest first. */
  readonly units: readonly Unit[]
  /** How much of the query any memories hold, 0 to 1; those that hold nothing may be left out. At most one round trip. */
  readonly sharesOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, number>>
  readonly warnings: readonly string[]
}

interface WordRequest {
  readonly query: string
  /** Types, layers, tags and project, applied before anything is ranked. */
  readonly filter: Filter
}

interface KeptWords extends WordRequest {
  /** How many of what is found are kept. */
  readonly kept: number
}

interface QuickLookup extends WordRequest {
  readonly moment: WorkContext
}

/** A memory that words found, as it is to the moment. */
interface QuickHit extends Pick<WordHit, 'share'> {
  readonly atMoment: MemoryInContext
}

/** What is looked for where a text stands for a moment: no more work in a large store than in a small one (fabric contract §5). */
const QUICK = {
  /**
   * Words that may lead to memories: the first of the text, and the longest, since long words are rare. Each costs as much as a search of
   * its own: on PostgreSQL, whose index tells of a common word only by walking all of its entries, a millisecond among 10,000.
   */
  words: { first: 6, longest: 4 },
  /** Memories that are looked at; a word of more leads to none, since it would not tell which. */
  candidates: 64,
} as const

/** Not over type or tags, which are filters. */
const COLUMNS: readonly TextColumn[] = ['title', 'body', 'code']
/** As the threads tools have it, so that the order is theirs; the one more tells whether there are more. */
const depthOf = (kept: number) => ({ candidates: kept + 1, complete: kept / 2 })

const NOTHING_HELD: ReadonlyMap<number, number> = new Map()

/** Returns the units of a query that the beginnings of memories hold, by their places. */
export const createHolding = (analyzer: Analyzer) => (terms: readonly ScoredTerm[], units: readonly Unit[]) => {
  const count = hitCounter(analyzer, terms)
  const held = unitsHeld(analyzer, terms, units)
  return async (read: Pick<TextHit, 'id' | 'title' | 'text' | 'code'>): Promise<number[]> => {
    const { candidate, work } = count({ ...read, ...UNCOUNTED })
    await scheduler.tick(work)
    return held(read, candidate.frequencies)
  }
}

export type RecallWords = ReturnType<typeof createRecallWords>

/** Fields of a hit that only the scorer reads. */
const UNCOUNTED = { context: '', length: 0, following: [], complete: false } as const

/** Whether more of it was written than was read. */
const isLong = ({ text, code }: TextHit): boolean => text.length >= SCORED_LENGTH || code.length >= SCORED_LENGTH

export function createRecallWords({ fullText, analyzer }: WordDependencies) {
  const rankWords = createRankWords({ fullText, analyzer })

  const holding = createHolding(analyzer)

  /**
   * Memories near to a text by its rarer words, with the share that the beginning of each holds. One round trip, that reads as much from a
   * large store as from a small one.
   */
  async function lookUp(scope: Scope, { query: text, filter, moment }: QuickLookup): Promise<QuickHit[]> {
    const query = parseQuery(text, 'match', analyzer)
    const { units } = query
    const terms = leading(scoredTerms(units))
    if (terms.length === 0) return []
    const found = await fullText.searchByRareWords(scope, {
      ...{ query, terms, filter, columns: COLUMNS, moment, rare: QUICK.candidates, candidates: QUICK.candidates },
    })
    // Words that were not looked for are taken for neither rare nor common.
    const others = Math.sqrt(QUICK.candidates * found.statistics.entries)
    const share = sharesBy(units, terms, found.statistics, others)
    const heldIn = holding(terms, units)
    const hits: QuickHit[] = []
    for (const hit of found.hits)
      hits.push({ share: share(await heldIn(hit)), atMoment: hit.atMoment as MemoryInContext })
    return hits
  }

  /** Memories by the words of a query, over title, content, code block and file path. One round trip as a rule. */
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
    const share = sharesBy(units, terms, statistics)
    const ranked = found.ranked.slice(0, kept)
    const all = units.map((_, place) => place)
    const heldBy = unitsHeld(analyzer, terms, units)
    const heldOf = new Map<number, readonly number[]>()
    for (const { id } of ranked) {
      const hit = hits.get(id) as TextHit
      heldOf.set(id, hit.complete ? all : heldBy(hit, frequencies.get(id) ?? []))
      await scheduler.tick(hit.text.length + hit.code.length)
    }
    const { isCalled, shareOf: shareBy } = callsIn(
      { text, terms, units, statistics },
      ranked.map(({ id }) => hits.get(id)?.aliases ?? []),
      { share, analyzer },
    )

    /** The engine knows what stands behind the beginning of a text. */
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
      warnings: [...warnings, ...CHOICE_WARNINGS[chosenBy]],
    }
  }

  return Object.assign(words, { lookUp })
}

/** In how many memories a unit stands; of several words, its rarest. Null where none of its words was counted. */
function holdingOf(
  { terms }: Unit,
  counted: readonly ScoredTerm[],
  { entriesWithTerm }: TermStatistics,
): number | null {
  const counts = counted.flatMap(({ term }, place) => (terms.includes(term) ? [entriesWithTerm[place] as number] : []))
  return counts.length === 0 ? null : Math.min(...counts)
}

/** @param uncounted how many memories hold a unit whose words were not counted */
export const sharesBy = (
  units: readonly Unit[],
  terms: readonly ScoredTerm[],
  statistics: TermStatistics,
  uncounted = 0,
): MatchedFraction =>
  matchedFraction(
    statistics.entries,
    units.map((unit) => holdingOf(unit, terms, statistics) ?? uncounted),
  )

/** Those of the terms that may lead to memories. */
function leading(terms: readonly ScoredTerm[]): ScoredTerm[] {
  const { first, longest } = QUICK.words
  const others = terms.slice(first).sort((a, b) => b.term.length - a.term.length)
  return [...terms.slice(0, first), ...others.slice(0, longest)]
}
