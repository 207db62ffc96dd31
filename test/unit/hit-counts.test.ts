import { expect, it } from 'vitest'
import { atOnce } from '../../src/domain/scheduler'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { type HitParts, hitCounter } from '../../src/domain/search/hit-counts'
import { indexText } from '../../src/domain/search/indexed-text'
import { parseQuery } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import { seeded } from '../support/seeded'

const WORDS = 'the token tokens token-tokens café CAFÉ running runs über 今天天气 天气 v1.2 x1 deploy, deploy'.split(
  ' ',
)

it('counts the words of a query in the terms of the index as in the text that they were made of', () => {
  const random = seeded(20261128)
  const analyzer = createAnalyzer('english')
  const phrase = (words: number) =>
    Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
  for (let n = 0; n < 200; n++) {
    const text = phrase(1 + Math.floor(random() * 30))
    const count = hitCounter(analyzer, scoredTerms(parseQuery(phrase(3), 'match', analyzer).units))
    const { terms, words } = atOnce(indexText(analyzer, { text, metadata: null }))
    const hit: HitParts = {
      ...{ id: n, following: [], complete: false, title: phrase(2), text, code: '', context: '8 may 2026 planner' },
      length: words,
    }
    expect([text, count({ ...hit, text: '', terms }).candidate]).toEqual([text, count(hit).candidate])
  }
})
