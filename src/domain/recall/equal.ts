import { type Layer, readerOf } from '../entry/entry'
import type { NewEntry } from '../entry/entry-write'
import { type Kind, kindOfTags, resolveKind } from '../entry/kind'
import { type Audience, type JsonValue, type Metadata, own } from '../entry/metadata'
import type { Millis } from '../time'
import { typeOfKind } from './memory'
import type { Reported } from './problem'

/** Equal memories are one (fabric contract §3): what a store does where its memory stands there already. */

/** What makes two memories equal. */
export interface Sameness {
  readonly layer: Layer
  readonly project: string | null
  /** The fabric type. */
  readonly type: string
  readonly textHash: string
  /** '' for everybody whose scope reaches it. */
  readonly reader: string
  /** Present where memories are equal only if these are equal too. */
  readonly named?: NamedMemory
}

/** What `remember` compares besides. */
export interface NamedMemory {
  readonly title: string
  readonly kind: Kind
  readonly owner: string | null
  readonly audience: Audience
}

/** An entry as far as it can be equal to a memory. */
export interface EqualEntry extends Pick<NewEntry, 'lifted' | 'layer' | 'textHash' | 'source' | 'owner' | 'createdBy'> {
  readonly tags?: readonly string[] | null | undefined
}

/** Returns the fields by which an entry is equal to a memory. @param byName whether title, kind, owner and audience have to be equal too */
export function samenessOf(entry: EqualEntry, byName: boolean): Sameness {
  const { lifted, layer, textHash, source, tags, owner } = entry
  const kind = resolveKind(lifted.namedKind, kindOfTags(tags ?? []), lifted.workItem, source)
  const { title, audience } = lifted
  return {
    ...{ layer, textHash, project: lifted.project, type: typeOfKind(kind), reader: readerOf(lifted, entry) },
    ...(byName && title !== null ? { named: { title, kind, owner, audience } } : {}),
  }
}

/** A memory that stands there. */
export interface Equal {
  readonly id: number
  readonly tags: readonly string[]
  /** As they are shown, with what holds where they say nothing. */
  readonly shown: Metadata
  readonly pinned: boolean
  /** Its links, as "relation:id". */
  readonly links: ReadonlySet<string>
  /** What takes its place, for who asks. */
  readonly supersededBy?: number
}

/** What a store does to an equal memory; often nothing but to be noted in the audit log. */
export interface Renewal {
  readonly id: number
  /** Come to those that it has by then; the ones that it had when it was read are left out. */
  readonly tags: readonly string[]
  /** Milliseconds from now until it ends, in layer 1. */
  readonly lasts: Millis | null
}

/** A further report of a problem. */
export interface Count {
  readonly id: number
  /** ISO 8601. */
  readonly lastSeen: string
}

/** What a batch that stores memories presupposes, and does to those that stand there. */
export interface DuplicatePolicy {
  /** What stood under the key when it was looked for; nothing has come to it. */
  readonly problem: {
    readonly project: string | null
    readonly key: string
    readonly known: readonly Reported[]
  } | null
  readonly count: Count | null
  readonly renewals: readonly Renewal[]
  /** Memories are equal only if title, kind, owner and audience are equal too. */
  readonly byName?: true
}

/** An equal memory stands there already, or what was to be met is gone, or has no room for more tags. */
export class DuplicateConflict extends Error {
  constructor() {
    super('memories that are met again stand otherwise')
    this.name = 'MeetingFailed'
  }
}

/** What a store names that may differ without a word: where it came from. */
const ORIGIN = ['tags', 'projectPath', 'project', 'kind', 'type', 'sessionId', 'cliType', 'eventTimestamp', 'problem']

/** Whether two values say the same, in whichever order their keys stand. */
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

/** Names of what a store asks for and the memory has otherwise. @param asked metadata as they would be kept */
export function differing(
  { shown, pinned }: Equal,
  asked: { readonly metadata: Metadata; readonly pinned?: boolean | undefined },
): string[] {
  const has: Metadata = { audience: 'org', ...shown, pinned }
  const keys = Object.keys(asked.metadata).filter((key) => !ORIGIN.includes(key) && asked.metadata[key] !== null)
  return [
    ...keys.filter((key) => !isSame(asked.metadata[key], own(has, key))).map((key) => `metadata.${key}`),
    ...(asked.pinned === undefined || asked.pinned === pinned ? [] : ['pinned']),
  ]
}
