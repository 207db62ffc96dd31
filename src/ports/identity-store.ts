import type { AuditEvent } from '../domain/identity/audit'
import type { ApiKey, Org, Project } from '../domain/identity/identity'
import type { KeyLimits } from '../domain/identity/key-limits'
import type { Millis } from '../domain/time'

/**
 * Organizations, projects and keys. A method that writes commits together with the audit row of its event. Failures: `unavailable` when the
 * database does not respond, as for the entry store.
 */
export interface IdentityStore {
  /** @throws Problem conflict when the id exists */
  createOrg(org: Org, event: AuditEvent): Promise<void>
  /** Lists organizations by id; all of them, or those named. */
  orgs(ids?: readonly string[]): Promise<Org[]>

  /** @throws Problem conflict when the project was created before */
  createProject(org: string, project: Project, event: AuditEvent): Promise<void>

  /** Returns every owner that a key of the organization has or had, and the owners of imported entries. */
  owners(org: string): Promise<string[]>
  /**
   * Creates a key.
   *
   * @param hash SHA-256 of the key, hexadecimal
   * @param newOwner whether the key's owner must be a new one
   * @throws Problem conflict when the owner exists, or a usable key of another owner of the organization has the key's address
   */
  createKey(key: ApiKey, hash: string, event: AuditEvent, newOwner: boolean): Promise<void>
  /** Lists keys of one organization, oldest first, including revoked ones, with the entries stored today. */
  keys(org: string): Promise<ApiKey[]>
  keyByHash(hash: string): Promise<{ readonly key: ApiKey; readonly hash: string } | null>
  keyById(id: string): Promise<ApiKey | null>
  /**
   * Creates a key that replaces another one, which ends at a time unless it ends earlier. False when that one is revoked; then nothing
   * is written.
   *
   * @throws Problem conflict when a usable key of another owner of the organization has the key's address
   */
  replaceKey(old: string, endsAt: Millis, key: ApiKey, hash: string, event: AuditEvent): Promise<boolean>
  /** Returns the newest usable key with this address of each organization, the newest first; keys of one organization hide no other's. */
  keysByEmail(email: string): Promise<ApiKey[]>
  /** Returns keys of all organizations that can be used and end in this time, the next first; at most `limit`. */
  expiringKeys(from: Millis, until: Millis, limit: number): Promise<ApiKey[]>
  /** Revokes keys that are not revoked yet. False when all of them were; then nothing is written. */
  revokeKeys(org: string, ids: readonly string[], at: Millis, event: AuditEvent): Promise<boolean>
  /** Sets whether sessions of a key are captured. False for a key that is revoked or of another organization. */
  setCaptures(org: string, id: string, captures: boolean, event: AuditEvent): Promise<boolean>
  /** Sets the limits of a key. False for a key that is revoked or of another organization. */
  setLimits(org: string, id: string, limits: KeyLimits, event: AuditEvent): Promise<boolean>
  /** Lists keys of one organization that can be used and have stored most of their quota today. */
  keysNearQuota(org: string): Promise<ApiKey[]>
  /** Records the use of a key; for maintenance, not audited. */
  noteUse(id: string, at: Millis): Promise<void>
  /** Returns whether any key was ever made. */
  hasKeys(): Promise<boolean>
}
