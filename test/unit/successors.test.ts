import { expect, it } from 'vitest'
import { successorsFirst } from '../../src/domain/search/hits'

it('puts the successor of a superseded result before it, and keeps the order of all others', () => {
  const result = (id: number, supersededBy?: number) => ({ id, supersededBy })
  const orderOf = (...results: { id: number; supersededBy: number | undefined }[]) =>
    successorsFirst(results, (one) => one).map(({ id }) => id)
  expect(orderOf(result(1), result(2, 4), result(3), result(4))).toEqual([1, 4, 2, 3])
  expect(orderOf(result(1, 2), result(2, 3), result(3))).toEqual([3, 2, 1])
  expect(orderOf(result(1, 9), result(2))).toEqual([1, 2])
  // Entries that supersede each other keep their order.
  expect(new Set(orderOf(result(1, 2), result(2, 1)))).toEqual(new Set([1, 2]))
})
