import type { Scope } from '../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../domain/pace'
import type { Moment } from '../../domain/recall/current'
import { KEPT, keywordScore, leastHeld, weighed } from '../../domain/recall/similarity'
import type { Analyzer, Token } from '../../domain/search/analysis'
import type { Filter } from '../../domain/search/filter'
import { findUnit } from '../../domain/search/hits'
import { parseQuery, type Unit } from '../../domain/search/query'
import {
  type Candidate,
  countTerms,
  createTermCounter,
  rank,
  type ScoredTerm,
  scoredTerms,
} from '../../domain/search/score'
import type { AtMoment } from '../../ports/current'
import type { FullText, TextColumn, TextHit } from '../../ports/full-text'

/** A memory that words found. */
export interface WordHit {
  readonly id: number
  /** Absolute, 0 to 1. */
  readonly similarity: number
  /** As full text scores it, by which a fusion goes (threads contract §6.4). */
  readonly score: number
  /** 1 to 5. */
  readonly weight: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface WordRecall {
  /** By similarity and weight, then similarity, then the newer id. */
  readonly hits: readonly WordHit[]
  /** There may be more than were kept. */
  readonly cut: boolean
  readonly warnings: readonly string[]
}

export interface WordRequest {
  readonly query: string
  /** Types, layers, tags and project, applied before anything is ranked. */
  readonly filter: Filter
  /** Least similarity, 0 to 1. */
  readonly threshold: number
  /** Which candidates are kept where there are too many: those that hold the most of the query, or its rarest words. */
  readonly first?: 'most' | 'rarest'
}

export interface GlanceRequest extends Pick<WordRequest, 'query' | 'filter'> {
  readonly moment: Moment
}

/** A memory that words found, as it is to the moment. */
export interface GlanceHit extends Pick<WordHit, 'similarity'> {
  readonly atMoment: AtMoment
}

/** What is looked for where a text stands for a moment: no more work in a large store than in a small one (fabric contract §5). */
const GLANCE = {
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

export type RecallWords = ReturnType<typeof createRecallWords>

export function createRecallWords({
  fullText,
  analyzer,
  pace = WITHOUT_REST,
}: {
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly pace?: Pace
}) {
  const wordsIn = (text: string): number => {
    let words = 0
    analyzer.eachWord(text, ({ isStopWord }) => {
      if (!isStopWord) words++
    })
    return words
  }

  /**
   * Memories near to a text by its rarer words, with similarities as a recall has them, as far as the beginning of each memory tells.
   * One round trip, that reads as much from a large store as from a small one.
   */
  async function glance(scope: Scope, { query: text, filter, moment }: GlanceRequest): Promise<GlanceHit[]> {
    const query = parseQuery(text, 'match', analyzer)
    const { units } = query
    const terms = leading(scoredTerms(units))
    if (terms.length === 0) return []
    const found = await fullText.search(scope, {
      ...{ query, terms, filter, columns: COLUMNS, rare: GLANCE.candidates, moment, neighbours: false },
      depth: { candidates: GLANCE.candidates, complete: 0 },
    })
    const hits = new Map<number, { readonly hit: TextHit; readonly held: number }>()
    const candidates: Candidate[] = []
    for (const hit of found.hits) {
      const parts = [hit.title, hit.text, hit.code].map((part) => analyzer.tokenize(part))
      const held = countHeld(units, parts)
      hits.set(hit.id, { hit, held })
      const length = hit.length + wordsIn(hit.title) + wordsIn(hit.code)
      const frequencies = countTerms(terms, parts.flat())
      candidates.push({ id: hit.id, length, following: [], frequencies, complete: held === units.length })
      await pace.spend(hit.text.length + hit.code.length)
    }
    return rank(candidates, found.statistics, { mode: 'match', units: units.length }).map(({ id, score }) => {
      const { hit, held } = hits.get(id) as { readonly hit: TextHit; readonly held: number }
      return { similarity: keywordScore(held, units.length, score), atMoment: hit.atMoment as AtMoment }
    })
  }

  /** Memories by the words of a query, over title, content, code block and file path. One round trip. */
  async function words(scope: Scope, request: WordRequest): Promise<WordRecall> {
    const { query: text, filter, threshold, first = 'most' } = request
    const query = parseQuery(text, 'match', analyzer)
    const { units, warnings } = query
    if (units.length === 0) return { hits: [], cut: false, warnings }
    const terms = scoredTerms(units)
    const found = await fullText.search(scope, {
      ...{ query, terms, filter, columns: COLUMNS },
      units: { atLeast: leastHeld(units.length, threshold), first },
      // One more than is kept tells whether there are more.
      depth: { candidates: KEPT + 1, complete: 0 },
    })
    const hits = new Map<number, TextHit>()
    const count = createTermCounter(terms)
    const candidates: Candidate[] = []
    // The one more earns its neighbours nothing: these are the best 200 (threads contract §6.1).
    for (const hit of found.hits.filter(({ place }) => place <= KEPT)) {
      const { id, following, held, title, text: start, code } = hit
      let length = hit.length
      const frequencies = count((visit) => {
        analyzer.eachWord(start, visit)
        analyzer.eachWord(`${title}\n${code}`, (word) => {
          visit(word)
          if (!word.isStopWord) length++
        })
      })
      candidates.push({ id, length, following, frequencies, complete: held === units.length })
      hits.set(id, hit)
      await pace.spend(start.length + code.length)
    }
    const scored = rank(candidates, found.statistics, { mode: 'match', units: units.length })
    const passing = scored
      .map(({ id, score }): WordHit => {
        const { held, weight, createdAt } = hits.get(id) as TextHit
        return { id, similarity: keywordScore(held, units.length, score), score, weight, createdAt }
      })
      .filter(({ similarity }) => similarity >= threshold)
      .sort(byWeightedSimilarity)
    return { hits: passing.slice(0, KEPT), cut: found.hits.length > KEPT, warnings }
  }

  return Object.assign(words, { glance })
}

/** Those of the terms that may lead to memories. */
function leading(terms: readonly ScoredTerm[]): ScoredTerm[] {
  const { first, longest } = GLANCE.words
  const others = terms.slice(first).sort((a, b) => b.term.length - a.term.length)
  return [...terms.slice(0, first), ...others.slice(0, longest)]
}

/** How many of the units stand in one of the parts of a memory. */
function countHeld(units: readonly Unit[], parts: readonly (readonly Token[])[]): number {
  const terms = new Set(parts.flatMap((part) => part.map(({ term }) => term)))
  const stands = (unit: Unit): boolean => {
    const { terms: own, prefix } = unit
    if (own.length === 1 && !prefix) return terms.has(own[0] as string)
    return parts.some((part) => {
      let found = false
      findUnit(unit, part, () => {
        found = true
      })
      return found
    })
  }
  return units.filter(stands).length
}

/** Best first: by similarity as the weight has it, then by the similarity itself, then the newer. */
export const byWeightedSimilarity = (
  a: { readonly id: number; readonly similarity: number; readonly weight: number },
  b: { readonly id: number; readonly similarity: number; readonly weight: number },
): number =>
  weighed(b.similarity, b.weight) - weighed(a.similarity, a.weight) || b.similarity - a.similarity || b.id - a.id
