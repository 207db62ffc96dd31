import type { Millis } from '../time'
import type { Entry, Generated, Layer, Source } from './entry'
import type { ImageRef } from './image'
import type { ExtractedMetadata } from './lifted-metadata'
import type { LinkTarget } from './link'
import type { Metadata } from './metadata'

/** An entry as it is written: a new one, or the next state of one that was read. */

/** What a layer and the arguments of a store set; the writer's own word in metadata comes before it. */
export interface Life {
  readonly pinned: boolean
  /** Milliseconds until its layer lets go of it; null for as long as nobody removes it. */
  readonly lasts: Millis | null
}

/** What happens to an entry beside a change of its content. */
export interface LifeChange {
  readonly pinned?: boolean
  /** Moves it to a layer in which entries do not end. */
  readonly layer?: Layer
}

/** An entry as it was read. */
export interface EntryVersion {
  readonly id: number
  readonly version: number
}

/** An entry to be stored. `null` parts were not given: a repeated store keeps what stands there (threads contract §2.2). */
export interface NewEntry {
  readonly threadId: string
  readonly source: Source
  readonly layer: Layer
  /** Absent where nothing was asked for. */
  readonly life?: Life | undefined
  readonly text: string
  /** SHA-256 of the text, by which a repeated store is recognised. */
  readonly textHash: string
  readonly metadata: Metadata | null
  readonly lifted: ExtractedMetadata
  readonly links: readonly LinkTarget[]
  /** Links that an argument names: each target must be there, and no write of metadata removes them. */
  readonly related?: readonly LinkTarget[] | undefined
  /** What it sums up: linked from it by the system, and archived in the same batch, unless one has changed. */
  readonly digestOf?: readonly EntryVersion[] | undefined
  readonly tags: readonly string[] | null
  readonly images: readonly ImageRef[] | null
  /** A repeated store keeps what the entry has. */
  readonly generated: Generated
  /** The credential's owner and key. */
  readonly owner: string | null
  readonly createdBy: string
}

/** The next state of an entry that was read at `version`. Parts that are absent stay as they are. */
export interface EntryChange {
  readonly id: number
  /** The version that was read; the change is refused when the row has moved on. */
  readonly version: number
  /** How many updates this change stands for; the version rises by it. */
  readonly steps: number
  /** The states after each update but the last, where there are several: each is a version of its own. */
  readonly between?: readonly EntryChange[]
  /** The agent that the change names as its maker, where it does. */
  readonly by?: string
  /** Present in changes of memories: they bring an archived one back, as just used. */
  readonly life?: LifeChange
  readonly text?: { readonly text: string; readonly hash: string }
  /** Takes the place of the old vectors and summary; absent when the text stays what it was. */
  readonly generated?: Generated
  readonly metadata?: {
    readonly value: Metadata
    readonly lifted: ExtractedMetadata
    readonly links: readonly LinkTarget[]
  }
  readonly tags?: readonly string[]
  readonly images?: readonly ImageRef[]
  /** The whole text and metadata after the change, from which the search index is written; absent when it is unaffected. */
  readonly indexed?: IndexedContent
}

/** All states that a change leads through, in order; the last is the one that stays. */
export const statesOf = (change: EntryChange): readonly EntryChange[] => [...(change.between ?? []), change]

/** What the full-text index is made of: of the metadata, the code and the path of a file that stand there. */
export interface IndexedContent
  extends Pick<Entry, 'threadId' | 'title' | 'project' | 'agent' | 'reader' | 'layer' | 'metadata' | 'captured'> {
  /** Null where it is not at hand, because it is long: then it is read again when its words are written. */
  readonly text: string | null
}
