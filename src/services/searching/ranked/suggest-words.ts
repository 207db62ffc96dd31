import { Problem } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import { typoDistance } from '../../../domain/search/alias-match'
import type { Analyzer } from '../../../domain/search/analysis'
import { compoundExpression, createPartCounter } from '../../../domain/search/compounds'
import type { Filter } from '../../../domain/search/filter'
import { parseQuery } from '../../../domain/search/query'
import type { FullText, TextHit, TextRequest, TextSearch, UnitsRequest } from '../../../ports/full-text'

/** Maximum words of a query that are corrected, and the length of such words. */
const [MOST_WORDS, SHORTEST, LONGEST] = [3, 4, 40]
/** Word length from which two letters may be wrong. */
const TWO_SLIPS = 7
/** Prefix lengths to try, longest first, and the newest entries with the prefix whose words are compared. */
const PREFIXES = [4, 3, 2]
const COMPARED = 20
const HAS_DIGIT = /\p{N}/u

/** Suggests words of visible entries for a misspelled query, in the order of the query. */
export type SuggestWords = (
  scope: Scope,
  query: string,
  filter: Filter,
  /** Terms of the query that no entry contains; without it, all words are checked. */
  unknown?: ReadonlySet<string>,
) => Promise<readonly string[]>

export const NO_SUGGESTIONS: SuggestWords = async () => []

/** Formats the question of a warning; null without suggestions. */
export const didYouMean = (words: readonly string[]): string | null =>
  words.length === 0 ? null : `did you mean ${words.join(', ')}?`

/** Creates suggestions for words that no entry contains. Takes one round trip. */
export function createSuggestWords({
  fullText,
  analyzer,
}: {
  readonly fullText: FullText
  readonly analyzer: Analyzer
}): SuggestWords {
  /** Returns words with a prefix in the newest entries that contain one, with their frequency. */
  async function wordsWith(scope: Scope, prefix: string, filter: Filter): Promise<ReadonlyMap<string, number>> {
    const { hits } = await fullText.search(scope, {
      ...{ query: parseQuery(prefix, 'prefix', analyzer), terms: [], filter, totals: false },
      ...{ columns: ['title', 'body', 'context'], depth: { candidates: COMPARED, complete: 0 } },
    })
    const counts = new Map<string, number>()
    for (const { title, text } of hits) {
      analyzer.eachWord(`${title}\n${text}`, ({ word }) => counts.set(word, (counts.get(word) ?? 0) + 1))
      await scheduler.tick(text.length)
    }
    return counts
  }

  /**
   * Returns the most similar word with the longest matching prefix; of equal ones the most frequent. Null if the word itself is
   * found.
   */
  async function similarTo(scope: Scope, word: string, filter: Filter): Promise<string | null> {
    const most = word.length >= TWO_SLIPS ? 2 : 1
    const found = await Promise.all(PREFIXES.map((length) => wordsWith(scope, word.slice(0, length), filter)))
    if (found.some((words) => words.has(word))) return null
    for (const words of found) {
      const similar = [...words].flatMap(([other, count]) => {
        const slips = typoDistance(other, word, most)
        return slips <= most ? [{ other, count, slips }] : []
      })
      const [best] = similar.sort((a, b) => a.slips - b.slips || b.count - a.count || (a.other < b.other ? -1 : 1))
      if (best !== undefined) return best.other
    }
    return null
  }

  return async (scope, query, filter, unknown) => {
    const words = new Set<string>()
    for (const { term, word, isStopWord, pair } of analyzer.tokenize(query)) {
      const isPlain = !isStopWord && !pair && !HAS_DIGIT.test(word)
      if (isPlain && word.length >= SHORTEST && word.length <= LONGEST && (unknown?.has(term) ?? true)) words.add(word)
    }
    const similar = await Promise.all([...words].slice(0, MOST_WORDS).map((word) => similarTo(scope, word, filter)))
    return [...new Set(similar.filter((word) => word !== null))]
  }
}

/** Newest entries with compounds that are read. */
const READ = 30

/**
 * Appends entries that contain a compound of a query word, or a part of a compound in the query (threads contract §6.5).
 *
 * Both searches start together and share a round trip.
 */
export function findingCompounds(
  fullText: FullText,
  { analyzer }: { readonly analyzer: Analyzer },
): Pick<FullText, 'search' | 'searchByUnits'> {
  type Asked = Pick<TextRequest, 'query' | 'terms' | 'filter' | 'columns'>

  async function compounds(scope: Scope, asked: Asked, captured: boolean): Promise<TextSearch | null> {
    const { query, terms, filter, columns } = asked
    const expression = query.mode === 'match' ? compoundExpression(terms) : null
    if (expression === null) return null
    try {
      return await fullText.search(scope, {
        query: { ...query, expression, preferred: null, units: [] },
        ...{ terms: [], filter, captured, totals: false },
        columns: [...new Set([...columns, 'context' as const])],
        depth: { candidates: READ, complete: 0 },
      })
    } catch (error) {
      // The search works without compounds.
      if (error instanceof Problem && error.code === 'limit_exceeded') return null
      throw error
    }
  }

  async function joined({ terms, columns }: Asked, found: TextSearch, more: TextSearch | null): Promise<TextSearch> {
    const known = new Set(found.hits.map(({ id }) => id))
    const others = (more?.hits ?? []).filter(({ id }) => !known.has(id))
    if (others.length === 0) return found
    const count = createPartCounter(analyzer, terms)
    const holding = terms.map((_, place) => found.statistics.entriesWithTerm[place] ?? 0)
    const hits: TextHit[] = []
    const partly = new Set<number>()
    for (const hit of others) {
      const counts = count(`${hit.title}\n${hit.text}`)
      await scheduler.tick(hit.title.length + hit.text.length)
      const places = counts.flatMap((n, place) => (n > 0 ? [place] : []))
      if (places.length === 0) continue
      for (const place of places) {
        if ((found.statistics.entriesWithTerm[place] ?? 0) > 0) continue
        partly.add(place)
        holding[place] = (holding[place] as number) + 1
      }
      const context = columns.includes('context') ? hit.context : ''
      hits.push({ ...hit, context, complete: false, held: 0, isByParts: true })
    }
    if (hits.length === 0) return found
    const statistics = { ...found.statistics, entriesWithTerm: holding, partly: [...partly] }
    return { ...found, hits: [...found.hits, ...hits], statistics }
  }

  return {
    async search(scope, request) {
      const [found, more] = await Promise.all([
        fullText.search(scope, request),
        compounds(scope, request, request.captured ?? false),
      ])
      return joined(request, found, more)
    },
    async searchByUnits(scope, request: UnitsRequest) {
      const [found, more] = await Promise.all([
        fullText.searchByUnits(scope, request),
        compounds(scope, request, false),
      ])
      return joined(request, found, more)
    },
  }
}
