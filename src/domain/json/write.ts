/**
 * Writes JSON with all digits of large integers. `JSON.stringify` would write 2^60 as 1152921504606847000, another
 * number than the caller sent (platform contract §6).
 */
const isLargeInteger = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)

/** Available in workerd, and in Node from 21. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

const digits = (value: number): unknown => rawJSON(BigInt(value).toString())

function holdsLargeInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isLargeInteger(value)
  if (Array.isArray(value)) return value.some(holdsLargeInteger)
  for (const key in value) if (holdsLargeInteger((value as Record<string, unknown>)[key])) return true
  return false
}

/**
 * A value that `JSON.stringify` writes with all digits: the value itself if it has no large integer, else a copy.
 * @param value plain data, nested no deeper than stored data
 */
export function withAllDigits<T>(value: T): T {
  return holdsLargeInteger(value) ? (copied(value) as T) : value
}

function copied(value: unknown): unknown {
  if (isLargeInteger(value)) return digits(value)
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null || !holdsLargeInteger(value)) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(value)) copy[key] = copied(member)
  return copy
}

/** Matches every JSON text with a large integer, and few others. */
const MAY_HOLD_LARGE_INTEGER = /\d{16}|\de\+/

/** Whether a JSON text may lack digits. Testing the text costs a tenth of testing the value. */
export const mayLackDigits = (text: string): boolean => MAY_HOLD_LARGE_INTEGER.test(text)

/** The JSON text of plain data, as it is stored and compared. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return mayLackDigits(text) ? JSON.stringify(withAllDigits(value)) : text
}

/** Depth to which members are written one by one; below it, a value is one piece. */
const LEVELS = 3
/** Short parts are joined up to this many UTF-16 units. */
const PIECE = 32_768

/**
 * The JSON text of plain data in pieces, so that the caller can pause between them. A piece is at most one array
 * element or member plus 32,768 units.
 */
export function* jsonPieces(value: unknown): Generator<string, void> {
  let piece = ''
  for (const part of parts(value, LEVELS)) {
    piece += part
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function* parts(value: unknown, levels: number): Generator<string, void> {
  if (levels === 0 || typeof value !== 'object' || value === null) return yield jsonText(value)
  const isArray = Array.isArray(value)
  let opening = isArray ? '[' : '{'
  for (const [key, member] of Object.entries(value)) {
    if (isArray) yield opening + (member === undefined ? 'null' : jsonText(member))
    else if (member === undefined) continue
    else {
      yield `${opening}${JSON.stringify(key)}:`
      yield* parts(member, levels - 1)
    }
    opening = ','
  }
  const closing = isArray ? ']' : '}'
  yield opening === ',' ? closing : opening + closing
}
