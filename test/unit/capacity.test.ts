import { expect, it } from 'vitest'
import { capacityWarning, D1_LIMIT, leftOutWarning, vectorsWarning } from '../../src/domain/capacity'

it('warns of a full database from 80 % of what D1 takes, and says what to do', () => {
  expect(capacityWarning(null)).toBeNull()
  expect(capacityWarning(D1_LIMIT * 0.8 - 1)).toBeNull()
  expect(capacityWarning(D1_LIMIT * 0.8)).toContain('80 % of the 10 GB')
  expect(capacityWarning(D1_LIMIT * 0.999)).toMatch(/99 %.*HISTORY_DAYS/)
})

it('warns of vectors that searches do not compare, and names Vectorize', () => {
  expect([leftOutWarning(0), vectorsWarning(78_000, 78_000)]).toEqual([null, null])
  expect(vectorsWarning(78_001, Number.POSITIVE_INFINITY)).toBeNull()
  expect(leftOutWarning(12)).toMatch(/^12 older memories are found by words only.*VECTOR_BACKEND=vectorize/)
  expect(vectorsWarning(78_001, 78_000)).toMatch(/78001 vectors.*newest 78000.*VECTOR_BACKEND=vectorize/)
})
