import type { Analyzer } from './analysis'
import { createPartCounter } from './compounds'
import { counting } from './counting'
import { type Candidate, PART_TIMES, type ScoredTerm, TITLE_TIMES, titleWords } from './score'

/** The parts of an entry that were found by words. */
export interface HitParts extends Pick<Candidate, 'id' | 'following' | 'complete' | 'isByParts'> {
  readonly title: string
  readonly text: string
  readonly code: string
  readonly context: string
  /** Content words of the complete text. */
  readonly length: number
}

/**
 * Counts the words of a query in entries that were found, for the scorer: a word of the title counts as two of the text.
 *
 * @param query the distinct content words of the query, by which exact titles are known
 */
export function hitCounter(analyzer: Analyzer, terms: readonly ScoredTerm[]) {
  const count = counting(analyzer, terms)
  const countParts = createPartCounter(analyzer, terms)
  const query = new Set(terms.map(({ term }) => term))
  return ({ id, following, complete, title, text, code, context, length, isByParts = false }: HitParts) => {
    const ofText = count(`${text}\n${context}`)
    const ofTitle = count(title)
    const ofCode = count(code)
    const words = ofText.counts.map(
      (n, i) => n + TITLE_TIMES * (ofTitle.counts[i] as number) + (ofCode.counts[i] as number),
    )
    const parts = isByParts ? countParts(`${`${title}\n`.repeat(TITLE_TIMES)}${text}`) : []
    const frequencies = isByParts ? words.map((n, i) => n + PART_TIMES * (parts[i] as number)) : words
    const candidate: Candidate = {
      ...{ id, following, complete, frequencies, isByParts },
      length: length + TITLE_TIMES * ofTitle.length + ofCode.length,
      titled: title === '' ? 0 : titleWords(analyzer.tokenize(title), query),
    }
    return { candidate, work: ofText.work + ofTitle.work + ofCode.work }
  }
}
