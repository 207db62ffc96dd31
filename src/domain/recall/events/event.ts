import type { Metadata } from '../../entry/metadata'
import type { Millis } from '../../time'
import type { MemoryType } from '../memory'

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
