import type { Millis } from '../domain/time'

/** An object in the backup bucket. */
export interface BackupObject {
  readonly key: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly uploadedAt: Millis
  /** Short texts that were stored with it. */
  readonly notes: Readonly<Record<string, string>>
}

/** The bucket of backups: objects by key. Failures: `unavailable`. */
export interface BackupStore {
  put(key: string, bytes: Uint8Array, notes?: Readonly<Record<string, string>>): Promise<void>
  has(key: string): Promise<boolean>
  get(key: string): Promise<Uint8Array | null>
  /** Returns the bytes as a stream, for callers that forward them. */
  open(key: string): Promise<ReadableStream<Uint8Array> | null>
  /** Lists objects in the order of keys, at most 1,000; `cursor` is null at the end. */
  list(
    prefix: string,
    cursor: string | null,
  ): Promise<{ readonly objects: readonly BackupObject[]; readonly cursor: string | null }>
  /** Lists the folder names below a prefix that ends with a slash, without slashes; at most 1,000. */
  folders(prefix: string): Promise<readonly string[]>
  delete(keys: readonly string[]): Promise<void>
}
