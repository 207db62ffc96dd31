import { expect, it } from 'vitest'
import { capacityWarning, D1_LIMIT } from '../../src/domain/capacity'

it('warns of a full database from 80 % of the D1 limit, with a remedy', () => {
  expect(capacityWarning(null)).toBeNull()
  expect(capacityWarning(D1_LIMIT * 0.8 - 1)).toBeNull()
  expect(capacityWarning(D1_LIMIT * 0.8)).toContain('80 % of the 10 GB')
  expect(capacityWarning(D1_LIMIT * 0.999)).toMatch(/99 %.*HISTORY_DAYS/)
})
