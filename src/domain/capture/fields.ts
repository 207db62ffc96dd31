import type { Fields } from './hook-event'

/** Reading JSON objects of clients, of which nothing is known: what is not of its type is not there. */

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first of these members that is a text; null when none is. */
export function textOf(fields: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string') return value
  }
  return null
}

/** The first of these members that is an object, also one that is written as JSON; an empty one when none is. */
export function objectOf(fields: Fields, ...names: readonly string[]): Fields {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (isFields(value)) return value
    const parsed = typeof value === 'string' && value.startsWith('{') ? parsedOf(value) : null
    if (parsed !== null) return parsed
  }
  return {}
}

/** The first of these members that is a whole number; null when none is. */
export function numberOf(fields: Fields, ...names: readonly string[]): number | null {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  }
  return null
}

function parsedOf(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}
