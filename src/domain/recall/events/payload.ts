import { type JsonValue, type Metadata, own } from '../../entry/metadata'
import type { Inspection } from '../../flaws'
import { jsonText } from '../../json/write'
import { redact } from '../../secrets/redact'
import { redactValue } from '../../secrets/redact-metadata'
import { firstCodePoints, trim } from '../../text'
import { normalPath } from '../paths'

/** Reads what an event reports, without its secrets; what is missing or of no use is noted. */
export class Payload {
  constructor(
    private readonly given: Metadata,
    private readonly wrong: Inspection,
    private readonly project: string | null,
  ) {}

  /** A value as text; empty for one that is absent, blank or holds nothing. */
  text(...names: readonly string[]): string {
    for (const name of names) {
      const text = asText(own(this.given, name))
      if (trim(text) !== '') return redact(text)
    }
    return ''
  }

  /** As `text`, of a value that the event is nothing without. */
  required(...names: readonly [string, ...string[]]): string {
    const text = this.text(...names)
    const path = `event.payload.${names[0]}`
    if (text === '')
      this.wrong.refuse(
        path,
        own(this.given, names[0]),
        `${names.map((name) => `event.payload.${name}`).join(' or ')} is missing or empty`,
      )
    return text
  }

  /** The path of a file as memories name it; as it was reported where nothing is left of it. */
  path(name: string): string {
    return this.asPath(this.text(name))
  }

  /** As `path`, of one that the event is nothing without. */
  requiredPath(...names: readonly [string, ...string[]]): string {
    return this.asPath(this.required(...names))
  }

  private asPath(text: string): string {
    const path = normalPath(text, this.project)
    return trim(path) === '' ? text : path
  }

  /** A whole number; null when it is absent. */
  integer(name: string): number | null {
    const value = own(this.given, name) ?? null
    if (value === null || value === '') return null
    const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number)) return number
    this.wrong.refuse(`event.payload.${name}`, value, `event.payload.${name} must be a whole number`)
    return null
  }

  /** Everything that was reported, a line each; a name may say that its value is a secret. */
  lines(): string {
    return Object.keys(this.given)
      .map((name) => [name, asText(redactValue(own(this.given, name) ?? null, name, new Set()))] as const)
      .filter(([, text]) => trim(text) !== '')
      .map((pair) => redact(pair.join(': ')))
      .join('\n')
  }
}

/** Programs report texts, and now and then what they took a text for. */
function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  const isEmpty = (Array.isArray(value) ? value : Object.keys(value)).length === 0
  return isEmpty ? '' : jsonText(value)
}

/** The beginning of a text, at most so many code points. */
export const beginning = (text: string, most: number): string => firstCodePoints(text, most)
