import { aliasMatcher } from '../search/alias-match'
import type { Analyzer } from '../search/analysis'
import type { Unit } from '../search/query'
import type { ScoredTerm, TermStatistics } from '../search/score'
import { ALIAS_SCORE, doubtLevel, type Levels, type MatchedFraction, matchedFraction, meaningOf } from './similarity'

/**
 * Confidence that the stored memories answer a question, from absolute scores. A rank alone cannot show that nothing
 * answers it.
 */
export type Doubt = 'none' | 'doubtful' | 'nothing'

/** Start of a low-confidence answer, in packs and searches. */
export const NOTHING_FITS = 'Nothing clearly fits; the nearest are'

/** How often the words of a question occur in a scope. */
export interface WordMatches {
  readonly entries: number
  /** For each word, the number of entries that contain it. */
  readonly holding: readonly number[]
  /** Indexes of words that entries contain only as parts of compounds; these count half. */
  readonly partly?: readonly number[]
}

interface Signal {
  /** Of the most similar chunk; null without a semantic search. */
  readonly cosine: number | null
  readonly levels: Levels | null
  /** Null without a full-text search. */
  readonly words: WordMatches | null
}

/** Weight of the fraction of matched words; the similarity has weight 1. */
const WORDS = 0.5
/** Without a model, an answer is doubtful below this fraction of matched words, weighted by rarity. */
const WORDS_ALONE = 0.5
/** Without a matched word, the answer is "nothing" below this fraction of the usual similarity of answers. */
const FLOOR = 0.5

function shareFound({ entries, holding, partly = [] }: WordMatches, found: readonly number[]): number {
  const share = matchedFraction(entries, holding)
  if (partly.length === 0) return share(found)
  return (share(found) + share(found.filter((place) => !partly.includes(place)))) / 2
}

/** Rates the best result: the doubt, and a confidence from 0 to 1. */
export function doubtOf({ cosine, levels, words }: Signal): { readonly doubt: Doubt; readonly confidence: number } {
  const found = words === null ? [] : words.holding.flatMap((n, place) => (n > 0 ? [place] : []))
  const share = words === null ? null : shareFound(words, found)
  if (cosine === null || levels === null) {
    if (share === null) return { doubt: 'none', confidence: 1 }
    return { doubt: share === 0 ? 'nothing' : share < WORDS_ALONE ? 'doubtful' : 'none', confidence: share }
  }
  if (share === 0 && meaningOf(cosine, levels) < FLOOR) return { doubt: 'nothing', confidence: 0 }
  const signal = cosine + WORDS * (share ?? 1)
  const confidence = Math.max(0, Math.min(1, signal / (levels.answer + WORDS)))
  return { doubt: signal < doubtLevel(levels) ? 'doubtful' : 'none', confidence }
}

/** A full-text query and the statistics of its terms. */
interface Asked {
  readonly text: string
  readonly terms: readonly ScoredTerm[]
  readonly units: readonly Unit[]
  readonly statistics: TermStatistics
}

/** Which memories a query names by an alias, and the matched fraction of each memory. */
export interface AliasMatches {
  readonly isCalled: (aliases: readonly string[]) => boolean
  /** @param held indexes of the units that the memory with these aliases contains */
  readonly shareOf: (aliases: readonly string[], held: readonly number[]) => number
}

/**
 * Finds the memories that a query names by an alias. Such a memory counts as an answer. For all other memories the
 * words of the alias do not count, because a name only identifies the memory with that alias.
 * @param found the aliases of all full-text results
 */
export function aliasMatchesIn(
  { text, terms, units, statistics }: Asked,
  found: readonly (readonly string[])[],
  { share, analyzer }: { readonly share: MatchedFraction; readonly analyzer: Analyzer },
): AliasMatches {
  if (found.every(({ length }) => length === 0)) return { isCalled: () => false, shareOf: (_, held) => share(held) }
  const words = new Map(analyzer.tokenize(text).map(({ term, word }) => [term, word]))
  const namesIn = aliasMatcher(
    {
      terms: terms.map(({ term }) => term),
      spelled: terms.map(({ term }) => words.get(term) ?? term),
      ...{ holding: statistics.entriesWithTerm, entries: statistics.entries, isEmpty: () => false },
    },
    analyzer,
  )
  const said = new Set(found.flatMap((aliases) => namesIn(aliases).flatMap(({ said: places }) => places)))
  const names = new Set([...said].map((place) => terms[place]?.term))
  const isName = new Set(units.flatMap((unit, place) => (unit.terms.every((term) => names.has(term)) ? [place] : [])))
  const isCalled = (aliases: readonly string[]): boolean => namesIn(aliases).length > 0
  return {
    isCalled,
    shareOf: (aliases, held) =>
      isCalled(aliases) ? Math.max(ALIAS_SCORE, share(held)) : share(held.filter((place) => !isName.has(place))),
  }
}
