import type { Caller, Scope } from '../domain/identity/scope'
import type { Neighbor, PackEntry, PackLink, PackVector } from '../domain/pack/candidate'

/** The source of a pack: a scope, and the agent whose diary pages are included. */
export interface PackScope {
  readonly scope: Scope
  /** Null for none. */
  readonly diaryOf: string | null
  /** Whether to include only entries whose current version a person has approved (PACK_TRUST=approved). */
  readonly isApproved?: boolean
}

export interface UnconditionalRequest {
  /** The project of work in progress; null for work without a project. */
  readonly project: string | null
  readonly inFlight: number
  readonly diary: number
  /** Number of the newest rules, of decisions and of gotchas; 0 for none. */
  readonly newest: number
}

/** Entries that a pack includes independent of the goal, newest first. */
export interface UnconditionalEntries {
  readonly inFlight: readonly number[]
  readonly diary: readonly number[]
  readonly newest: readonly number[]
}

export interface GatherRequest {
  /** Known entries, with a preview of those that were read; null for the others. */
  readonly ids: readonly { readonly id: number; readonly text: string | null }[]
  /** Null: similarity is not searched. */
  readonly model: string | null
  /** Ids of vectors that an index found, most similar first. */
  readonly hits: readonly number[]
  /** Number of entries to return, from this many of the first visible vectors. */
  readonly near: number
  readonly vectors: number
  /** Vectors above this id are compared too, because the index has not confirmed them; the newest of them up to a limit. */
  readonly confirmedUpTo: number
  readonly unconfirmed: number
  /** Number of steps along links from the known or similar entries. */
  readonly steps: 0 | 1 | 2
  /** Maximum number of linked entries. */
  readonly linked: number
}

export interface Gathered {
  readonly entries: readonly PackEntry[]
  readonly vectors: readonly PackVector[]
  /** Links between known or similar entries and linked ones. */
  readonly links: readonly PackLink[]
}

/** A part of a text, in code points. */
export interface RequestedRange {
  readonly id: number
  readonly start: number
  readonly length: number
  /** In lower case; if the text contains it, the part starts a little before it. Empty for none. */
  readonly word: string
}

export interface FinishRequest {
  /** The items of the pack. */
  readonly ids: readonly number[]
  /** Parts of their texts to read. */
  readonly ranges: readonly RequestedRange[]
  /** Maximum number of neighbors of each item. */
  readonly related: number
  /** Maximum distance of these. */
  readonly steps: 0 | 1 | 2
  /** For the audit row: counts and contract words, never text. */
  readonly detail: Readonly<Record<string, number | string>>
}

export interface Finished {
  readonly ranges: ReadonlyMap<number, { readonly start: number; readonly text: string }>
  /** The neighbors of the items and, with two steps, their neighbors. */
  readonly neighbors: readonly Neighbor[]
  /** Entries that an item supersedes, and those that it contradicts or that contradict it. */
  readonly supersedes: readonly PackLink[]
  readonly contradicts: readonly PackLink[]
}

/** Reads the content of packs, restricted to the scope of the pack. The numbers of the request bound every read. */
export interface PackReads {
  unconditional(visibility: PackScope, request: UnconditionalRequest): Promise<UnconditionalEntries>
  /**
   * Returns the vectors in a scope limited to projects, up to a limit; null if there are more vectors or entries, or if the scope is not
   * limited to projects.
   */
  eligible(visibility: PackScope, model: string, limit: number): Promise<PackVector[] | null>
  gather(visibility: PackScope, request: GatherRequest): Promise<Gathered>
  /** Reads the items again, and writes the audit row of the pack in the same batch. */
  finish(caller: Caller, visibility: PackScope, request: FinishRequest): Promise<Finished>
}
