import type { Scope } from '../identity/scope'
import type { Entry } from './entry'
import { audienceOf, diaryOf, type ExtractedMetadata, extractMetadata, isCaptured } from './extracted-metadata'
import { AUDIENCES, type Metadata, own } from './metadata'

/** Metadata and project of an entry, which determine who can read it (platform contract §5). */
export interface Readable {
  readonly metadata: Metadata | null
  readonly project: string | null
}

/** The fields that determine who can read an entry. */
export type ReaderField = 'audience' | 'project' | 'diary' | 'captured'

/** The fields in which `next` can be read by more readers than `present`. */
export function widenedFields(present: Readable, next: Readable): ReaderField[] {
  const rank = ({ metadata }: Readable) => AUDIENCES.indexOf(audienceOf(metadata))
  return [
    ...(rank(present) > rank(next) ? (['audience'] as const) : []),
    ...(present.project !== null && present.project !== next.project ? (['project'] as const) : []),
    ...(diaryOf(present.metadata) && !diaryOf(next.metadata) ? (['diary'] as const) : []),
    ...(isCaptured(present.metadata) && !isCaptured(next.metadata) ? (['captured'] as const) : []),
  ]
}

/** A captured session expires, so its expiry is handled together with the mark. */
const KEYS: Record<ReaderField, readonly string[]> = {
  audience: ['audience'],
  project: ['project'],
  diary: ['diary'],
  captured: ['captured', 'expires_at'],
}

/** An older state, with the current value of fields in which it would have more readers. */
export interface NarrowedState {
  readonly metadata: Metadata
  readonly lifted: ExtractedMetadata
  readonly fields: readonly ReaderField[]
}

/**
 * Adjusts an older state for restoring, so that no more readers can see it than the current one.
 * @returns null when the older state needs no adjustment
 */
export function narrowToPresent(scope: Scope, state: Entry, present: Readable): NarrowedState | null {
  const fields = widenedFields(present, state)
  if (fields.length === 0) return null
  const metadata: Metadata = Object.assign(Object.create(null), state.metadata)
  for (const key of fields.flatMap((field) => KEYS[field])) {
    const value = own(present.metadata, key)
    if (value === undefined) delete metadata[key]
    else metadata[key] = value
  }
  const project = fields.includes('project') ? present.project : state.project
  return { metadata, lifted: extractMetadata(metadata, scope, state.agent, project), fields }
}
