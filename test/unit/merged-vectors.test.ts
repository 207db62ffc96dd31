import { expect, it } from 'vitest'
import { mergeNearest } from '../../src/adapters/vector-object/merge'

const numbers = (...all: number[]) => Float64Array.from(all)

it('merges the results of several objects of vectors, also if one of the last release does not return entry ids', () => {
  const told = { ids: numbers(3, 1), cosines: numbers(0.9, 0.2), entries: numbers(30, 10), cut: false }
  const untold = { ids: numbers(2), cosines: numbers(0.5), cut: false }
  expect(mergeNearest([told, untold], 5)).toEqual({
    ...{ ids: numbers(3, 2, 1), cosines: numbers(0.9, 0.5, 0.2) },
    // 0 is not an entry.
    entries: numbers(30, 0, 10),
    cut: false,
  })
})
