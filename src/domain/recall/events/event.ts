import { type JsonValue, type Metadata, own } from '../../entry/metadata'
import { jsonText } from '../../json/write'
import { redact, redactValue } from '../../secrets/redact'
import { firstCodePoints, trim } from '../../text'
import type { Millis } from '../../time'
import type { IssueCollector } from '../../validation'
import { normalPath } from '../file-paths'
import type { MemoryType } from '../memory'

/** Events that coding agents report about their sessions (fabric contract §7). */
export const EVENT_TYPES = [
  ...['file_opened', 'command_executed', 'error_occurred', 'decision_made', 'session_start', 'session_end'],
  ...['pattern_detected', 'user_feedback'],
] as const as readonly [EventType, ...EventType[]]

export type EventType =
  | 'file_opened'
  | 'command_executed'
  | 'error_occurred'
  | 'decision_made'
  | 'session_start'
  | 'session_end'
  | 'pattern_detected'
  | 'user_feedback'

/** Programs that report events. */
export const REPORTERS = ['kimi', 'claude', 'claude-code', 'opencode', 'codex', 'gemini', 'cursor', 'generic'] as const
type Reporter = (typeof REPORTERS)[number]

/** Tag of the memory of an opened file, and its lifetime in seconds since the file was last opened. */
export const OPENED = { tag: 'file_opened', ttl: 3_600 } as const

/** Maximum bytes of a payload as JSON; the content of a file counts separately, with the same limit. */
export const MAX_PAYLOAD_BYTES = 262_144
export const MAX_SESSION_ID = 256

export interface ReportedEvent {
  readonly type: EventType
  readonly payload: Metadata
  /** Milliseconds since 1970. */
  readonly at: Millis
  readonly sessionId: string
  readonly reporter: Reporter
}

/** A memory that an event creates, without the tags and metadata that all events share. */
export interface EventMemory {
  readonly type: MemoryType
  readonly layer: 1 | 2 | 3
  /** Lifetime in seconds, in layer 1. */
  readonly ttl?: number
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata?: Metadata
  /** Set for a failure: further reports of it increase its count. */
  readonly counts?: true
}

/** A failed command or reported error. */
export interface Failure {
  /** The line with the error message. */
  readonly line: string
  /** File or command that a further report must name to count as the same failure. */
  readonly of: { readonly file: string } | { readonly command: string } | null
}

/** The result of an event. */
export interface EventOutcome {
  /** The answer names the first one. */
  readonly memories: readonly [EventMemory, ...EventMemory[]]
  readonly actions: readonly string[]
  readonly message: string
  /** Null for an event without a failure. */
  readonly failure: Failure | null
  /** A file to index. */
  readonly file: { readonly path: string; readonly content: string; readonly language?: string } | null
}

/** Reads the payload of an event, with secrets redacted; invalid and missing values are recorded as issues. */
export class Payload {
  constructor(
    private readonly given: Metadata,
    private readonly wrong: IssueCollector,
    private readonly project: string | null,
  ) {}

  /** The first non-blank value as text; empty without one. */
  text(...names: readonly string[]): string {
    for (const name of names) {
      const text = asText(own(this.given, name))
      if (trim(text) !== '') return redact(text)
    }
    return ''
  }

  /** Like `text`, for a required value. */
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

  /** The path of a file as memories store it; unchanged where normalizing leaves nothing. */
  path(name: string): string {
    return this.asPath(this.text(name))
  }

  /** Like `path`, for a required value. */
  requiredPath(...names: readonly [string, ...string[]]): string {
    return this.asPath(this.required(...names))
  }

  private asPath(text: string): string {
    const path = normalPath(text, this.project)
    return trim(path) === '' ? text : path
  }

  /** An integer; null when it is absent. */
  integer(name: string): number | null {
    const value = own(this.given, name) ?? null
    if (value === null || value === '') return null
    const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number)) return number
    this.wrong.refuse(`event.payload.${name}`, value, `event.payload.${name} must be a whole number`)
    return null
  }

  /** All values of the payload, one per line, redacted also by the name of the value. */
  lines(): string {
    return Object.keys(this.given)
      .map((name) => [name, asText(redactValue(own(this.given, name) ?? null, name, new Set()))] as const)
      .filter(([, text]) => trim(text) !== '')
      .map((pair) => redact(pair.join(': ')))
      .join('\n')
  }
}

/** Converts a value to text. Some programs send other JSON types in place of text. */
function asText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  const isEmpty = (Array.isArray(value) ? value : Object.keys(value)).length === 0
  return isEmpty ? '' : jsonText(value)
}

/** The first code points of a text. */
export const firstCharacters = (text: string, most: number): string => firstCodePoints(text, most)
