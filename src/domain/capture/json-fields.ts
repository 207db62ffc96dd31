import type { Fields } from './hook-event'

/** Reads members of unvalidated JSON objects: values of another type count as absent. */

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first of these members that is a string; null without one. */
export function textOf(fields: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string') return value
  }
  return null
}

/** The first of these members that is an object or its JSON text; an empty object without one. */
export function objectOf(fields: Fields, ...names: readonly string[]): Fields {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (isFields(value)) return value
    const parsed = typeof value === 'string' && value.startsWith('{') ? parsedOf(value) : null
    if (parsed !== null) return parsed
  }
  return {}
}

/** The first of these members that is an integer; null without one. */
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
