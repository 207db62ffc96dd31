import type { Caller, Scope } from '../domain/identity/scope'
import type { Neighbour, PackEntry, PackLink, PackVector } from '../domain/pack/candidate'

/** Whose memory a pack is made of: a scope, and the agent whose diary pages join it. */
export interface PackSight {
  readonly scope: Scope
  /** Null for none. */
  readonly diaryOf: string | null
  /** Whether only entries count of which a person has approved the current version (PACK_TRUST=approved). */
  readonly isApproved?: boolean
}

export interface StandingRequest {
  /** The project whose work in flight is meant; null for work of no project. */
  readonly project: string | null
  readonly inFlight: number
  readonly diary: number
  /** How many of the newest rules, of the decisions and of the gotchas; 0 for none. */
  readonly newest: number
}

/** What joins a pack whatever its words are, newest first. */
export interface Standing {
  readonly inFlight: readonly number[]
  readonly diary: readonly number[]
  readonly newest: readonly number[]
}

export interface GatherRequest {
  /** Entries that are known already, with the beginning of the text of those that were read; null of the others. */
  readonly ids: readonly { readonly id: number; readonly text: string | null }[]
  /** Null: meaning is not searched. */
  readonly model: string | null
  /** Ids of vectors that an index found, nearest first. */
  readonly hits: readonly number[]
  /** How many entries of these are wanted, of the first so many vectors that the sight admits. */
  readonly near: number
  readonly vectors: number
  /** Vectors above this id are looked at too, because the index has not confirmed them; the newest so many. */
  readonly confirmedUpTo: number
  readonly unconfirmed: number
  /** Steps along links from the entries that are known or near. */
  readonly steps: 0 | 1 | 2
  /** Most entries that links lead to. */
  readonly linked: number
}

export interface Gathered {
  readonly entries: readonly PackEntry[]
  readonly vectors: readonly PackVector[]
  /** Between the entries that are known or near and those that links lead to. */
  readonly links: readonly PackLink[]
}

/** A part of a text, in code points. */
export interface WantedStretch {
  readonly id: number
  readonly start: number
  readonly length: number
  /** In lower case; where the text holds it, the part begins a little before it. Empty for none. */
  readonly word: string
}

export interface FinishRequest {
  /** The items of the pack. */
  readonly ids: readonly number[]
  /** Parts of their texts that are still to be read. */
  readonly stretches: readonly WantedStretch[]
  /** Neighbours of each item that are wanted. */
  readonly related: number
  /** How far these may be. */
  readonly steps: 0 | 1 | 2
  /** Of the audit row: counts and words of the contract, never text. */
  readonly detail: Readonly<Record<string, number | string>>
}

export interface Finished {
  readonly stretches: ReadonlyMap<number, { readonly start: number; readonly text: string }>
  /** The neighbours of the items and, with two steps, theirs. */
  readonly neighbours: readonly Neighbour[]
  /** Entries that an item has taken the place of, and those that it contradicts or that contradict it. */
  readonly supersedes: readonly PackLink[]
  readonly contradicts: readonly PackLink[]
}

/**
 * Reads what packs are made of. Everything is confined to the sight, and bounded by the numbers of the request however much there is.
 */
export interface PackReads {
  standing(sight: PackSight, request: StandingRequest): Promise<Standing>
  /**
   * The vectors of what a narrowed scope admits, when there are at most so many; null when there are more of them or of entries, or when
   * the scope is not narrowed.
   */
  eligible(sight: PackSight, model: string, limit: number): Promise<PackVector[] | null>
  gather(sight: PackSight, request: GatherRequest): Promise<Gathered>
  /** The last look at the items, and the audit row of the pack, which commits with it. */
  finish(caller: Caller, sight: PackSight, request: FinishRequest): Promise<Finished>
}
