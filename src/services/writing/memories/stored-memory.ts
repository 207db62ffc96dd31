import type { EntryDraft } from '../../../domain/entry/draft'
import type { Layer } from '../../../domain/entry/entry'
import { kindOfMetadata } from '../../../domain/entry/kind'
import { type Metadata, own } from '../../../domain/entry/metadata'
import { statusWarnings } from '../../../domain/entry/work'
import { differing, type Equal } from '../../../domain/recall/equal'
import type { MemoryType } from '../../../domain/recall/memory'
import { type Outcome, onlyValue } from '../../outcome'
import { type StoredEntry, VECTORS_LATER } from '../entries/stored-entry'

/** A memory that is to be stored, and what became of it: new, or one that stood there already (fabric contract §3). */

export interface MemoryDraft {
  readonly type: MemoryType
  readonly content: string
  /** Known keys are checked. */
  readonly metadata: Metadata
  readonly layer?: Layer | undefined
  /** Seconds. */
  readonly ttl?: number | undefined
  readonly pinned?: boolean | undefined
}

export interface StoredMemory {
  readonly id: number
  readonly layer: Layer
  readonly pinned: boolean
  /** It stood there already. */
  readonly existing: boolean
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
}

/** A memory as an entry, which knows its layer. */
export type LayeredDraft = EntryDraft & { readonly memory: NonNullable<EntryDraft['memory']> }

/** What a store notes of each memory before its write: what it is, whether it stood there, and what there is to say. */
export interface PlannedMemory extends Pick<StoredMemory, 'layer' | 'pinned' | 'warnings'> {
  /** The one that stood there; null for one to be stored. */
  readonly met: number | null
}

/** @param metadata as they would be kept */
export function warningsOf(
  { ttl, pinned }: MemoryDraft,
  { memory: { layer }, metadata }: LayeredDraft,
  equal: Equal | null,
): string[] {
  // The argument is in the metadata too, and is named once.
  const differences = equal === null ? [] : differing(equal, { metadata: metadata ?? {}, pinned })
  const others = differences.filter((name) => pinned === undefined || name !== 'metadata.pinned')
  const by = equal?.supersededBy
  return [
    ...(ttl !== undefined && layer !== 1 ? ['ttl applies to layer 1 only'] : []),
    ...statusWarnings(kindOfMetadata(metadata ?? null), own(metadata ?? null, 'status')),
    ...(others.length === 0 ? [] : [`Memory ${equal?.id} stood there already and keeps its own ${others.join(', ')}`]),
    ...(by === undefined
      ? []
      : [`Memory ${equal?.id} stood there already, and ${by} takes its place: packs leave it out`]),
  ]
}

/** What became of each memory. @param outcomes of those that did not stand there, in order */
export function memoriesAs(
  planned: readonly PlannedMemory[],
  outcomes: readonly Outcome<Pick<StoredEntry, 'id' | 'evicted' | 'made'> | null>[],
): StoredMemory[] {
  const failed = outcomes.find((outcome) => !outcome.ok)
  if (failed?.ok === false) throw failed.problem
  const stored = outcomes.values()
  return planned.map(({ met, ...common }) => {
    if (met !== null) return { ...common, id: met, existing: true, evicted: [] }
    const { value: outcome } = stored.next()
    const { id, evicted, made } = onlyValue(outcome === undefined ? [] : [outcome])
    const later = made.includes('embedding queued') ? [VECTORS_LATER] : []
    return { ...common, id, evicted, warnings: [...common.warnings, ...later], existing: false }
  })
}
