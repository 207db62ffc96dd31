import { type Layer, readerOf } from '../entry/entry'
import type { NewEntry } from '../entry/entry-write'
import { type Kind, kindOfTags, resolveKind } from '../entry/kind'
import { type Audience, type JsonValue, type Metadata, own } from '../entry/metadata'
import type { Millis } from '../time'
import type { Reported } from './failure-key'
import { typeOfKind } from './memory'

/** Deduplicates equal memories (fabric contract §3): storing a memory again updates the existing one. */

/** The properties that make two memories equal. */
export interface EqualityKey {
  readonly layer: Layer
  readonly project: string | null
  /** The fabric type. */
  readonly type: string
  readonly textHash: string
  /** '' for everyone whose scope reaches it. */
  readonly reader: string
  /** Present where memories are equal only if these properties are equal too. */
  readonly named?: NamedMemory
}

/** Further properties that `remember` compares. */
export interface NamedMemory {
  readonly title: string
  readonly kind: Kind
  readonly owner: string | null
  readonly audience: Audience
}

/** An entry, reduced to the properties that are compared. */
export interface EqualEntry extends Pick<NewEntry, 'lifted' | 'layer' | 'textHash' | 'source' | 'owner' | 'createdBy'> {
  readonly tags?: readonly string[] | null | undefined
}

/**
 * The properties by which an entry equals a memory. @param byName whether title, kind, owner and audience must be equal
 * too
 */
export function equalityKeyOf(entry: EqualEntry, byName: boolean): EqualityKey {
  const { lifted, layer, textHash, source, tags, owner } = entry
  const kind = resolveKind(lifted.namedKind, kindOfTags(tags ?? []), lifted.workItem, source)
  const { title, audience } = lifted
  return {
    ...{ layer, textHash, project: lifted.project, type: typeOfKind(kind), reader: readerOf(lifted, entry) },
    ...(byName && title !== null ? { named: { title, kind, owner, audience } } : {}),
  }
}

/** An existing memory that equals the one to store. */
export interface EqualMemory {
  readonly id: number
  readonly tags: readonly string[]
  /** Metadata as they are shown, defaults included. */
  readonly shown: Metadata
  readonly pinned: boolean
  /** Its links, as "relation:id". */
  readonly links: ReadonlySet<string>
  /** ID of the memory that supersedes it, as the caller can see. */
  readonly supersededBy?: number
}

/** The update of an equal memory. An empty update is recorded in the audit log only. */
export interface DuplicateUpdate {
  readonly id: number
  /** Tags to add to those that the memory has at the time of the write, without those that it had when it was read. */
  readonly tags: readonly string[]
  /** Milliseconds until it expires, in layer 1. */
  readonly lasts: Millis | null
}

/** A further report of a failure. */
export interface FailureCount {
  readonly id: number
  /** ISO 8601. */
  readonly lastSeen: string
}

/** The preconditions of a batch that stores memories, and its updates of existing ones. */
export interface DuplicatePolicy {
  /** Memories that had the failure key when it was read. The batch fails if there is another one now. */
  readonly problem: {
    readonly project: string | null
    readonly key: string
    readonly known: readonly Reported[]
  } | null
  readonly count: FailureCount | null
  readonly renewals: readonly DuplicateUpdate[]
  /** Set where memories are equal only if title, kind, owner and audience are equal too. */
  readonly byName?: true
}

/**
 * The existing memories changed since they were read: an equal one was added, one was deleted, or one has too many
 * tags. The caller reads them again.
 */
export class DuplicateConflict extends Error {
  constructor() {
    super('the memories to deduplicate against have changed')
    this.name = 'DuplicateConflict'
  }
}

/** Metadata keys about the origin of a memory. They can differ without a warning. */
const ORIGIN = ['tags', 'projectPath', 'project', 'kind', 'type', 'sessionId', 'cliType', 'eventTimestamp', 'problem']

/** Whether two values are equal, regardless of the order of keys. */
function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b
  const [ours, theirs] = [a as Metadata, b as Metadata]
  const keys = Object.keys(ours)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(theirs).length &&
    keys.every((key) => Object.hasOwn(theirs, key) && isSame(ours[key], theirs[key]))
  )
}

/**
 * Names of requested properties that the existing memory does not have. @param asked metadata as they would be stored
 */
export function differingFields(
  { shown, pinned }: EqualMemory,
  asked: { readonly metadata: Metadata; readonly pinned?: boolean | undefined },
): string[] {
  const has: Metadata = { audience: 'org', ...shown, pinned }
  const keys = Object.keys(asked.metadata).filter((key) => !ORIGIN.includes(key) && asked.metadata[key] !== null)
  return [
    ...keys.filter((key) => !isSame(asked.metadata[key], own(has, key))).map((key) => `metadata.${key}`),
    ...(asked.pinned === undefined || asked.pinned === pinned ? [] : ['pinned']),
  ]
}
