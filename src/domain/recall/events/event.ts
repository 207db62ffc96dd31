import { type JsonValue, type Metadata, own } from '../../entry/metadata'
import type { Inspection } from '../../flaws'
import { jsonText } from '../../json/write'
import { redact, redactValue } from '../../secrets/redact'
import { firstCodePoints, trim } from '../../text'
import type { Millis } from '../../time'
import type { MemoryType } from '../memory'
import { normalPath } from '../paths'

/** What coding agents report of their sessions (fabric contract §7). */
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

/** Who reports. */
export const REPORTERS = ['kimi', 'claude', 'claude-code', 'opencode', 'codex', 'gemini', 'cursor', 'generic'] as const
type Reporter = (typeof REPORTERS)[number]

/** How the memory of an opened file is known by, and the seconds that it lasts from when it was last opened. */
export const OPENED = { tag: 'file_opened', ttl: 3_600 } as const

/** Bytes of a payload as JSON, without the content of a file, and of that content. */
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

/** A memory that an event leaves; tags and origin are common to all and stand elsewhere. */
export interface EventMemory {
  readonly type: MemoryType
  readonly layer: 1 | 2 | 3
  /** Seconds, in layer 1. */
  readonly ttl?: number
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata?: Metadata
  /** Tells of a failure, of which a further report is counted here. */
  readonly counts?: true
}

/** What went wrong. */
export interface Failure {
  /** The line that says it. */
  readonly line: string
  /** What a further report has to name too, for it to be the same problem. */
  readonly of: { readonly file: string } | { readonly command: string } | null
}

/** What is done about an event. */
export interface EventOutcome {
  /** The first is the one that the result names. */
  readonly memories: readonly [EventMemory, ...EventMemory[]]
  readonly actions: readonly string[]
  readonly message: string
  /** Null when nothing went wrong. */
  readonly failure: Failure | null
  /** A file to be indexed. */
  readonly file: { readonly path: string; readonly content: string; readonly language?: string } | null
}

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
