// What of a goal is left when the name of its own project is taken out?
import type { Analyzer } from '../search/analysis'
import { emptyWords } from '../search/written-in'
import { commonTerms } from './plain-words'
import { HARDLY_A_WORD } from './sayings'

/** Whether a text says what it is about, beside words that stand in any goal. */
function namesSubject(text: string, analyzer: Analyzer): boolean {
  const tokens = analyzer.tokenize(text)
  const empty = emptyWords(tokens.map(({ word }) => word))
  const common = commonTerms(analyzer)
  return tokens.some(
    ({ term, word, isStopWord }) => !isStopWord && !empty.has(word) && !common.has(term) && !HARDLY_A_WORD.test(term),
  )
}

/**
 * A goal without the name of the project that it is asked in, which most of what is of the project says too: it filled packs with what
 * has nothing else to do with the goal. As it is where it says nothing else: then it is about the whole project.
 *
 * @param project an id, or a path whose last folder is the name
 */
export function withoutOwnName(goal: string, project: string | null, analyzer: Analyzer): string {
  const name = project?.split(/[\\/]/).findLast((part) => part !== '')
  const parts = name?.match(/[\p{L}\p{N}]+/gu) ?? []
  if (parts.length === 0) return goal
  const named = new RegExp(`(?<![\\p{L}\\p{N}])${parts.join('[-_. ]?')}(?:['’]s)?(?![\\p{L}\\p{N}])`, 'giu')
  const rest = goal.replace(named, ' ')
  return rest !== goal && namesSubject(rest, analyzer) ? rest : goal
}
