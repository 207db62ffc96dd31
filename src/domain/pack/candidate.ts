import type { Kind } from '../entry/kind'
import type { Metadata } from '../entry/metadata'
import type { QuantizedVector } from '../meaning/vector'
import type { Direction } from './pack'

/** An entry that may stand in a pack, as it is read to be weighed. */
export interface PackEntry {
  readonly id: number
  readonly kind: Kind
  readonly title: string | null
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly status: string | null
  readonly diary: boolean
  /** '' for everyone whose scope reaches it, else one owner. */
  readonly reader: string
  readonly pinned: boolean
  readonly weight: number
  readonly confidence: number | null
  /** Milliseconds since 1970, as every time here. */
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
  /** Null when there are none, or when they are too large to be read for this. */
  readonly metadata: Metadata | null
  /** The first code points of the text; the whole text when that has no more. */
  readonly beginning: string
  /** Code points of the whole text. */
  readonly chars: number
  /** Something that the caller sees has taken its place. */
  readonly superseded: boolean
}

/** Whether one was written after another; of one moment, whether it was the later one written. */
export const isLater = (a: PackEntry, b: PackEntry): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id > b.id)

/** A stretch of an entry's text and its vector. */
export interface PackVector {
  readonly entryId: number
  /** Code points. */
  readonly start: number
  readonly length: number
  readonly vector: QuantizedVector
}

/** A link from one entry to another; both are visible. */
export interface PackLink {
  readonly from: number
  readonly relation: string
  readonly to: number
}

/** An entry at the other end of a link, as it is named beside the first. */
export interface Neighbour {
  readonly of: number
  readonly id: number
  readonly kind: Kind
  readonly name: string
  readonly relation: string
  readonly direction: Direction
}

/** The nearest stretch of an entry. */
export interface ClosestVector extends PackVector {
  readonly cosine: number
  /** The dot product of its vector with itself. */
  readonly squares: number
}
