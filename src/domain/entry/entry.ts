import type { Millis } from '../time'
import type { ImageRef } from './image'
import type { Kind } from './kind'
import type { ExtractedMetadata } from './lifted-metadata'
import type { Metadata } from './metadata'

export const SOURCES = ['user', 'agent'] as const
export type Source = (typeof SOURCES)[number]
export type ContentType = 'text' | 'multimodal'

/** Threads entries are layer 2 of their project (fabric contract §2). */
export type Layer = 1 | 2 | 3

/** The parts of an entry that stand in the store as the caller gave them. */
interface EntryContent {
  readonly text: string
  /** Null when none was ever given; `{}` stays `{}`. */
  readonly metadata: Metadata | null
  readonly tags: readonly string[]
  readonly images: readonly ImageRef[]
}

/** One memory, as the store returns it. */
export interface Entry extends EntryContent, Pick<ExtractedMetadata, 'title' | 'project' | 'agent'> {
  readonly id: number
  readonly threadId: string
  readonly source: Source
  readonly kind: Kind
  readonly layer: Layer
  /** Left out of lists and searches, still readable by id. The life cycle's word, never the metadata's. */
  readonly archived: boolean
  /** Written by the hooks of a client and kept by nobody yet; left out as an archived one is. */
  readonly captured: boolean
  /** The newest entry that the reader sees and that takes its place; absent where none does, and where it is not asked for. */
  readonly supersededBy?: number
  /** Generated; empty when there is none. */
  readonly summary: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  readonly updatedAt: Millis
  /** SHA-256 of the text, hexadecimal. */
  readonly textHash: string
  /** Who may read it: '' for everyone whose scope reaches it, else one owner. */
  readonly reader: string
  readonly owner: string | null
  readonly createdBy: string
  /** The creator that the imported file names; null where the entry was not imported by a key. */
  readonly importedFrom: string | null
  /** Whether a person has approved the current version. */
  readonly approved: boolean
  /** Who made the version that stands there; null where nobody is known. */
  readonly changedBy: string | null
  readonly changedAgent: string | null
}

/** An entry as lists and searches show it: the text may end after the first code points that were asked for. */
export interface EntryPreview extends Entry {
  readonly preview: true
  /** Code points of the whole text. */
  readonly chars: number
  /** Nothing stands beside the text, because the entries before it fill a result. */
  readonly bare?: true
}

/** An entry as it is read to be changed: a long text stays where it is. */
export interface EntryToChange extends Omit<Entry, 'text'> {
  readonly text: string | null
}

/** A vector of a stretch of the text, as it is stored beside the entry. */
export interface TextVector {
  /** Model and dimensions (`modelKey` of domain/vector). */
  readonly model: string
  readonly chunk: number
  /** Code points. */
  readonly start: number
  readonly length: number
  readonly data: string
}

/** What is made from a text by models; made before the write, or queued by it. */
export interface Generated {
  /** Null when none were made: switched off, or queued. */
  readonly vectors: readonly TextVector[] | null
  /** Empty when there is none. */
  readonly summary: string
  readonly queued: readonly GenerationTopic[]
}

export type GenerationTopic = 'embed' | 'summarize'

export const NOTHING_GENERATED: Generated = { vectors: null, summary: '', queued: [] }

/** Who may read an entry with this audience: '' for everyone in scope, else its owner. */
export const readerOf = (
  lifted: Pick<ExtractedMetadata, 'audience' | 'diary'>,
  by: { readonly owner: string | null; readonly createdBy: string },
): string => (lifted.audience === 'private' || lifted.diary ? (by.owner ?? by.createdBy) : '')

export const contentTypeOf = (entry: Pick<EntryContent, 'images'>): ContentType =>
  entry.images.length > 0 ? 'multimodal' : 'text'
