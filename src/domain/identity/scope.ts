import type { ReceiptDraft } from '../receipts/notes'
import type { KeyLimits } from './key-limits'
import type { PendingNames } from './project-attachment'

/**
 * Storage keys of merged projects that a call names, by the key of the project they were merged into; only keys that
 * the scope reaches.
 */
export interface MergedProjects {
  readonly merged?: ReadonlyMap<string, readonly string[]> | undefined
}

/**
 * The tenant, projects and owner that a call may read. The first argument of every port method, so that it cannot be
 * forgotten.
 */
export interface Scope {
  /** Tenant. Comes from the credential, never from an argument. */
  readonly org: string
  /** Projects the credential is narrowed to, or null for every project of the org. */
  readonly projects: readonly string[] | null
  /** The owner whose private entries are visible; null for none. */
  readonly owner: string | null
  /** Storage keys of the merged projects that the call names, as far as the scope reaches. */
  readonly merged?: MergedProjects['merged']
  /** Set for exports and imports with ADMIN_TOKEN: entries of every owner are visible. */
  readonly isWhole?: true
}

/** Roles, from the least to the most permissions. */
export const ROLES = ['reader', 'writer', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const mayAct = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** A caller whose credential has been accepted. */
export interface Principal extends Scope {
  readonly role: Role
  /** Agent recorded with entries that this credential writes without naming an agent. */
  readonly agent: string | null
  /** Recorded as `created_by` on entries that this credential writes. */
  readonly keyId: string
  /** Version of the project directory when the credential was accepted; absent where it was not read. */
  readonly directory?: number
  /** Present and false where events sent by hooks are not captured (capture contract §4). */
  readonly captures?: false
  /** When the key ends, in milliseconds since 1970; absent for a key without an end. */
  readonly expiresAt?: number
  /** Limits of the key, and the key whose counts it continues; absent where only those of the deployment hold. */
  readonly limits?: KeyLimits & { readonly countedAs: string }
}

/** A principal and the action it performs, as the audit log records it. */
export interface Actor extends Principal {
  /** Name of the tool or route. */
  readonly action: string
  /** The same name for a tool, null for a route. */
  readonly tool: string | null
}

/** One call of an actor. Every method that writes entries needs one. */
export interface Caller extends Actor {
  /** Random; one per call, shared by all changes of the call. */
  readonly changeId: string
  /**
   * Present for a write in the dashboard: a person approves it by writing it, except for texts that address an agent.
   */
  readonly isPerson?: true
  /** Present for a call with an idempotency key. */
  readonly receipt?: ReceiptDraft
  /**
   * Project names that the first batch of the call records. The batch fails if the directory has changed since they
   * were resolved.
   */
  readonly names?: PendingNames
}

/** The keys under which the entries of a project are stored, as far as a scope reaches; several after a merge. */
export const homesOf = ({ merged }: MergedProjects, project: string): readonly string[] =>
  merged?.get(project) ?? [project]

/**
 * Whether a principal may change an entry that it can read, for hiding controls in the dashboard. Each write checks
 * again in SQL (`changeable` in the visibility module).
 */
export const mayChange = ({ role, projects }: Principal, { project }: { readonly project: string | null }): boolean =>
  mayAct(role, 'writer') && (projects === null || (project !== null && projects.includes(project)))
