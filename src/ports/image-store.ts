import type { DecodedImage } from '../domain/entry/image'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

export interface StoredObject {
  readonly org: string
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly uploadedAt: Millis
}

/** Image bytes by org and hash of their content: equal bytes are one object, and every put may be repeated. */
export interface ImageStore {
  /** Why nothing can be put, as a sentence for the caller, in a deployment without a place for images; null where there is one. */
  readonly refusal: string | null
  put(scope: Scope, image: Pick<DecodedImage, 'hash' | 'mimeType' | 'bytes'>): Promise<void>
  /** Null when there is no such object. */
  get(scope: Scope, hash: string): Promise<Uint8Array | null>
  delete(scope: Scope, hash: string): Promise<void>
  /** Some objects of all orgs in key order; `cursor` null when these were the last. For the clean-up of orphans. */
  list(cursor: string | null): Promise<{ objects: readonly StoredObject[]; cursor: string | null }>
}
