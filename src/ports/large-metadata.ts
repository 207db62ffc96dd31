import type { Scope } from '../domain/identity/scope'
import type { Filter } from '../domain/search/filter'

/** Metadata of one entry, as JSON. */
interface WrittenMetadata {
  readonly id: number
  readonly json: string
}

/** Which entries are looked at. */
export interface LargeRequest {
  /** What is asked of them beside their metadata. */
  readonly filter: Filter
  /** Their metadata have more bytes; no less than `LARGE`. */
  readonly above: number
  /** They have a higher id. */
  readonly after: number
}

/** Behind which id to go on; null where there are no more. */
type Last = { readonly last: number | null }

/** Listed entries with metadata that are too large for a statement to look at those of many. Each method is one round trip. */
export interface LargeMetadata {
  /** The next ones in the order of ids that scope and filter admit: about a megabyte of them, at least one where there are any. */
  next(scope: Scope, request: LargeRequest): Promise<Last & { readonly metadata: readonly WrittenMetadata[] }>

  /**
   * The same of as many as one statement may look at.
   *
   * @param of conditions on metadata that a statement may ask of metadata of any size
   * @returns the ids of those that fulfil them
   */
  admitted(scope: Scope, request: LargeRequest, of: Filter): Promise<Last & { readonly ids: readonly number[] }>
}
