import { DAY_MS, type Millis } from '../time'

/** The meaning of a client event, independent of the client (capture contract §3). */
export interface ClientEvent {
  /** Session ID of the client. */
  readonly session: string
  /** Only files and commands of a subagent count. */
  readonly isSubagent: boolean
  /** Event name of the client, in the spelling that answers use. */
  readonly name: string
  readonly what: HookEventKind
}

export type HookEventKind =
  | { readonly kind: 'start'; readonly source: StartSource }
  | { readonly kind: 'prompt'; readonly text: string }
  | ({ readonly kind: 'tool' } & ToolUse)
  /** A subagent starts, with its task if the client sends it. */
  | { readonly kind: 'agent'; readonly task: string | null }
  /** The end of a turn, with the last answer if the client sends it. */
  | { readonly kind: 'stop'; readonly answer: string | null }
  | { readonly kind: 'compact' }
  | { readonly kind: 'end' }
  /** A call of a tool of this server: IDs of memories that it opened, and replaced or corrected. */
  | { readonly kind: 'memory'; readonly opened: readonly number[]; readonly corrected: readonly number[] }
  /** A known event that is not stored, such as a tool that only reads. */
  | { readonly kind: 'nothing' }

/** State of the client's context: `fresh` is empty, `again` still has the session's content, `anew` has lost it. prose-ignore */
export type StartSource = 'fresh' | 'again' | 'anew'

export type Outcome = 'success' | 'failure' | 'unknown'

export interface ToolUse {
  /** Paths, as the client names them. */
  readonly files: readonly string[]
  readonly command: string | null
  readonly outcome: Outcome
}

/** Formats of answers with text for the model; null where the client does not support it. */
export interface AnswerForms {
  readonly start: (text: string, name: string) => Record<string, unknown> | null
  readonly prompt: (text: string, name: string) => Record<string, unknown> | null
  /** Absent where subagents do not support it. */
  readonly agent?: (text: string, name: string) => Record<string, unknown>
  /** The answer to a prompt without recalled memories; null for none. */
  readonly empty?: (happening: ClientEvent) => Record<string, unknown> | null
}

/** Event parser and answer formats of one client. */
export interface HookClient {
  /** Name for people. */
  readonly title: string
  /** Null for an unknown or incomplete event. */
  readonly read: (event: Fields) => ClientEvent | null
  readonly answer: AnswerForms
}

/** An unvalidated JSON object of a client. */
export type Fields = Readonly<Record<string, unknown>>

/** Intervals and retention of captured sessions (capture contract §3), in milliseconds. */

/** Minimum interval between writes of a session at the ends of turns, after the first one. */
export const CHECKPOINT_EVERY_MS = 5 * 60_000
/** A session without events for this long is written by the schedule. */
export const SILENT_MS = 15 * 60_000
/** Lease for writing a session. A writer without a sign of life for this long has died. */
export const SESSION_LEASE_MS = 60_000
/** Retention of event IDs for detecting repeats: a day longer than clients retain unsent events. */
export const EVENTS_RETAINED_MS = 7 * DAY_MS
/** Retention of memory usage: twice the 90 days after which a memory counts as unused. */
export const USES_KEPT_MS = 180 * DAY_MS
/** A memory that no session used for this long is suggested for archiving. */
export const UNUSED_MS = 90 * DAY_MS

/** Whether a checkpoint written at this time has expired. An approved session does not expire. */
export const hasExpired = (
  written: { readonly at: Millis; readonly closed?: true } | null,
  captureDays: number,
  now: Millis,
): boolean => written !== null && !written.closed && written.at + captureDays * DAY_MS <= now
