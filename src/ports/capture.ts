import type { Gathered } from '../domain/capture/gathered'
import type { ComparedMemory, MemoryUse } from '../domain/capture/memory-use'
import type { Standing } from '../domain/capture/recalled'
import type { AddressingEntry, ReviewedEntry, ReviewQuery } from '../domain/capture/review'
import type { NamedMemory, SessionUse } from '../domain/capture/usage'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** What the last checkpoint of a session wrote. */
export interface Written {
  readonly entryId: number
  /** Of its title and text, so that words which did not change are no write. */
  readonly digest: string
  /** Milliseconds since 1970. */
  readonly at: Millis
  /** Somebody has kept, dropped or reworded the entry: nothing more is written of the session. */
  readonly closed?: true
}

/** A session as it was last gathered. */
export interface CapturedSession {
  /** `<client>:<id>`, within its org and owner. */
  readonly name: string
  /** Rises with every change; a write names the one it has read. 0: there is no row yet. */
  readonly revision: number
  readonly gathered: Gathered
  readonly written: Written | null
  /** When somebody began to write its checkpoint; null when nobody does. */
  readonly claimedAt: Millis | null
  /** From when on the schedule writes it, once it is silent; null when nothing is left to be written. */
  readonly dueAt: Millis | null
}

/** A session that is to be written, with whoever captured it. */
export interface DueSession extends CapturedSession {
  readonly org: string
  readonly owner: string
  readonly keyId: string
  readonly agent: string | null
}

/** An event that has arrived. */
interface ArrivedEvent {
  readonly id: string
  /** The text that it was answered with; null for none. */
  readonly output: string | null
}

/** What is kept together of one request: all of it or nothing. */
interface Arrival {
  readonly events: readonly ArrivedEvent[]
  readonly sessions: readonly (Pick<CapturedSession, 'name' | 'revision' | 'gathered' | 'claimedAt'> & {
    /** A session that was due when it was read may stay so, which writes less; else as `CapturedSession` has it. */
    readonly dueAt: Millis | null | 'stays'
  })[]
}

/** Where an owner's sessions are told what stands: a project and a branch. */
export interface StartPlace {
  readonly project: string | null
  readonly branch: string | null
}

/** What the hooks of clients have captured. Scopes have an owner: whose sessions are meant. */
export interface CaptureStore {
  /** Of these, the events that have arrived before with what they were answered, and the sessions that are known. */
  known(
    scope: Scope,
    events: readonly string[],
    sessions: readonly string[],
  ): Promise<{ readonly events: ReadonlyMap<string, string | null>; readonly sessions: readonly CapturedSession[] }>
  /**
   * Keeps what has arrived.
   *
   * @param by the key, and the agent it stamps
   * @throws Problem conflict, retryable, when a session has moved on or an event has arrived meanwhile
   */
  keep(scope: Scope, by: { readonly keyId: string; readonly agent: string | null }, arrival: Arrival): Promise<void>
  /**
   * Notes the entry that a checkpoint wrote. The session is due no more unless something arrived meanwhile.
   *
   * @param use what the session did with memories, stored in its one row of that
   */
  wrote(
    scope: Scope,
    session: Pick<CapturedSession, 'name' | 'revision' | 'gathered'>,
    written: Written | null,
    use: readonly MemoryUse[],
  ): Promise<void>
  /** Of these memories, those that the scope may read: titles, files and first characters. */
  compared(scope: Scope, ids: readonly number[]): Promise<readonly ComparedMemory[]>
  /**
   * Rows of use of sessions of every owner, in the projects that the scope reaches, newest first.
   *
   * @param id only sessions that have to do with this memory; null for all
   */
  uses(scope: Scope, since: Millis, id: number | null): Promise<readonly SessionUse[]>
  /** The time of the oldest row of use; null without one. */
  firstUse(scope: Scope): Promise<Millis | null>
  /** Of these memories, those that lists show. */
  named(scope: Scope, ids: readonly number[]): Promise<readonly NamedMemory[]>
  /** The oldest memories that the scope may change, not changed since a time, and none of these. */
  unused(scope: Scope, before: Millis, used: readonly number[], limit: number): Promise<readonly NamedMemory[]>
  /**
   * Archives memories, or brings them back: all of them, or none where one is not there at its version.
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
  /** Sessions of all orgs that are due and of which nothing has arrived since, or whose writer died, the longest first. */
  due(silentSince: Millis, limit: number): Promise<readonly DueSession[]>
  /** Says that somebody writes it now. @returns false when it has moved on, or somebody else does */
  claim(session: DueSession): Promise<boolean>
  /**
   * The memories of a project and of none, by facet, and the newest captured session of the place.
   * @param isApproved whether only entries count of which a person has approved the current version
   */
  standing(scope: Scope, place: StartPlace, except: string | null, isApproved?: boolean): Promise<Standing>
  /** The digest of what an owner's sessions were last told there; null when they never were. */
  lastStart(scope: Scope, place: StartPlace): Promise<string | null>
  noteStart(scope: Scope, place: StartPlace, digest: string): Promise<void>
  /**
   * Captured entries of a project, those that were dropped and are kept in history included, unread.
   *
   * @param owner whose; null for everybody's
   */
  captured(
    scope: Scope,
    project: string,
    owner: string | null,
    limit: number,
  ): Promise<readonly { readonly id: number; readonly owner: string | null }[]>
  /** Of these entries, those whose version that stands a person has approved. */
  approved(scope: Scope, ids: readonly number[]): Promise<ReadonlySet<number>>
  /**
   * Listed entries that the scope may change, whose texts address an agent and that are not approved, the newest first.
   *
   * @param all also those whose texts do not address an agent
   */
  addressing(scope: Scope, limit: number, all?: boolean): Promise<readonly AddressingEntry[]>
  /** Approves a version of an entry that the caller may change. @returns whether it still is at that version */
  approve(caller: Caller, id: number, version: number): Promise<boolean>
  /** Captured entries that are the scope's to change, newest first, behind a place. */
  review(scope: Scope, query: ReviewQuery): Promise<readonly ReviewedEntry[]>
  /** How many captured sessions of the scope's owner wait for review; counts no further than `most`. */
  waiting(scope: Scope, most: number): Promise<number>
  /** Forgets what was gathered of a project, so that nothing more is written of it. */
  forgetSessions(scope: Scope, project: string, owner: string | null): Promise<void>
  /**
   * Forgets what is older: events and starts by when they arrived, sessions by when something last did and nothing is left to be written.
   * A round goes through a bounded part.
   *
   * @param cursor what the round before answered; null at the start
   */
  forget(
    before: { readonly events: Millis; readonly sessions: Millis; readonly uses: Millis },
    cursor: string | null,
  ): Promise<{ readonly gone: number; readonly next: string | null }>
}
