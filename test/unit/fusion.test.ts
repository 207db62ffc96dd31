import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config'
import { type Candidate, fuse } from '../../src/domain/search/fusion'

/** Fusion of two result lists (threads contract §8). */
const LONG = 150
const candidate = (id: number, given: Partial<Candidate>): Candidate => ({
  id,
  ftsRank: null,
  semanticRank: null,
  ftsScore: null,
  titled: 0,
  nearest: null,
  ...given,
})
const near = (cosine: number, codePoints = LONG) => ({ nearest: { cosine, codePoints } })

describe('fusion by scores', () => {
  it('adds to the score of the words its squared similarity above the lowest', () => {
    const { order, lowestCosine } = fuse(
      'scores',
      [
        candidate(1, { ftsRank: 1, ftsScore: 20, ...near(0.2) }),
        candidate(2, { ftsRank: 2, ftsScore: 10, semanticRank: 1, ...near(0.6) }),
        candidate(3, { semanticRank: 2, ...near(0.5) }),
      ],
      60,
    )
    expect(lowestCosine).toBe(0.2)
    expect(order.map(({ id }) => id)).toEqual([2, 1, 3])
    expect(order.map(({ fused }) => Number(fused.toFixed(9)))).toEqual(
      [10 + 90 * 0.25, 20, 90 * (0.3 / 0.8) ** 2].map((x) => Number(x.toFixed(9))),
    )
    expect(order[0]?.rrf).toBeCloseTo(1 / 62 + 1 / 61, 12)
  })

  it('counts a short chunk by its share of 150 characters', () => {
    const entries = (codePoints: number) => [
      candidate(1, { ftsRank: 1, ftsScore: 1, ...near(0) }),
      candidate(2, { semanticRank: 1, ...near(1, codePoints) }),
    ]
    const fused = (codePoints: number) => fuse('scores', entries(codePoints), 60).order[0]?.fused
    expect([fused(15), fused(150), fused(1500)]).toEqual([9, 90, 90])
  })

  it('gives an entry whose vectors are queued the mean of the others', () => {
    const { order } = fuse(
      'scores',
      [
        candidate(1, { ftsRank: 1, ftsScore: 1, ...near(1) }),
        candidate(2, { semanticRank: 1, ...near(0) }),
        candidate(3, { ftsRank: 2, ftsScore: 1 }),
      ],
      60,
    )
    expect(order).toMatchObject([
      { id: 1, fused: 91 },
      { id: 3, fused: 46 },
      { id: 2, fused: 0 },
    ])
  })

  it('preserves the order of one retriever if the other found nothing', () => {
    const words = [3, 1, 2].map((id, i) =>
      candidate(id, { ftsRank: i + 1, ftsScore: [5, 9, 1][i] ?? 0, ...near(id / 10) }),
    )
    expect(fuse('scores', words, 60).order.map(({ id, fused }) => [id, fused])).toEqual([
      [3, 5],
      [1, 9],
      [2, 1],
    ])
    const meaning = [2, 3, 1].map((id, i) => candidate(id, { semanticRank: i + 1, ...near(0.9 - i / 10, 10) }))
    const { order } = fuse('scores', meaning, 60)
    expect(order.map(({ id }) => id)).toEqual([2, 3, 1])
    expect(order[0]?.fused).toBeGreaterThan(order[1]?.fused as number)
  })

  it('puts the newer of two equals first, and treats almost equal cosines as equal', () => {
    const both = [1, 2].map((id) => candidate(id, { ftsRank: id, ftsScore: 1, semanticRank: id, ...near(1) }))
    expect(fuse('scores', both, 60).order.map(({ id, fused }) => [id, fused])).toEqual([
      [2, 1],
      [1, 1],
    ])
    expect(fuse('scores', [], 60)).toEqual({ order: [], lowestCosine: null })
  })

  it('orders everything that was found once, by finite numbers', () => {
    const leg = fc.option(fc.integer({ min: 1, max: 200 }), { nil: null })
    const one = fc.record({
      ftsRank: leg,
      semanticRank: leg,
      score: fc.float({ min: 0, max: 60, noNaN: true }),
      cosine: fc.option(fc.float({ min: -1, max: 1, noNaN: true }), { nil: null }),
      codePoints: fc.nat(2000),
    })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), fc.constantFrom('scores', 'rrf' as const), (all, method) => {
        const found = all.map(({ score, cosine, codePoints, ...ranks }, id) =>
          candidate(id, {
            ...ranks,
            ftsScore: ranks.ftsRank === null ? null : score,
            nearest: cosine === null ? null : { cosine, codePoints },
          }),
        )
        const { order } = fuse(method, found, 60)
        expect(order.map(({ id }) => id).sort((a, b) => a - b)).toEqual(found.map(({ id }) => id))
        for (const { fused, rrf } of order) expect([fused, rrf].every(Number.isFinite)).toBe(true)
      }),
    )
  })
})

describe('fusion by ranks', () => {
  it('adds one divided by k and the rank of each retriever; the older of two equals comes first', () => {
    const { order } = fuse(
      'rrf',
      [candidate(2, { ftsRank: 1 }), candidate(1, { semanticRank: 1 }), candidate(3, { ftsRank: 2, semanticRank: 2 })],
      60,
    )
    expect(order.map(({ id }) => id)).toEqual([3, 1, 2])
    expect(order[1]?.fused).toBe(1 / 61)
  })

  it('is chosen by configuration', () => {
    expect(parseConfig({}).hybrid.fusion).toBe('scores')
    expect(parseConfig({ HYBRID_FUSION: 'RRF' }).hybrid.fusion).toBe('rrf')
    expect(() => parseConfig({ HYBRID_FUSION: 'sum' })).toThrow(
      /HYBRID_FUSION is "sum", but must be one of scores, rrf/,
    )
  })
})
