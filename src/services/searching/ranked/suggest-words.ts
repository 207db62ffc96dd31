import type { Scope } from '../../../domain/identity/scope'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { slipsBetween } from '../../../domain/search/names'
import { parseQuery } from '../../../domain/search/query'
import { scoredTerms } from '../../../domain/search/score'
import type { Yielder } from '../../../domain/yielder'
import type { FullText } from '../../../ports/full-text'

/** Words of a query that are corrected, and the letters that such a word has. */
const [MOST_WORDS, SHORTEST, LONGEST] = [3, 4, 40]
/** Letters from which on two of them may be wrong. */
const TWO_SLIPS = 7
/** Lengths of the prefix that is assumed to be right, the longest first, and entries whose words are compared. */
const PREFIXES = [4, 3, 2]
const COMPARED = 30
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

/** For queries of words that no entry holds. */
export function createSuggestWords({
  fullText,
  analyzer,
  yielder,
}: {
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly yielder: Yielder
}): SuggestWords {
  /** The most similar word; of equal ones the commonest. Null for a word that is found itself. A round trip for each length of prefix. */
  async function similarTo(scope: Scope, word: string, filter: Filter): Promise<string | null> {
    const most = word.length >= TWO_SLIPS ? 2 : 1
    for (const length of PREFIXES) {
      const query = parseQuery(word.slice(0, length), 'prefix', analyzer)
      const { hits } = await fullText.search(scope, {
        ...{ query, terms: scoredTerms(query.units), filter, columns: ['title', 'body', 'context'] },
        depth: { candidates: COMPARED, complete: 0 },
      })
      const found = new Map<string, { readonly slips: number; count: number }>()
      for (const { title, text } of hits) {
        analyzer.eachWord(`${title}\n${text}`, (one) => {
          const known = found.get(one.word)
          if (known !== undefined) known.count++
          else found.set(one.word, { slips: slipsBetween(one.word, word, most), count: 1 })
        })
        await yielder.spend(text.length)
      }
      if (found.has(word)) return null
      const [best] = [...found]
        .filter(([, { slips }]) => slips <= most)
        .sort(([a, x], [b, y]) => x.slips - y.slips || y.count - x.count || (a < b ? -1 : 1))
      if (best !== undefined) return best[0]
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
