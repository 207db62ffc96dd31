import type { Millis } from '../domain/time'

/** What stands in the place for backups. */
export interface BackupObject {
  readonly key: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly uploadedAt: Millis
  /** Short texts that were put with it. */
  readonly notes: Readonly<Record<string, string>>
}

/** A bucket of backups: objects by key. Failures: `unavailable`. */
export interface BackupStore {
  put(key: string, bytes: Uint8Array, notes?: Readonly<Record<string, string>>): Promise<void>
  has(key: string): Promise<boolean>
  get(key: string): Promise<Uint8Array | null>
  /** A stream of the bytes, for who passes them on. */
  open(key: string): Promise<ReadableStream<Uint8Array> | null>
  /** In the order of keys, at most 1,000; `cursor` null at the end. */
  list(
    prefix: string,
    cursor: string | null,
  ): Promise<{ readonly objects: readonly BackupObject[]; readonly cursor: string | null }>
  /** Names of folders below a prefix that ends with a slash, without slashes; at most 1,000. */
  folders(prefix: string): Promise<readonly string[]>
  delete(keys: readonly string[]): Promise<void>
}
