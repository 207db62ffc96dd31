import type { JsonValue, Metadata } from '../entry/metadata'
import { jsonText } from '../json/write'
import { redact } from './redact'

/** Of a named value, as much as may be a secret. */
const LONGEST_VALUE = 512

/**
 * A value of metadata without secrets, also where its name says that it is one.
 *
 * @param kinds takes what was found
 */
export function redactValue(value: JsonValue, name: string, kinds: Set<string>): JsonValue {
  if (typeof value === 'string') {
    const clean = redact(value, kinds)
    if (clean !== value || value.length > LONGEST_VALUE) return clean
    const named = `${jsonText(name)}: ${jsonText(value)}`
    return redact(named, kinds) === named ? value : '[redacted:secret]'
  }
  if (Array.isArray(value)) return value.map((item) => redactValue(item, name, kinds))
  if (typeof value !== 'object' || value === null) return value
  const object: Metadata = Object.create(null)
  for (const [key, member] of Object.entries(value)) object[key] = redactValue(member, key, kinds)
  return object
}

/** What sorts of secrets an entry looks like to hold, in its text and its metadata. */
export function secretsOf({ text, metadata }: { readonly text: string; readonly metadata: Metadata | null }): string[] {
  const kinds = new Set<string>()
  redact(text, kinds)
  if (metadata !== null) redactValue(metadata, '', kinds)
  return [...kinds]
}
