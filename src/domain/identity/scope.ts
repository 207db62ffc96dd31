import type { ReceiptDraft } from '../receipts/notes'

/** Who asks, as far as storage is concerned. The first argument of every port method, so that forgetting it does not compile. */
export interface Scope {
  /** Tenant. Comes from the credential, never from an argument. */
  readonly org: string
  /** Projects the credential is narrowed to, or null for every project of the org. */
  readonly projects: readonly string[] | null
  /** Whose private entries are visible; null for none. */
  readonly owner: string | null
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
}

/**
 * Whether an entry that a principal reads may be changed by it, as far as that is known beforehand: for what is offered to a person. The
 * guard of each write decides (`changeable` of the SQL visibility room).
 */
export const mayOffer = ({ role, projects }: Principal, { project }: { readonly project: string | null }): boolean =>
  mayAct(role, 'writer') && (projects === null || (project !== null && projects.includes(project)))
