import type { Millis } from '../time'
import type { Entry, Generated, Layer, Source } from './entry'
import type { ExtractedMetadata } from './extracted-metadata'
import type { ImageRef } from './image'
import type { LinkTarget } from './link'
import type { Metadata } from './metadata'

/** Entries in the form in which they are written: a new entry, or the next state of one that was read. */

/** Pin and lifetime from the layer and the arguments of a store; metadata take precedence. */
export interface Life {
  readonly pinned: boolean
  /** Milliseconds until the layer expires it; null for no expiry. */
  readonly lasts: Millis | null
}

/** A change of an entry other than its content. */
export interface LifeChange {
  readonly pinned?: boolean
  /** Moves it to a layer without expiry. */
  readonly layer?: Layer
}

/** An entry at the version that was read. */
export interface EntryVersion {
  readonly id: number
  readonly version: number
}

/**
 * An entry to store. Parts that are `null` were not given: storing an equal entry again keeps the existing ones
 * (threads contract §2.2).
 */
export interface NewEntry {
  readonly threadId: string
  readonly source: Source
  readonly layer: Layer
  /** Absent where the caller set neither. */
  readonly life?: Life | undefined
  readonly text: string
  /** SHA-256 of the text, which identifies a repeated store. */
  readonly textHash: string
  readonly metadata: Metadata | null
  readonly lifted: ExtractedMetadata
  readonly links: readonly LinkTarget[]
  /** Links given as an argument: each target must exist, and writing metadata does not remove them. */
  readonly related?: readonly LinkTarget[] | undefined
  /**
   * The entries that it summarizes: linked from it by the system and archived in the same batch. The batch fails if one
   * has changed.
   */
  readonly digestOf?: readonly EntryVersion[] | undefined
  readonly tags: readonly string[] | null
  readonly images: readonly ImageRef[] | null
  /** A repeated store keeps the existing ones. */
  readonly generated: Generated
  /** Owner and key of the credential. */
  readonly owner: string | null
  readonly createdBy: string
}

/** The next state of an entry that was read at `version`. Absent parts do not change. */
export interface EntryChange {
  readonly id: number
  /** The version that was read; the change is rejected if the row has another one. */
  readonly version: number
  /** The number of updates in this change; the version increases by it. */
  readonly steps: number
  /** The states after each update except the last, each of which becomes a version. */
  readonly between?: readonly EntryChange[]
  /** The agent that the change names as its author, if it does. */
  readonly by?: string
  /** Present for memories: restores an archived one and records an access. */
  readonly life?: LifeChange
  readonly text?: { readonly text: string; readonly hash: string }
  /** Replaces vectors and summary; absent when the text does not change. */
  readonly generated?: Generated
  readonly metadata?: {
    readonly value: Metadata
    readonly lifted: ExtractedMetadata
    readonly links: readonly LinkTarget[]
  }
  /** Whether an approval of the version before counts for the new one too. */
  readonly keepsApproval?: true
  readonly tags?: readonly string[]
  readonly images?: readonly ImageRef[]
  /** The complete text and metadata after the change, for the search index; absent when the index is not affected. */
  readonly indexed?: IndexedContent
}

/** All states of a change, in order; the last one is the final state. */
export const statesOf = (change: EntryChange): readonly EntryChange[] => [...(change.between ?? []), change]

/** The content of the full-text index. Of the metadata, it uses code and file path. */
export interface IndexedContent
  extends Pick<Entry, 'threadId' | 'title' | 'project' | 'agent' | 'reader' | 'layer' | 'metadata' | 'captured'> {
  /** Null for a long text, which is read again when its words are indexed. */
  readonly text: string | null
}
