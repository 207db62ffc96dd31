import type { Analyzer } from '../../domain/analysis'
import type { Filter } from '../../domain/filter'
import { type Pace, WITHOUT_REST } from '../../domain/pace'
import { parseQuery } from '../../domain/query'
import { KEPT, keywordScore, leastHeld, weighed } from '../../domain/recall/similarity'
import type { Scope } from '../../domain/scope'
import { type Candidate, createTermCounter, rank, scoredTerms } from '../../domain/score'
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
    for (const { isStopWord } of analyzer.tokens(text)) if (!isStopWord) words++
    return words
  }

  /** Memories by the words of a query, over title, content, code block and file path. One round trip. */
  return async (scope: Scope, request: WordRequest): Promise<WordRecall> => {
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
    for (const hit of found.hits) {
      const { id, following, held, title, text: start, code } = hit
      const frequencies = count((visit) => analyzer.eachWord(`${title}\n${start}\n${code}`, visit))
      const length = hit.length + wordsIn(title) + wordsIn(code)
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
}

/** Best first: by similarity as the weight has it, then by the similarity itself, then the newer. */
export const byWeightedSimilarity = (
  a: { readonly id: number; readonly similarity: number; readonly weight: number },
  b: { readonly id: number; readonly similarity: number; readonly weight: number },
): number =>
  weighed(b.similarity, b.weight) - weighed(a.similarity, a.weight) || b.similarity - a.similarity || b.id - a.id
