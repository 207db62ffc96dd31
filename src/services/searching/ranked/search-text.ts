import type { Scope } from '../../../domain/identity/scope'
import type { WordMatches } from '../../../domain/recall/answer-confidence'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { type CandidateSelection, SELECTION_WARNINGS } from '../../../domain/search/candidate-selection'
import { includesCaptured, isCapturedOnly } from '../../../domain/search/captured'
import type { Filter } from '../../../domain/search/filter'
import { hitCounter } from '../../../domain/search/hit-counts'
import type { Unit } from '../../../domain/search/query'
import { parseQuery, type SearchMode, type TextQuery } from '../../../domain/search/query'
import {
  type Candidate,
  type Ranked,
  rank,
  rarityOf,
  type ScoredTerm,
  scoredTerms,
  type TermStatistics,
} from '../../../domain/search/score'
import type { FullText, TextColumn, TextHit, TextRequest } from '../../../ports/full-text'
import { findingCompounds } from './suggest-words'

/** The match of an entry. */
export interface FoundBy {
  readonly units: readonly Unit[]
  /** Rarity of each term of the query; positions with rare terms together are shown. */
  readonly rarity: ReadonlyMap<string, number>
}

export interface TextRanking extends FoundBy {
  /** Best first. */
  readonly ordering: readonly Ranked[]
  /** Captured entries, which follow all others; there are some only if the filter requests them. */
  readonly captured: ReadonlySet<number>
  /** Found words, to detect doubtful results; null if a filter makes that unknown. */
  readonly found: WordMatches | null
  /** Scored words that no entry in scope contains; empty if a filter makes that unknown. */
  readonly unknown: ReadonlySet<string>
  readonly warnings: readonly string[]
}

/** Columns that threads search: title, text, day and agent (threads contract §6.1). */
const COLUMNS: readonly TextColumn[] = ['title', 'body', 'context']
const NO_WORDS: WordMatches = { entries: 0, holding: [] }
/** Candidates that the engine returns and the scorer reads completely. */
const DEPTH = { candidates: 200, complete: 100 } as const

const PLACES: ReadonlySet<Filter['op']> = new Set(['thread', 'projectScope', 'project', 'layer'])

/** Reports whether a filter only selects a place. Then no hit means that no entry there contains a word. */
const isOfPlace = (filter: Filter): boolean =>
  filter.op === 'and' ? filter.of.every(isOfPlace) : PLACES.has(filter.op)

/** Dependencies of search by words. */
export interface WordDependencies {
  readonly fullText: FullText
  readonly analyzer: Analyzer
}

interface WordRequest extends Pick<TextRequest, 'filter' | 'columns' | 'depth' | 'captured' | 'texts'> {
  readonly query: TextQuery
  readonly terms: readonly ScoredTerm[]
  readonly mode: SearchMode
}

/** Entries that contain words of a query, with their scores. */
interface RankedWords {
  /** Best first. */
  readonly ranked: readonly Ranked[]
  readonly hits: ReadonlyMap<number, TextHit>
  /** Frequency of each term in each entry. */
  readonly frequencies: ReadonlyMap<number, readonly number[]>
  readonly statistics: TermStatistics
  readonly chosenBy: CandidateSelection
}

/** Ranks the candidates of the engine with one scorer, for searches and recalls. Usually takes one round trip. */
export function createRankWords({ fullText, analyzer }: WordDependencies) {
  const searching = findingCompounds(fullText, { analyzer })
  return async (scope: Scope, { mode, ...request }: WordRequest): Promise<RankedWords> => {
    const { hits, statistics, chosenBy } = await searching.search(scope, request)
    const count = hitCounter(analyzer, request.terms)
    const candidates: Candidate[] = []
    for (const hit of hits) {
      const { candidate, work } = count(hit)
      candidates.push(candidate)
      await scheduler.tick(work)
    }
    return {
      ranked: rank(candidates, statistics, { mode, units: request.query.units.length }),
      hits: new Map(hits.map((hit) => [hit.id, hit])),
      frequencies: new Map(candidates.map(({ id, frequencies }) => [id, frequencies])),
      ...{ statistics, chosenBy },
    }
  }
}

export type SearchText = ReturnType<typeof createSearchText>

export function createSearchText({ analyzer, ...dependencies }: WordDependencies) {
  const rankWords = createRankWords({ analyzer, ...dependencies })
  /** Finds entries by words. Usually takes one round trip. @throws Problem invalid_input for a malformed boolean query */
  return async (scope: Scope, text: string, mode: SearchMode, filter: Filter): Promise<TextRanking> => {
    const query = parseQuery(text, mode, analyzer)
    const { units, warnings } = query
    if (query.expression === null)
      return {
        ...{ ordering: [], captured: new Set(), units, rarity: new Map() },
        ...{ found: NO_WORDS, unknown: new Set(), warnings },
      }
    const terms = scoredTerms(units)
    const choices = new Set<CandidateSelection>()
    const isAlone = isCapturedOnly(filter)
    let foundWords: WordMatches | null = isAlone ? null : NO_WORDS
    const rarity = new Map<string, number>()
    const rankedOf = async (captured: boolean): Promise<readonly Ranked[]> => {
      const request = { query, terms, mode, filter, columns: COLUMNS, depth: DEPTH, captured, texts: false }
      const { ranked, statistics, chosenBy } = await rankWords(scope, request)
      choices.add(chosenBy)
      for (const [i, { term }] of terms.entries())
        rarity.set(term, rarityOf(statistics.entriesWithTerm[i] ?? 0, statistics.entries))
      if (!captured)
        foundWords =
          ranked.length > 0
            ? { entries: statistics.entries, holding: statistics.entriesWithTerm, partly: statistics.partly ?? [] }
            : isOfPlace(filter)
              ? { entries: 0, holding: terms.map(() => 0) }
              : null
      return ranked
    }
    const [listed, captured] = await Promise.all([
      isAlone ? [] : rankedOf(false),
      includesCaptured(filter) ? rankedOf(true) : [],
    ])
    return {
      ordering: [...listed, ...captured],
      captured: new Set(captured.map(({ id }) => id)),
      units,
      rarity,
      found: foundWords,
      unknown: new Set(terms.flatMap(({ term }, place) => (foundWords?.holding[place] === 0 ? [term] : []))),
      warnings: [...warnings, ...[...choices].flatMap((choice) => SELECTION_WARNINGS[choice])],
    }
  }
}
