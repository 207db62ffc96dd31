import type { Scope } from '../../../domain/identity/scope'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { isOneSlip } from '../../../domain/search/names'
import { parseQuery } from '../../../domain/search/query'
import { scoredTerms } from '../../../domain/search/score'
import type { Yielder } from '../../../domain/yielder'
import type { FullText } from '../../../ports/full-text'

/** Words of a query that are corrected, and the letters that such a word has at least. */
const [MOST_WORDS, SHORTEST] = [3, 4]
/** Lengths of the prefix that is assumed to be right, the longest first, and entries whose words are compared. */
const PREFIXES = [4, 3, 2]
const COMPARED = 30

export type SuggestWords = ReturnType<typeof createSuggestWords>

/** Finds words of visible entries that a misspelled query may mean. For queries of which no word is found. */
export function createSuggestWords({
  fullText,
  analyzer,
  yielder,
}: {
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly yielder: Yielder
}) {
  /** The commonest word that differs by one letter. A round trip for each length of prefix. */
  async function similarTo(scope: Scope, word: string, filter: Filter): Promise<string | null> {
    for (const length of PREFIXES) {
      const query = parseQuery(word.slice(0, length), 'prefix', analyzer)
      const { hits } = await fullText.search(scope, {
        ...{ query, terms: scoredTerms(query.units), filter, columns: ['title', 'body', 'context'] },
        depth: { candidates: COMPARED, complete: 0 },
      })
      const counts = new Map<string, number>()
      for (const { title, text } of hits) {
        analyzer.eachWord(`${title}\n${text}`, (one) => {
          if (isOneSlip(one.word, word)) counts.set(one.word, (counts.get(one.word) ?? 0) + 1)
        })
        await yielder.spend(text.length)
      }
      const [best] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      if (best !== undefined) return best[0]
    }
    return null
  }

  return async (scope: Scope, query: string, filter: Filter): Promise<readonly string[]> => {
    const words = new Set(
      analyzer.tokenize(query).flatMap(({ word, isStopWord }) => (isStopWord || word.length < SHORTEST ? [] : [word])),
    )
    const found: string[] = []
    for (const word of [...words].slice(0, MOST_WORDS)) {
      const similar = await similarTo(scope, word, filter)
      if (similar !== null) found.push(similar)
    }
    return found
  }
}
