import type { DecodedImage } from '../domain/entry/image'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

export interface StoredObject {
  readonly org: string
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly uploadedAt: Millis
}

/** Stores image bytes by organization and content hash: equal bytes are one object, and every put can be repeated. */
export interface ImageStore {
  /** Why images cannot be stored, as a sentence for the caller, in a deployment without image storage; else null. */
  readonly refusal: string | null
  put(scope: Scope, image: Pick<DecodedImage, 'hash' | 'mimeType' | 'bytes'>): Promise<void>
  /** Null when the object does not exist. */
  get(scope: Scope, hash: string): Promise<Uint8Array | null>
  delete(scope: Scope, hash: string): Promise<void>
  /** Lists some objects of all organizations in key order; `cursor` is null at the end. For the cleanup of orphans. */
  list(cursor: string | null): Promise<{ objects: readonly StoredObject[]; cursor: string | null }>
}
