import type { Analyzer } from '../search/analysis'
import { namesHeldBy } from '../search/names'
import type { Unit } from '../search/query'
import type { ScoredTerm, TermStatistics } from '../search/score'
import { ALIAS_SCORE, doubtLevel, type Levels, type MatchedFraction, matchedFraction, meaningOf } from './similarity'

/** Whether anything that is stored answers a question, told by absolute numbers: places in an order say nothing of it. */
export type Doubt = 'none' | 'doubtful' | 'nothing'

/** The first words of a doubtful answer, in packs and searches. */
export const NOTHING_FITS = 'Nothing clearly fits; the nearest are'

/** Words of a question in a scope. */
export interface FoundWords {
  readonly entries: number
  /** How many entries hold each word. */
  readonly holding: readonly number[]
  /** Places of words that entries hold by parts alone: they count half. */
  readonly partly?: readonly number[]
}

interface Signal {
  /** Of the most similar chunk; null when meaning was not searched. */
  readonly cosine: number | null
  readonly levels: Levels | null
  /** Null when words were not searched. */
  readonly words: FoundWords | null
}

/** Weight of the share of words that are found; the similarity has 1. */
const WORDS = 0.5
/** Without a model a question is doubtful where less of its words is found, by their rarity. */
const WORDS_ALONE = 0.5
/** Without any word that is found, a similarity below this share of that of usual answers finds nothing. */
const FLOOR = 0.5

function shareFound({ entries, holding, partly = [] }: FoundWords, found: readonly number[]): number {
  const share = matchedFraction(entries, holding)
  if (partly.length === 0) return share(found)
  return (share(found) + share(found.filter((place) => !partly.includes(place)))) / 2
}

/** The doubt about the best that was found, and a confidence from 0 to 1. */
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

/** A query by words, and what they weigh. */
interface Asked {
  readonly text: string
  readonly terms: readonly ScoredTerm[]
  readonly units: readonly Unit[]
  readonly statistics: TermStatistics
}

/** Which memories a query calls by an alias, and what share of it that leaves each. */
export interface Calls {
  readonly isCalled: (aliases: readonly string[]) => boolean
  /** @param held units that the memory with these aliases holds, by their places */
  readonly shareOf: (aliases: readonly string[], held: readonly number[]) => number
}

/**
 * Memories that a query calls by an alias hold as much of it as an answer does. A word that is somebody's name tells only of who is
 * called so: of the others the rest of the words counts.
 *
 * @param found the aliases of all that words found
 */
export function callsIn(
  { text, terms, units, statistics }: Asked,
  found: readonly (readonly string[])[],
  { share, analyzer }: { readonly share: MatchedFraction; readonly analyzer: Analyzer },
): Calls {
  if (found.every(({ length }) => length === 0)) return { isCalled: () => false, shareOf: (_, held) => share(held) }
  const words = new Map(analyzer.tokenize(text).map(({ term, word }) => [term, word]))
  const namesIn = namesHeldBy(
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
