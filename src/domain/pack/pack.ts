import type { Metadata } from '../entry/metadata'
import type { Facet } from './facets'
import type { Intent } from './intents'
import type { PackLayer } from './request'

/** A pack as callers see it: the keys of the reference, all of them always present (packs contract). */
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
  readonly facet: Facet
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
  readonly facet: Facet
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

/** What the search did, and what it left out of what the caller may see. */
export interface Diagnostics {
  /** A leg of the search did not work. */
  readonly degraded: boolean
  readonly modes: readonly string[]
  readonly omitted: Omitted
}

export interface Omitted {
  /** Good hits beyond the limit. */
  readonly limit: number
  /** Chosen, and without room. */
  readonly budget: number
  readonly duplicate: number
  readonly superseded: number
}

/** Why something that was found stands in no pack. */
export type LeftOutWhy = keyof Omitted

/** One of what was left out, for a person who asks why. */
export interface LeftOut {
  readonly why: LeftOutWhy
  readonly id: number
  readonly name: string
  readonly type: string
  readonly score: number
}
