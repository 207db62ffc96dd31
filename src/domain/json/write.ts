/**
 * JSON texts with all digits of large integers: `JSON.stringify` would write 2^60 as 1152921504606847000, which is a number
 * that nobody sent (platform contract §6).
 */
const isLargeInteger = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)

/** In workerd and in Node from 21 on. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

const digits = (value: number): unknown => rawJSON(BigInt(value).toString())

function holdsLargeInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isLargeInteger(value)
  if (Array.isArray(value)) return value.some(holdsLargeInteger)
  for (const key in value) if (holdsLargeInteger((value as Record<string, unknown>)[key])) return true
  return false
}

/**
 * A value that any `JSON.stringify` writes with all digits: the same where it holds no large integer, else a copy.
 *
 * @param value plain data, nested no deeper than what is stored
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

/** What stands in a JSON text that holds a large integer, and in few others. */
const MAY_HOLD_LARGE_INTEGER = /\d{16}|\de\+/

/** Whether a JSON text may have been written without all digits; looking at a text costs a tenth of looking at what it is made of. */
export const mayLackDigits = (text: string): boolean => MAY_HOLD_LARGE_INTEGER.test(text)

/** The JSON text of plain data, as it is stored and compared. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return mayLackDigits(text) ? JSON.stringify(withAllDigits(value)) : text
}

/** Members of members that are written one by one; what an array holds is written whole. */
const LEVELS = 3
/** Short parts are joined until they have so many UTF-16 units. */
const PIECE = 32_768

/**
 * The JSON text of plain data in pieces, so that there may be rests between: no piece is larger than one element of an array, or one
 * member, beside 32,768 units.
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
