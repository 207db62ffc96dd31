import { expect, it } from 'vitest'
import { capacityWarning, leftOutWarning, vectorsWarning } from '../../src/domain/capacity'

const LIMIT = 10_000_000_000

it('warns of a full database from 80 % of the limit of D1, with advice', () => {
  expect(capacityWarning(null, LIMIT)).toBeNull()
  expect(capacityWarning(LIMIT * 0.8 - 1, LIMIT)).toBeNull()
  expect(capacityWarning(LIMIT * 0.8, LIMIT)).toContain('80 % of its limit of 10 GB')
  expect(capacityWarning(LIMIT * 0.999, LIMIT)).toMatch(/99 %.*HISTORY_DAYS/)
})

it('warns of vectors that searches do not compare, and names Vectorize', () => {
  expect([leftOutWarning(0), vectorsWarning(78_000, 78_000)]).toEqual([null, null])
  expect(vectorsWarning(78_001, Number.POSITIVE_INFINITY)).toBeNull()
  expect(leftOutWarning(12)).toMatch(/^12 older memories are found by words only.*VECTOR_BACKEND=vectorize/)
  expect(vectorsWarning(78_001, 78_000)).toMatch(/78001 vectors.*newest 78000.*VECTOR_BACKEND=vectorize/)
})
