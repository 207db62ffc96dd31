import type { Gathered } from '../domain/capture/gathered'
import type { Standing } from '../domain/capture/recalled'
import type { AddressingEntry, ReviewedEntry, ReviewQuery } from '../domain/capture/review'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** The result of the last checkpoint of a session. */
export interface Written {
  readonly entryId: number
  /** Hash of its title and text, so that an unchanged text is not written again. */
  readonly digest: string
  /** Milliseconds since 1970. */
  readonly at: Millis
  /** A person has approved, dropped or edited the entry: checkpoints of the session no longer write it. */
  readonly closed?: true
}

/** The stored state of a session. */
export interface CapturedSession {
  /** `<client>:<id>`, within its organization and owner. */
  readonly name: string
  /** Increases with every change; a write names the revision it has read. 0: there is no row yet. */
  readonly revision: number
  readonly gathered: Gathered
  readonly written: Written | null
  /** Start of a checkpoint that is being written; null when none is. */
  readonly claimedAt: Millis | null
  /** Time from which the schedule writes it, if it is idle; null when nothing is pending. */
  readonly dueAt: Millis | null
}

/** A session with a pending checkpoint, and its owner. */
export interface DueSession extends CapturedSession {
  readonly org: string
  readonly owner: string
  readonly keyId: string
  readonly agent: string | null
}

/** An event that has arrived. */
interface ArrivedEvent {
  readonly id: string
  /** The text of its answer; null for none. */
  readonly output: string | null
}

/** Changes of one request, which are stored together or not at all. */
interface Arrival {
  readonly events: readonly ArrivedEvent[]
  readonly sessions: readonly (Pick<CapturedSession, 'name' | 'revision' | 'gathered' | 'claimedAt'> & {
    /** A session that was due when it was read may stay due, which saves a write; else as `CapturedSession` has it. */
    readonly dueAt: Millis | null | 'stays'
  })[]
}

/** A project and branch, where sessions of an owner get a start text. */
export interface StartPlace {
  readonly project: string | null
  readonly branch: string | null
}

/** Stores captured events and sessions. Scopes have an owner, whose sessions are used. */
export interface CaptureStore {
  /** Returns the known ones of these events, with their answers, and the known sessions. One round trip. */
  known(
    scope: Scope,
    events: readonly string[],
    sessions: readonly string[],
  ): Promise<{ readonly events: ReadonlyMap<string, string | null>; readonly sessions: readonly CapturedSession[] }>
  /**
   * Stores an arrival.
   *
   * @param by the key, and the agent of the key
   * @throws Problem conflict, retryable, when a session has changed or an event has arrived meanwhile
   */
  keep(scope: Scope, by: { readonly keyId: string; readonly agent: string | null }, arrival: Arrival): Promise<void>
  /** Stores the result of a checkpoint; the session is no longer due unless something arrived meanwhile. */
  wrote(scope: Scope, session: Pick<CapturedSession, 'name' | 'revision'>, written: Written | null): Promise<void>
  /** Returns the captured entry of a session that the scope may read, by its thread; null when there is none. */
  entryOf(scope: Scope, threadId: string): Promise<number | null>
  /** Returns sessions of all organizations that are due and idle, or whose writer died, longest due first. */
  due(silentSince: Millis, limit: number): Promise<readonly DueSession[]>
  /** Marks a session as being written. @returns false when it has changed, or is being written already */
  claim(session: DueSession): Promise<boolean>
  /**
   * Returns memories of a project and of none, by facet, and the newest captured session of the place. One round trip.
   * @param isApproved whether to include only entries whose current version a person has approved
   */
  standing(scope: Scope, place: StartPlace, except: string | null, isApproved?: boolean): Promise<Standing>
  /** Returns the digest of the last start text of an owner at a place; null when there was none. */
  lastStart(scope: Scope, place: StartPlace): Promise<string | null>
  noteStart(scope: Scope, place: StartPlace, digest: string): Promise<void>
  /**
   * Returns captured entries of a project, including dropped ones whose history is retained, without their texts.
   *
   * @param owner one owner; null for all
   */
  captured(
    scope: Scope,
    project: string,
    owner: string | null,
    limit: number,
  ): Promise<readonly { readonly id: number; readonly owner: string | null }[]>
  /** Returns those of the entries whose current version a person has approved. */
  approved(scope: Scope, ids: readonly number[]): Promise<ReadonlySet<number>>
  /**
   * Returns listed entries that the scope may change, whose texts address an agent and that are not approved, newest first.
   *
   * @param all includes those whose texts do not address an agent
   */
  addressing(scope: Scope, limit: number, all?: boolean): Promise<readonly AddressingEntry[]>
  /** Approves a version of an entry that the caller may change. @returns whether it is still at that version */
  approve(caller: Caller, id: number, version: number): Promise<boolean>
  /** Returns captured entries that the scope may change, newest first, after a position. */
  review(scope: Scope, query: ReviewQuery): Promise<readonly ReviewedEntry[]>
  /** Deletes the sessions of a project, so that no further checkpoints are written. */
  forgetSessions(scope: Scope, project: string, owner: string | null): Promise<void>
  /**
   * Deletes old rows: events and start texts by arrival, sessions by last activity if nothing is pending.
   * A batch covers a bounded part.
   *
   * @param cursor `next` of the previous batch; null at the start
   */
  forget(
    before: { readonly events: Millis; readonly sessions: Millis },
    cursor: string | null,
  ): Promise<{ readonly gone: number; readonly next: string | null }>
}
