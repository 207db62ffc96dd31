import { sourceNote } from '../entry/citation'
import { aliasesOf } from '../entry/title'
import { cosineOf, dot, type QuantizedVector } from '../meaning/vector'
import { type Doubt, doubtOf } from '../recall/answer-confidence'
import { type Levels, weightFactor } from '../recall/similarity'
import { scheduler } from '../scheduler'
import { aliasMatcher } from '../search/alias-match'
import type { Analyzer } from '../search/analysis'
import { fuse } from '../search/fusion'
import { type HitParts, hitCounter } from '../search/hit-counts'
import { rank, rarityOf, type ScoredTerm, type TermStatistics } from '../search/score'
import type { ClosestVector, PackEntry, PackVector } from './candidate'
import { isInFlight, type PackSectionName, sectionOf } from './sections'

/** The reasons why an entry is in a pack (packs contract). */
export interface RankingFeatures {
  /** Matched words of the goal, in its spelling, rarest first. */
  readonly matched: readonly string[]
  /** Whether some of its words are after the part of the text that was read. */
  readonly beyond: boolean
  /** Cosine of its most similar chunk; null without a vector. */
  readonly cosine: number | null
  /** Its aliases in the goal. */
  readonly called: readonly string[]
  /** Whether the goal equals its title. */
  readonly titled: boolean
  readonly inProgress: boolean
  readonly diary: boolean
  /** Whether it is one of the newest rules, decisions and gotchas, which a short pack shows regardless of the goal. */
  readonly newest: boolean
  /** The matched entry that led to this one. */
  readonly via: { readonly id: number; readonly relation: 'supersedes' | 'contradicts' } | null
  /** ID of a later entry that says it replaces this one; null without one. */
  readonly replacedBy: number | null
}

/** An entry with the reasons for it. */
export interface RankedEntry {
  readonly entry: PackEntry
  readonly facet: PackSectionName
  readonly evidence: RankingFeatures
  /** 0 to 1: the confidence of the best item, multiplied with the relative score of this one. */
  readonly score: number
}

const sectionOfEntry = ({ kind, status }: PackEntry): PackSectionName => sectionOf(kind, status)
const isInProgress = ({ kind, status }: PackEntry): boolean => isInFlight(kind, status)

/** Maximum number of words in a reason. */
const REASON_WORDS = 5

/** The reasons as text. */
export function reasonOf({ evidence, entry }: RankedEntry): string {
  const { matched, called, titled, cosine, inProgress, diary, newest, via, replacedBy } = evidence
  const changed = sourceNote(entry.metadata)
  const match = [
    ...(titled ? ['its title'] : []),
    ...(called.length > 0 ? [`called ${called.slice(0, REASON_WORDS).join(', ')}`] : []),
    ...(matched.length > 0 ? [`words: ${matched.slice(0, REASON_WORDS).join(', ')}`] : []),
    ...(cosine !== null && cosine > 0 ? [`similarity ${cosine.toFixed(2)}`] : []),
    ...(via === null ? [] : [`${via.relation} [${via.id}]`]),
  ]
  const parts = [
    ...(replacedBy === null ? [] : [`replaced by [${replacedBy}]`]),
    ...(changed === null ? [] : [changed]),
    ...(inProgress ? [`in progress (${entry.status})${matched.length === 0 ? ', whatever the goal' : ''}`] : []),
    ...(diary ? ['diary'] : []),
    ...(newest && matched.length === 0 ? [`newest ${entry.kind}, whatever the goal`] : []),
    ...match,
    ...(entry.pinned ? ['pinned'] : []),
  ]
  return parts.length === 0 ? 'similar in meaning' : parts.join('; ')
}

/** Ranks the entries of a pack like hybrid search (threads contract §8). */

/** An entry found by full-text search. */
export interface Hit extends HitParts {
  /** Number of query units that it contains. */
  readonly held: number
}

/** The entries found for a goal. */
export interface FoundForGoal {
  readonly query: string
  readonly terms: readonly ScoredTerm[]
  readonly units: number
  /** Null without a full-text search. */
  readonly statistics: TermStatistics | null
  readonly hits: readonly Hit[]
  readonly vectors: readonly PackVector[]
  /** Null without a semantic search. */
  readonly vector: QuantizedVector | null
  readonly levels: Levels | null
  readonly newest: ReadonlySet<number>
  readonly diary: ReadonlySet<number>
}

export interface Candidate extends RankedEntry {
  /** The sort key: the fused score, multiplied by factors for weight and domain. */
  readonly key: number
  readonly nearest: ClosestVector | null
}

export interface RankedGoal {
  /** In no particular order. */
  readonly candidates: readonly Candidate[]
  readonly doubt: Doubt
  /** 0 to 1: how likely the best one answers the goal. */
  readonly confidence: number
  /** Rarity of each term of the goal. */
  readonly rarity: ReadonlyMap<string, number>
}

/** Rank smoothing; the order by scores does not use it. */
const RRF_K = 60
/** Factor for an entry of another domain than the requested one. */
const OTHER_DOMAIN = 0.85

const sameDomain = (a: string | null, b: string): boolean => a !== null && a.toLowerCase() === b.toLowerCase()

function nearestOf(vectors: readonly PackVector[], query: QuantizedVector): Map<number, ClosestVector> {
  const nearest = new Map<number, ClosestVector>()
  const ofQuery = dot(query.values, query.values)
  for (const one of vectors) {
    const squares = dot(one.vector.values, one.vector.values)
    const cosine = cosineOf(dot(query.values, one.vector.values), ofQuery, squares)
    const known = nearest.get(one.entryId)
    if (known === undefined || cosine > known.cosine || (cosine === known.cosine && one.start < known.start))
      nearest.set(one.entryId, { ...one, cosine, squares })
  }
  return nearest
}

/**
 * Adds words that are after the part of a text that was read: as many as the entry contains in total, most common
 * first.
 * @param held number of goal words that the entry contains
 * @param holding number of entries with each word
 */
function withUnread(frequencies: readonly number[], held: number, holding: readonly number[]): readonly number[] {
  const missing = held - frequencies.filter((n) => n > 0).length
  if (missing <= 0) return frequencies
  const unread = frequencies.flatMap((n, i) => (n === 0 && (holding[i] as number) > 0 ? [i] : []))
  const commonest = new Set(unread.sort((a, b) => (holding[b] as number) - (holding[a] as number)).slice(0, missing))
  return frequencies.map((n, i) => (commonest.has(i) ? 1 : n))
}

/** Ranks entries by the words and the meaning of a goal. */
export async function rankEntries(
  entries: readonly PackEntry[],
  found: FoundForGoal,
  { domain }: { readonly domain: string | null },
  { analyzer }: { readonly analyzer: Analyzer },
): Promise<RankedGoal> {
  const { terms, statistics } = found
  const nearest = found.vector === null ? new Map<number, ClosestVector>() : nearestOf(found.vectors, found.vector)
  const holding = terms.map((_, i) => statistics?.entriesWithTerm[i] ?? 0)
  const count = hitCounter(analyzer, terms)
  const counted = new Map<number, { readonly frequencies: readonly number[]; readonly beyond: boolean }>()
  const words = []
  for (const hit of found.hits) {
    const { candidate, work } = count(hit)
    const frequencies = withUnread(candidate.frequencies, hit.held, holding)
    counted.set(hit.id, { frequencies, beyond: frequencies.some((n, i) => n > (candidate.frequencies[i] as number)) })
    words.push({ ...candidate, frequencies, complete: hit.complete || hit.held === found.units })
    await scheduler.tick(work)
  }
  const ranked = statistics === null ? [] : rank(words, statistics, { mode: 'match', units: found.units })
  const wordOf = new Map(ranked.map((one, i) => [one.id, { ...one, rank: i + 1 }]))
  const near = [...nearest.values()].sort((a, b) => b.cosine - a.cosine || a.entryId - b.entryId)
  const semanticRank = new Map(near.map(({ entryId }, i) => [entryId, i + 1]))
  const fusion = fuse(
    'scores',
    entries.map(({ id }) => {
      const chunk = nearest.get(id)
      return {
        id,
        ftsRank: wordOf.get(id)?.rank ?? null,
        ftsScore: wordOf.get(id)?.score ?? null,
        titled: wordOf.get(id)?.titled ?? 0,
        semanticRank: semanticRank.get(id) ?? null,
        nearest: chunk === undefined ? null : { cosine: chunk.cosine, codePoints: chunk.length },
      }
    }),
    RRF_K,
  )
  const fused = new Map(fusion.order.map((one) => [one.id, one.fused]))
  const spelled = new Map([...analyzer.tokens(found.query)].map(({ term, word }) => [term, word]))
  const all = statistics?.entries ?? 0
  const rarities = holding.map((df) => rarityOf(df, all))
  const rarest = rarities.map((_, i) => i).sort((a, b) => (rarities[b] as number) - (rarities[a] as number))
  const wordAt = (place: number): string => {
    const { term } = terms[place] as ScoredTerm
    return spelled.get(term) ?? term
  }
  const namesIn = aliasMatcher(
    {
      terms: terms.map(({ term }) => term),
      spelled: terms.map((_, i) => wordAt(i)),
      holding,
      entries: all,
      isEmpty: () => false,
    },
    analyzer,
  )
  const candidates = entries.map((entry): Candidate => {
    const of = counted.get(entry.id)
    const chunk = nearest.get(entry.id) ?? null
    const isOther = domain !== null && !sameDomain(entry.domain, domain)
    return {
      entry,
      facet: sectionOfEntry(entry),
      key: (fused.get(entry.id) ?? 0) * weightFactor(entry.weight) * (isOther ? OTHER_DOMAIN : 1),
      nearest: chunk,
      score: 0,
      evidence: {
        matched: rarest.flatMap((place) => ((of?.frequencies[place] ?? 0) > 0 ? [wordAt(place)] : [])),
        beyond: of?.beyond ?? false,
        cosine: chunk?.cosine ?? null,
        called: namesIn(aliasesOf(entry.metadata)).map(({ name }) => name),
        titled: (wordOf.get(entry.id)?.titled ?? 0) > 0,
        inProgress: isInProgress(entry),
        diary: found.diary.has(entry.id),
        newest: found.newest.has(entry.id),
        via: null,
        replacedBy: null,
      },
    }
  })
  const isNamed = candidates.some(({ evidence }) => evidence.titled || evidence.called.length > 0)
  const signal = {
    cosine: near[0]?.cosine ?? null,
    levels: found.levels,
    words: statistics === null ? null : { entries: all, holding, partly: statistics.partly ?? [] },
  }
  const { doubt, confidence } = doubtOf(signal)
  return {
    candidates,
    doubt: isNamed ? 'none' : doubt,
    confidence: isNamed ? 1 : confidence,
    rarity: new Map(terms.map(({ term }, i) => [term, rarities[i] as number])),
  }
}
