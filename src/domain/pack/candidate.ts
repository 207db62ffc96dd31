import type { Kind } from '../entry/kind'
import type { Metadata } from '../entry/metadata'
import type { QuantizedVector } from '../meaning/vector'
import type { Direction } from './pack'

/** An entry that is considered for a pack. */
export interface PackEntry {
  readonly id: number
  readonly kind: Kind
  readonly title: string | null
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly status: string | null
  readonly diary: boolean
  /** '' for everyone whose scope reaches it, else the one owner who can read it. */
  readonly reader: string
  readonly pinned: boolean
  readonly weight: number
  readonly confidence: number | null
  /** Milliseconds since 1970, like all times here. */
  readonly expiresAt: number | null
  readonly version: number
  /** SHA-256 of the text, hexadecimal. */
  readonly textHash: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly createdBy: string
  readonly imported: boolean
  /** Whether a person has approved the current version. */
  readonly approved: boolean
  readonly tags: readonly string[]
  /** Null without any, or when they are too large to load here. */
  readonly metadata: Metadata | null
  /** The start of the text, or all of a short one. */
  readonly beginning: string
  /** Code points of the complete text. */
  readonly chars: number
  /** Whether an entry that the caller can see supersedes it. */
  readonly superseded: boolean
}

/** Whether an entry was created after another; the ID decides for equal times. */
export const isLater = (a: PackEntry, b: PackEntry): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id > b.id)

/** A part of an entry's text and its vector. */
export interface PackVector {
  readonly entryId: number
  /** In code points. */
  readonly start: number
  readonly length: number
  readonly vector: QuantizedVector
}

/** A link between two visible entries. */
export interface PackLink {
  readonly from: number
  readonly relation: string
  readonly to: number
}

/** The entry at the other end of a link. */
export interface Neighbor {
  readonly of: number
  readonly id: number
  readonly kind: Kind
  readonly name: string
  readonly relation: string
  readonly direction: Direction
}

/** The most similar part of an entry. */
export interface ClosestVector extends PackVector {
  readonly cosine: number
  /** The dot product of its vector with itself. */
  readonly squares: number
}
