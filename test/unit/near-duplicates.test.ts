import { expect, it } from 'vitest'
import { DUPLICATE_LIMITS, isNearDuplicate, overlap, type Shape } from '../../src/domain/pack/near-duplicates'
import { seeded } from '../support/seeded'

it('decides from a part of two texts what their complete overlap decides', () => {
  const random = seeded(20261128)
  const setOf = (from: number, size: number) =>
    new Set(Array.from({ length: size }, () => `w${Math.floor(random() * from)}`))
  const { words, pairs } = DUPLICATE_LIMITS
  let duplicates = 0
  for (let n = 0; n < 2_000; n++) {
    const from = 4 + Math.floor(random() * 12)
    const shape = (): Shape => ({ text: '', words: setOf(from, from * 2), pairs: setOf(from, from * 2) })
    const [a, b] = [shape(), shape()]
    const [ofWords, ofPairs] = [overlap(a.words, b.words), overlap(a.pairs, b.pairs)]
    const expected = ofPairs >= pairs || (ofWords >= words && ofPairs >= pairs / 2)
    expect([[...a.pairs], [...b.pairs], isNearDuplicate(a, b)]).toEqual([[...a.pairs], [...b.pairs], expected])
    if (expected) duplicates++
  }
  expect(duplicates).toBeGreaterThan(100)
  expect(duplicates).toBeLessThan(1_900)
})
