/** Who asks, as far as storage is concerned. The first argument of every port method, so that forgetting it does not compile. */
export interface Scope {
  /** Tenant. Comes from the credential, never from an argument. */
  readonly org: string
  /** Projects the credential is narrowed to, or null for every project of the org. */
  readonly projects: readonly string[] | null
  /** Whose private entries are visible; null for none. */
  readonly owner: string | null
}

export type Role = 'reader' | 'writer' | 'admin'

/** A caller whose credential has been accepted. */
export interface Principal extends Scope {
  readonly role: Role
  /** Name stamped on what this credential writes, when the entry names no agent itself. */
  readonly agent: string | null
  /** Stamped on what it writes as `created_by`. */
  readonly keyId: string
}
