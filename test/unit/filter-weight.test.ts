import { expect, it } from 'vitest'
import { and, type Filter } from '../../src/domain/search/filter'
import { checkWeight } from '../../src/domain/search/filter-weight'

const hundred = (condition: (i: number) => Filter): Filter => and(Array.from({ length: 100 }, (_, i) => condition(i)))

it('takes a hundred plain filters of metadata, and refuses what would parse one entry for too long', () => {
  checkWeight(hundred((i) => ({ op: 'equals', path: [`k${i}`], anyOf: ['v'], fold: true })))
  checkWeight(
    hundred((i) => ({ op: 'substring', path: [`k${i}`], at: 'anywhere', value: 'v'.repeat(400), fold: true })),
  )
  checkWeight({
    op: 'not',
    of: { op: 'substring', path: ['k'], at: 'anywhere', value: 'v'.repeat(50_000), fold: false },
  })
  const refused: readonly Filter[] = [
    hundred((i) => ({ op: 'elements', path: [`k${i}`], allOf: ['v'], fold: false })),
    hundred((i) => ({ op: 'substring', path: [`k${i}`], at: 'anywhere', value: 'v'.repeat(4_000), fold: true })),
  ]
  for (const filter of refused)
    expect(() => checkWeight(filter)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }))
})
