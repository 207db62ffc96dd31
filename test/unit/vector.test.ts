import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cosine,
  cosineOf,
  dequantize,
  distance,
  dot,
  fromBase64,
  modelKey,
  normalize,
  quantize,
  toBase64,
  unitVectors,
} from '../../src/domain/meaning/vector'

/** The square root of 2 as callers see it. */
const ORTHOGONAL = Math.SQRT2

/** Vectors: length 1, one byte a number, text, distance. */
const numbers = { noNaN: true, noDefaultInfinity: true, min: Math.fround(-1e6), max: Math.fround(1e6) } as const
const vectors = fc.float32Array({ ...numbers, minLength: 1, maxLength: 64 })
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((b) => new Int8Array(b.buffer))

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector)
const cosineOfFloats = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)

describe('normalising', () => {
  it('gives length 1, the same direction, and leaves the argument alone', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const before = [...vector]
        const unit = normalize(vector)
        expect([...vector]).toEqual(before)
        if (vector.every((value) => value === 0)) expect(unit.every((value) => value === 0)).toBe(true)
        else {
          expect(lengthOf(unit)).toBeCloseTo(1, 5)
          expect(cosineOfFloats(unit, vector) / lengthOf(vector)).toBeCloseTo(1, 4)
        }
      }),
    )
  })

  it('keeps very small and very large numbers apart from zero and infinity', () => {
    expect([...normalize(Float32Array.of(3e-40, 4e-40))].map((value) => value.toFixed(3))).toEqual(['0.600', '0.800'])
    expect([...normalize(Float32Array.of(3e38, 0))]).toEqual([1, 0])
  })
})

describe('quantising', () => {
  it('is off by at most half a step, uses the full range, and never exceeds it', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const { scale, values } = quantize(vector)
        const back = dequantize({ scale, values })
        const largest = Math.max(...vector.map(Math.abs))
        for (let i = 0; i < vector.length; i++)
          expect(Math.abs((back[i] as number) - (vector[i] as number))).toBeLessThanOrEqual(scale * 0.5001 + 1e-30)
        if (scale > 0) expect(Math.max(...values.map(Math.abs))).toBe(127)
        expect(values).not.toContain(-128)
        expect(scale).toBeCloseTo(largest / 127, 3)
      }),
    )
  })

  it('turns the zero vector into zeros', () => {
    expect(quantize(new Float32Array(3))).toEqual({ scale: 0, values: new Int8Array(3) })
  })

  it('keeps the cosine of unit vectors, nearly', () => {
    const pairs = fc.tuple(
      fc.float32Array({ ...numbers, minLength: 32, maxLength: 32 }),
      fc.float32Array({ ...numbers, minLength: 32, maxLength: 32 }),
    )
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const [x, y] = [normalize(a), normalize(b)]
        expect(Math.abs(cosine(quantize(x).values, quantize(y).values) - cosineOfFloats(x, y))).toBeLessThan(0.05)
      }),
    )
  })
})

describe('text', () => {
  it('gives back exactly what went in', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const quantized = quantize(normalize(vector))
        expect(fromBase64(toBase64(quantized))).toEqual(quantized)
      }),
    )
    fc.assert(
      fc.property(bytes(40), fc.double({ min: 0, max: 1e9, noNaN: true }), (values, scale) => {
        expect(fromBase64(toBase64({ scale, values })).values).toEqual(values)
      }),
    )
  })

  it('reads a part of a larger buffer as that part', () => {
    const packed = Int8Array.from({ length: 30 }, (_, i) => i - 15)
    expect(fromBase64(toBase64({ scale: 1, values: packed.subarray(10, 20) })).values).toEqual(packed.slice(10, 20))
  })

  it.each(['', ':AAAA', 'x:AAAA', '-1:AAAA', 'Infinity:AAAA', '1:not base64', '1'])('refuses "%s"', (text) => {
    expect(() => fromBase64(text)).toThrow('A stored vector cannot be read')
  })

  it('is the same where base64 is built in and where it is not', () => {
    const text = '0.5:AP+AfwE='
    expect([...fromBase64(text).values]).toEqual([0, -1, -128, 127, 1])
    expect(toBase64(fromBase64(text))).toBe(text)
  })
})

describe('comparing', () => {
  it('is exact, symmetric, and blind to scales', () => {
    fc.assert(
      fc.property(bytes(50), bytes(50), (a, b) => {
        expect(dot(a, b)).toBe(a.reduce((sum, value, i) => sum + value * (b[i] as number), 0))
        expect(cosine(a, b)).toBe(cosine(b, a))
        expect(cosine(a, b)).toBeGreaterThanOrEqual(-1)
        expect(cosine(a, b)).toBeLessThanOrEqual(1)
        expect(cosineOf(dot(a, b), dot(a, a), dot(b, b))).toBe(cosine(a, b))
      }),
    )
  })

  it('finds a vector in the middle of a packed array', () => {
    const [a, b] = [Int8Array.of(1, -2, 3), Int8Array.of(9, 9, 4, 5, 6, 9)]
    expect(dot(a, b, 2)).toBe(1 * 4 - 2 * 5 + 3 * 6)
  })

  it('does not overflow at the largest size', () => {
    const largest = new Int8Array(1536).fill(-127)
    expect(dot(largest, largest)).toBe(1536 * 127 * 127)
    expect(cosine(largest, largest)).toBe(1)
  })

  it('is the length of the difference of unit vectors, in full', () => {
    expect([1, 0.5, 0, -1].map(distance)).toEqual([0, 1, ORTHOGONAL, 2])
    fc.assert(
      fc.property(fc.float({ min: -1, max: 1, noNaN: true }), fc.float({ min: -1, max: 1, noNaN: true }), (a, b) => {
        if (a > b) expect(distance(a)).toBeLessThanOrEqual(distance(b))
        if (a - b > 1e-9) expect(distance(a)).toBeLessThan(distance(b))
      }),
    )
  })

  it('counts a zero vector as orthogonal to everything', () => {
    const [zero, other] = [new Int8Array(3), Int8Array.of(1, 2, 3)]
    expect([distance(cosine(zero, other)), distance(cosine(zero, zero))]).toEqual([ORTHOGONAL, ORTHOGONAL])
  })

  it('survives rounding at both ends', () => {
    expect([distance(1 + 1e-12), distance(-1 - 1e-12)]).toEqual([0, 2])
  })
})

describe('vectors of a provider', () => {
  const expected = { provider: 'Acme', model: 'm', dimensions: 2, count: 1 }

  it('are normalised', () => {
    expect(unitVectors([[3, 4]], expected)).toEqual([Float32Array.of(0.6, 0.8)])
    expect(() => unitVectors([[0, 0]], expected)).toThrow(/Acme returned a vector of zeros/)
  })

  it.each([[[['1', 2]]], [[[1, Number.NaN]]], [[{ 0: 1, 1: 2, length: 2 }]], [['ab']]])(
    'are refused when they are %j',
    (rows) => {
      expect(() => unitVectors(rows, expected)).toThrow('Acme returned something that is not a vector; try again')
    },
  )

  it.each([[[[1e39, 1]]], [[[-1e308, 1]]], [[[1e-50, 1e-60]]]])(
    'are refused where numbers are beyond the range of float32: %j',
    (rows) => {
      expect(() => unitVectors(rows, expected)).toThrow(
        /Acme returned a vector with numbers beyond the range of float32/,
      )
    },
  )

  it('are stored under a name that holds model, size and what is embedded', () => {
    expect(modelKey({ model: 'qwen3-embedding:0.6b', dimensions: 1024 })).toBe('qwen3-embedding:0.6b+title#1024')
  })
})
