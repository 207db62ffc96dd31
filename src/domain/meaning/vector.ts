import { Problem } from '../errors'

/**
 * Vectors, normalized and quantized when they are written (threads contract §7). Every index compares these integers,
 * so all backends return the same distances.
 */

/** A vector with one byte per number. Only its direction matters for comparisons; the scale restores the numbers. */
export interface QuantizedVector {
  /** The value of 1; 0 for the zero vector. Nine significant digits, so that text preserves it. */
  readonly scale: number
  /** From -127 to 127. */
  readonly values: Int8Array
}

/** Marks vectors of chunks that include the entry's title. 1.0.0-rc.1 embedded chunks without it and without a mark. */
const EMBEDDED = '+title'

/**
 * The name under which vectors of a model, size and text form are stored. Vectors under other names are never compared,
 * and are computed again after an import.
 */
export const modelKey = (embedder: {
  readonly model: string
  readonly revision?: string
  readonly dimensions: number
}): string =>
  `${embedder.model}${embedder.revision === undefined ? '' : `~${embedder.revision}`}${EMBEDDED}#${embedder.dimensions}`

/** Scales a vector to length 1, as a new array; the zero vector remains zero. Numbers must be finite. */
export function normalize(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  if (squares === 0) return new Float32Array(vector.length)
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

/** Expectations that a provider's answer is checked against. */
interface ExpectedVectors {
  /** Name for error messages, such as `Ollama`. */
  readonly provider: string
  readonly model: string
  /** EMBEDDING_DIM. */
  readonly dimensions: number
  readonly count: number
}

/**
 * Validates and normalizes the vectors of a provider.
 * @param rows untrusted: one array of numbers per text, in order
 * @throws Problem unavailable for a wrong number of vectors, a wrong length (naming EMBEDDING_DIM), or numbers that are
 * not finite or all zero
 */
export function unitVectors(rows: readonly unknown[], expected: ExpectedVectors): Float32Array[] {
  const { provider, model, dimensions, count } = expected
  if (rows.length !== count)
    throw new Problem('unavailable', `${provider} returned ${rows.length} vectors for ${count} texts; try again`)
  return rows.map((row) => {
    if (!Array.isArray(row) || !row.every(Number.isFinite))
      throw new Problem('unavailable', `${provider} returned something that is not a vector; try again`)
    if (row.length !== dimensions)
      throw new Problem(
        'unavailable',
        `EMBEDDING_DIM is ${dimensions}, but the model ${model} returned ${row.length} numbers; ` +
          `set EMBEDDING_DIM=${row.length} or choose another EMBEDDING_MODEL`,
      )
    if (row.every((value) => value === 0))
      throw new Problem(
        'unavailable',
        `${provider} returned a vector of zeros, which matches no text. Check that the model ${model} is loaded and supports embeddings`,
      )
    const single = Float32Array.from(row)
    // A finite double can exceed the range of float32.
    if (!single.every(Number.isFinite) || single.every((value) => value === 0))
      throw new Problem(
        'unavailable',
        `${provider} returned a vector with numbers beyond the range of float32. Check that the model ${model} works`,
      )
    return normalize(single)
  })
}

const LARGEST = 127

/** Rounds to 255 steps between the largest number and its negative. */
export function quantize(vector: Float32Array): QuantizedVector {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = Number((largest / LARGEST).toPrecision(9))
  if (scale === 0) return { scale: 0, values: new Int8Array(vector.length) }
  return {
    scale,
    values: Int8Array.from(vector, (value) => Math.max(-LARGEST, Math.min(LARGEST, Math.round(value / scale)))),
  }
}

/** Restores the numbers of a quantized vector, for engines that need floats. */
export const dequantize = ({ scale, values }: QuantizedVector): Float32Array =>
  Float32Array.from(values, (value) => value * scale)

/** As stored in SQL: `<scale>:<base64 of the bytes>`. Text, because D1 returns a BLOB as an array of numbers. */
export function toBase64({ scale, values }: QuantizedVector): string {
  const bytes = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.length)
  return `${scale}:${encodeBase64(bytes)}`
}

/** @throws Problem internal when the text is not what `toBase64` writes */
export function fromBase64(text: string): QuantizedVector {
  const colon = text.indexOf(':')
  const scale = colon > 0 ? Number(text.slice(0, colon)) : Number.NaN
  const bytes = Number.isFinite(scale) && scale >= 0 ? decodeBase64(text.slice(colon + 1)) : null
  if (bytes === null) throw new Problem('internal', 'A stored vector cannot be read')
  return { scale, values: new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) }
}

/** The vector, or null when the text is invalid. Such a vector is skipped and computed again (sync-vectors.ts). */
export function readableVector(text: string): QuantizedVector | null {
  try {
    return fromBase64(text)
  } catch {
    return null
  }
}

function encodeBase64(bytes: Uint8Array): string {
  // Node 24, which runs some tests, has no toBase64; workerd has.
  return typeof bytes.toBase64 === 'function' ? bytes.toBase64() : btoa(String.fromCharCode(...bytes))
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    if (typeof Uint8Array.fromBase64 === 'function')
      return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' }) as Uint8Array<ArrayBuffer>
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

/**
 * Dot product of `a` and the part of `b` from `offset` on, so that one array can contain many vectors. Exact: 127² ×
 * 100,000 is below 2³¹.
 */
export function dot(a: Int8Array, b: Int8Array, offset = 0): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum = (sum + Math.imul(a[i] as number, b[offset + i] as number)) | 0
  return sum
}

/** The dot product of a vector with itself. */
export const squaresOf = ({ values }: QuantizedVector): number => dot(values, values)

/** Cosine of the angle between two vectors of equal length, -1 to 1; 0 when one of them is zero. Scales do not matter. */
export const cosine = (a: Int8Array, b: Int8Array): number => cosineOf(dot(a, b), dot(a, a), dot(b, b))

/**
 * Cosine from precomputed dot products. @param squaresA the dot product of the first vector with itself; squaresB
 * likewise
 */
export function cosineOf(product: number, squaresA: number, squaresB: number): number {
  if (squaresA === 0 || squaresB === 0) return 0
  return Math.max(-1, Math.min(1, product / Math.sqrt(squaresA * squaresB)))
}

/**
 * Distance between unit vectors, √(2 − 2·cos): 0 to 2. A zero vector, whose cosine counts as 0, is orthogonal to everything
 * (1.4142).
 */
export const distance = (cos: number): number => Math.min(2, Math.sqrt(Math.max(0, 2 - 2 * cos)))

/** The cosine of two vectors with this distance. */
export const cosineAt = (far: number): number => 1 - (far * far) / 2
