import type { Scope } from '../domain/identity/scope'
import type { Filter } from '../domain/search/filter'

/** Metadata of one entry, as JSON. */
interface WrittenMetadata {
  readonly id: number
  readonly json: string
}

/** Selects the entries to check. */
export interface LargeRequest {
  /** Conditions other than those on metadata. */
  readonly filter: Filter
  /** Metadata size above this many bytes; at least `LARGE`. */
  readonly above: number
  /** They have a higher id. */
  readonly after: number
}

/** Id to continue after; null at the end. */
type Last = { readonly last: number | null }

/** Reads listed entries whose metadata are too large for one statement to check many. Each method is one round trip. */
export interface LargeMetadata {
  /** Returns the next ones in the order of ids that match scope and filter: about a megabyte of them, at least one if there are any. */
  next(scope: Scope, request: LargeRequest): Promise<Last & { readonly metadata: readonly WrittenMetadata[] }>

  /**
   * Checks as many as one statement may read.
   *
   * @param of conditions on metadata that a statement can check at any size
   * @returns the ids of matching entries
   */
  admitted(scope: Scope, request: LargeRequest, of: Filter): Promise<Last & { readonly ids: readonly number[] }>
}
