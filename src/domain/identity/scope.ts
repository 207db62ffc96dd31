import type { ReceiptDraft } from '../receipts/notes'
import type { PendingNames } from './project-attachment'

/** Projects that were merged and that a call names: all keys under which their entries are stored, as far as its scope reaches. */
export interface Merged {
  readonly merged?: ReadonlyMap<string, readonly string[]> | undefined
}

/** Who asks, as far as storage is concerned. The first argument of every port method, so that forgetting it does not compile. */
export interface Scope {
  /** Tenant. Comes from the credential, never from an argument. */
  readonly org: string
  /** Projects the credential is narrowed to, or null for every project of the org. */
  readonly projects: readonly string[] | null
  /** Whose private entries are visible; null for none. */
  readonly owner: string | null
  /** Of projects that were merged and that the call names: all keys under which their entries are stored, as far as the scope reaches. */
  readonly merged?: Merged['merged']
  /** Present for whoever administers the whole org with ADMIN_TOKEN, in exports and imports alone: what every reader sees is seen. */
  readonly isWhole?: true
}

/** From the one that may least to the one that may most. */
export const ROLES = ['reader', 'writer', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const mayAct = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** A caller whose credential has been accepted. */
export interface Principal extends Scope {
  readonly role: Role
  /** Name stamped on what this credential writes, when the entry names no agent itself. */
  readonly agent: string | null
  /** Stamped on what it writes as `created_by`. */
  readonly keyId: string
  /** The version of the org's directory of projects at the time when the credential was accepted; absent where it was not read. */
  readonly directory?: number
  /** Present where hooks may send what they like and nothing is captured (capture contract §4). */
  readonly captures?: false
}

/** A principal and what it is doing, as the audit log tells it. */
export interface Actor extends Principal {
  /** Name of the tool or route. */
  readonly action: string
  /** The same name where it is a tool's, else null. */
  readonly tool: string | null
}

/** One call of an actor. Whatever writes entries asks for one. */
export interface Caller extends Actor {
  /** Random; one a call, shared by every change that it makes. */
  readonly changeId: string
  /** Present where a person writes in the dashboard: what they write is approved, but for texts that address an agent. */
  readonly isPerson?: true
  /** Present when the call may be made again under a key of its own. */
  readonly receipt?: ReceiptDraft
  /** Names of projects that the write gives, in its own batch; it is refused where the directory has another version by then. */
  readonly names?: PendingNames
}

/** The keys under which the entries of a project are stored, as far as a scope reaches: several where others were merged into it. */
export const homesOf = ({ merged }: Merged, project: string): readonly string[] => merged?.get(project) ?? [project]

/**
 * Whether an entry that a principal reads may be changed by it, as far as that is known beforehand: for what is offered to a person. The
 * guard of each write decides (`changeable` of the SQL visibility room).
 */
export const mayChange = ({ role, projects }: Principal, { project }: { readonly project: string | null }): boolean =>
  mayAct(role, 'writer') && (projects === null || (project !== null && projects.includes(project)))
