import { DAY_MS, type Millis } from '../time'

/** What an event of a client means, whichever client sent it (capture contract §3). */
export interface Happening {
  /** The client's own id of the session. */
  readonly session: string
  /** Of a subagent only files and commands count. */
  readonly isSubagent: boolean
  /** The client's own name of the event, spelt as answers name it. */
  readonly name: string
  readonly what: HookEventKind
}

export type HookEventKind =
  | { readonly kind: 'start'; readonly source: StartSource }
  | { readonly kind: 'prompt'; readonly text: string }
  | ({ readonly kind: 'tool' } & ToolUse)
  /** A subagent begins, with its task where the client sends it. */
  | { readonly kind: 'agent'; readonly task: string | null }
  /** The end of a turn, with the last answer where the client sends it. */
  | { readonly kind: 'stop'; readonly answer: string | null }
  | { readonly kind: 'compact' }
  | { readonly kind: 'end' }
  /** A call of a tool of ours: ids of memories that it opened, and of memories that it replaced or corrected. */
  | { readonly kind: 'memory'; readonly opened: readonly number[]; readonly corrected: readonly number[] }
  /** A known event of which nothing is kept: a tool that only reads. */
  | { readonly kind: 'nothing' }

/** `again`: the client replays what the session held; `anew`: it has lost what it held. */
export type StartSource = 'fresh' | 'again' | 'anew'

export type Outcome = 'success' | 'failure' | 'unknown'

export interface ToolUse {
  /** Paths, as the client names them. */
  readonly files: readonly string[]
  readonly command: string | null
  readonly outcome: Outcome
}

/** What a client's answer may bring to its model at the start and at a prompt; null where it takes nothing there. */
export interface AnswerForms {
  readonly start: (text: string, name: string) => Record<string, unknown> | null
  readonly prompt: (text: string, name: string) => Record<string, unknown> | null
  /** Absent where subagents take nothing. */
  readonly agent?: (text: string, name: string) => Record<string, unknown>
  /** What a prompt is answered with when nothing is recalled; null for nothing. */
  readonly empty?: (happening: Happening) => Record<string, unknown> | null
}

/** One client's events and answers. */
export interface HookClient {
  /** As people call it. */
  readonly title: string
  /** Null for an event that is unknown, or lacks what it needs. */
  readonly read: (event: Fields) => Happening | null
  readonly answer: AnswerForms
}

/** A JSON object of a client, of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>

/** When sessions are written, and how long what arrived is known (capture contract §3). Milliseconds. */

/** After the first, a session is written no more often at the ends of turns. */
export const CHECKPOINT_EVERY_MS = 5 * 60_000
/** A session of which nothing arrived for so long is written by the schedule. */
export const SILENT_MS = 15 * 60_000
/** Whoever began to write a session and is silent for so long has died. */
export const SESSION_LEASE_MS = 60_000
/** An event that arrives again is known for so long: a day longer than a client keeps what it could not send. */
export const EVENTS_RETAINED_MS = 7 * DAY_MS
/** Retention of rows about the use of memories: twice the 90 days after which a memory counts as unused. */
export const USES_KEPT_MS = 180 * DAY_MS
/** A memory that no session used for so long is offered to be archived. */
export const UNUSED_MS = 90 * DAY_MS

/** Whether what a checkpoint wrote so long ago has expired, unless somebody has kept it. */
export const hasExpired = (
  written: { readonly at: Millis; readonly closed?: true } | null,
  captureDays: number,
  now: Millis,
): boolean => written !== null && !written.closed && written.at + captureDays * DAY_MS <= now
