import type { Metadata } from '../../entry/metadata'
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
export type Reporter = (typeof REPORTERS)[number]

/** Bytes of a payload as JSON, without the content of a file, and of that content. */
export const MAX_PAYLOAD_BYTES = 262_144
export const MAX_SESSION_ID = 256

export interface ReportedEvent {
  readonly type: EventType
  readonly payload: Metadata
  /** Milliseconds since 1970. */
  readonly at: number
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
}

/** What is done about an event. */
export interface EventOutcome {
  /** The first is the one that the result names. */
  readonly memories: readonly [EventMemory, ...EventMemory[]]
  readonly actions: readonly string[]
  readonly message: string
  /** The line by which similar errors are looked for; null when nothing went wrong. */
  readonly error: string | null
  /** A file to be indexed. */
  readonly file: { readonly path: string; readonly content: string; readonly language?: string } | null
}
