import type { AuditRow } from '../domain/identity/audit'
import type { ApiKey } from '../domain/identity/identity'
import type { PersonalData } from '../domain/identity/person'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** A session that hooks of a coding agent reported, as far as it is stored outside of entries. */
export interface StoredSession {
  readonly session: string
  readonly project: string
  readonly seenAt: Millis
  /** JSON of the collected state. */
  readonly state: string
}

/** The data of a person outside of entries. */
export interface PersonRecord {
  readonly keys: readonly ApiKey[]
  readonly sessions: readonly StoredSession[]
  /** The use of memories in sessions: JSON of entry IDs and bits. */
  readonly uses: readonly { readonly session: string; readonly at: Millis; readonly memories: string }[]
  /** Calls of each key on each day. */
  readonly usage: readonly {
    readonly key: string
    readonly at: Millis
    readonly calls: number
    readonly tokens: number
  }[]
  readonly lastSeen: readonly { readonly agent: string; readonly project: string; readonly at: Millis }[]
}

/** The data of one owner, across all projects. Every method names the organization. */
export interface PeopleStore {
  /** Counts the data that leaving would revoke, hand over or erase. */
  count(org: string, owner: string): Promise<PersonalData>

  /** Returns what is stored of a person outside of entries and the audit log. */
  record(org: string, owner: string): Promise<PersonRecord>

  /** Returns a page of the audit rows that the keys of a person caused. */
  actions(org: string, owner: string, after: number, limit: number): Promise<readonly AuditRow[]>

  /**
   * Revokes the keys and hands over a bounded part of the private data, in one transaction with its audit row. Entries keep their versions.
   *
   * @returns the number of entries and versions handed over
   */
  handOver(caller: Caller, owner: string, to: string): Promise<number>

  /**
   * Revokes the keys and erases a bounded part of the private data that is not in entries, in one transaction with its audit row.
   *
   * @returns the number of erased rows
   */
  eraseTraces(caller: Caller, owner: string): Promise<number>

  /** Returns IDs of private entries, and of deleted ones of which data remains; at most `limit`. */
  privateIds(scope: Pick<Scope, 'org'>, owner: string, limit: number): Promise<number[]>

  /**
   * Erases a bounded number of private earlier versions of entries that others can read now, in one transaction with its audit row.
   *
   * @returns the number
   */
  eraseVersions(caller: Caller, owner: string): Promise<number>
}
