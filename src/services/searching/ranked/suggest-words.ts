import type { Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { slipsBetween } from '../../../domain/search/names'
import { parseQuery } from '../../../domain/search/query'
import type { FullText } from '../../../ports/full-text'

/** Words of a query that are corrected, and the letters that such a word has. */
const [MOST_WORDS, SHORTEST, LONGEST] = [3, 4, 40]
/** Letters from which on two of them may be wrong. */
const TWO_SLIPS = 7
/** Lengths of the prefix that is assumed to be right, the longest first, and the newest entries with it whose words are compared. */
const PREFIXES = [4, 3, 2]
const COMPARED = 20
const HAS_DIGIT = /\p{N}/u

/** Words of visible entries that a misspelled query may mean, in the order of the query. */
export type SuggestWords = (
  scope: Scope,
  query: string,
  filter: Filter,
  /** Terms of the query that no entry holds; without it, every word is looked for. */
  unknown?: ReadonlySet<string>,
) => Promise<readonly string[]>

export const NO_SUGGESTIONS: SuggestWords = async () => []

/** The question in a warning; null without a suggestion. */
export const didYouMean = (words: readonly string[]): string | null =>
  words.length === 0 ? null : `did you mean ${words.join(', ')}?`

/** For queries of words that no entry holds. One round trip. */
export function createSuggestWords({
  fullText,
  analyzer,
}: {
  readonly fullText: FullText
  readonly analyzer: Analyzer
}): SuggestWords {
  /** Words of the newest entries that hold a word with this prefix, each with how often it occurs. */
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

  /** The most similar word behind the longest prefix; of equal ones the commonest. Null for a word that is found itself. */
  async function similarTo(scope: Scope, word: string, filter: Filter): Promise<string | null> {
    const most = word.length >= TWO_SLIPS ? 2 : 1
    const found = await Promise.all(PREFIXES.map((length) => wordsWith(scope, word.slice(0, length), filter)))
    if (found.some((words) => words.has(word))) return null
    for (const words of found) {
      const similar = [...words].flatMap(([other, count]) => {
        const slips = slipsBetween(other, word, most)
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
