import type { StartMemories } from '../domain/capture/recall-text'
import type { AddressingEntry, ReviewedEntry, ReviewQuery } from '../domain/capture/review'
import type { SessionState } from '../domain/capture/session-state'
import type { ComparedMemory, MemoryUse, NamedMemory, SessionUse } from '../domain/capture/usage'
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
  /** Increases with every change; a write names the revision it has read. 0 for a session without a row. */
  readonly revision: number
  readonly gathered: SessionState
  readonly written: Written | null
  /** Start of a checkpoint that is being written; null when none is. */
  readonly claimedAt: Millis | null
  /** Time from which the schedule writes it, if it is idle; null when nothing is pending. */
  readonly dueAt: Millis | null
}

/** A session with a pending checkpoint, and its owner. */
export interface PendingSession extends CapturedSession {
  readonly org: string
  readonly owner: string
  readonly keyId: string
  readonly agent: string | null
}

/** An event that has arrived. */
interface ArrivedEvent {
  readonly id: string
  /** The text that was returned for it; null for none. */
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

/** A captured session that awaits review. */
export interface WaitingSession {
  /** `<client>:<id>` */
  readonly name: string
  /** Number of memories that a model proposed from it. */
  readonly proposed: number
}

/** Stores captured events and sessions. Scopes have an owner, whose sessions are used. */
export interface CaptureStore {
  /**
   * Returns those of the events that have arrived before, with the text that was returned, and those of the sessions that exist.
   */
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
  store(scope: Scope, by: { readonly keyId: string; readonly agent: string | null }, arrival: Arrival): Promise<void>
  /**
   * Records the entry that a checkpoint wrote. The session is no longer due unless an event arrived meanwhile.
   *
   * @param use how the session used memories, for its usage row
   */
  recordCheckpoint(
    scope: Scope,
    session: Pick<CapturedSession, 'name' | 'revision' | 'gathered'>,
    written: Written | null,
    use: readonly MemoryUse[],
  ): Promise<void>
  /** Returns titles, files and first characters of those of the memories that the scope may read. */
  compared(scope: Scope, ids: readonly number[]): Promise<readonly ComparedMemory[]>
  /**
   * Returns usage rows of sessions of every owner, in the projects of the scope, newest first.
   *
   * @param id only sessions that used this memory; null for all
   */
  uses(scope: Scope, since: Millis, id: number | null): Promise<readonly SessionUse[]>
  /** Returns the time of the oldest usage row; null without one. */
  firstUse(scope: Scope): Promise<Millis | null>
  /** Returns those of the memories that are listed. */
  named(scope: Scope, ids: readonly number[]): Promise<readonly NamedMemory[]>
  /** Returns the oldest memories that the scope may change, not changed since a time, except these. */
  unused(scope: Scope, before: Millis, used: readonly number[], limit: number): Promise<readonly NamedMemory[]>
  /**
   * Archives or unarchives memories: all of them, or none if one does not have its version any more.
   *
   * @returns whether it was done
   */
  archive(
    caller: Caller,
    memories: readonly (readonly [id: number, version: number])[],
    isArchived: boolean,
  ): Promise<boolean>
  /** The captured entry of a session that the scope may read, by its thread; null when there is none. */
  entryOf(scope: Scope, threadId: string): Promise<number | null>
  /** Returns sessions of all organizations that are due and idle, or whose writer died, longest due first. */
  due(silentSince: Millis, limit: number): Promise<readonly PendingSession[]>
  /** Marks a session as being written. @returns false when it has changed, or is being written already */
  claim(session: PendingSession): Promise<boolean>
  /**
   * Returns the memories of a project and those without project, by section, and the newest captured session of the place.
   *
   * @param isApproved whether only entries count whose current version a person has approved
   */
  startMemories(scope: Scope, place: StartPlace, except: string | null, isApproved?: boolean): Promise<StartMemories>
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
  /** Returns captured sessions of the scope's owner that await review, at most `most`. */
  waiting(scope: Scope, most: number): Promise<readonly WaitingSession[]>
  /** Deletes the state of sessions of a project, so that no further checkpoint is written. */
  forgetSessions(scope: Scope, project: string, owner: string | null): Promise<void>
  /**
   * Deletes old rows: events and start texts by arrival, sessions by last activity if nothing is pending.
   * A batch covers a bounded part.
   *
   * @param cursor `next` of the previous batch; null at the start
   */
  forget(
    before: { readonly events: Millis; readonly sessions: Millis; readonly uses: Millis },
    cursor: string | null,
  ): Promise<{ readonly gone: number; readonly next: string | null }>
}
