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

/** The JSON text of plain data, as it is stored and compared. */
export const jsonText = (value: unknown): string => JSON.stringify(withAllDigits(value))
