import type { Metadata } from '../entry/metadata'
import type { PackLayer } from './pack-request'
import type { Intent, PackSectionName } from './sections'

/** A pack as callers see it. All keys are always present (packs contract). */
export interface Pack {
  readonly goal: string
  readonly intent: Intent
  readonly query: string
  readonly domain: string | null
  readonly project: string | null
  readonly layer: PackLayer
  readonly sections: readonly PackSection[]
  readonly total_items: number
  readonly usage_hint: string
  readonly markdown: string
  readonly diagnostics: Diagnostics
}

export interface PackSection {
  readonly facet: PackSectionName
  readonly title: string
  readonly items: readonly PackItem[]
}

export interface PackItem {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly content: string
  /** 0 to 1, comparable between calls. */
  readonly score: number
  readonly facet: PackSectionName
  readonly reason: string
  readonly source: string | null
  readonly quality: Quality
  readonly metadata: Metadata
  readonly related: readonly PackRelated[]
}

export interface Quality {
  readonly origin: string | null
  readonly source: string | null
  readonly url: string | null
  readonly created_at: string | null
  readonly updated_at: string | null
  readonly valid_at: string | null
  readonly project_id: string | null
}

export interface PackRelated {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly relationship: string
  readonly direction: Direction
  readonly distance: number
}

export type Direction = 'outgoing' | 'incoming'

/** How the search ran, and what the pack leaves out of the visible entries. */
export interface Diagnostics {
  /** Whether a retriever failed. */
  readonly degraded: boolean
  readonly modes: readonly string[]
  readonly omitted: Omitted
}

export interface Omitted {
  /** Number of good results beyond the limit. */
  readonly limit: number
  /** Number of chosen entries beyond the token budget. */
  readonly budget: number
  readonly duplicate: number
  readonly superseded: number
}

/** The reason why a result is not in the pack. */
export type OmissionReason = keyof Omitted

/** An omitted result, for a person who asks why. */
export interface OmittedEntry {
  /** `cut`: below half of the score of the best result. */
  readonly why: OmissionReason | 'cut'
  readonly id: number
  readonly name: string
  readonly type: string
  readonly score: number
}
