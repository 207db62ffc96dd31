import type { Scope } from '../../domain/identity/scope'
import type { BackupObject, BackupStore } from '../../ports/backup-store'

/** Where backups stand in their bucket, and how they are packed. */

export const SUFFIX = '.ndjson.gz'

export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)
/** Backups are of the whole org, whoever made what stands in it. */
export const wholeOf = (org: string): Scope => ({ org, projects: null, owner: null, isWhole: true })

export const folderOf = (org: string): string => `${encodeURIComponent(org)}/`
export const keyOf = (org: string, day: string, volume: number | string): string =>
  `${folderOf(org)}${day}/${volume}${SUFFIX}`
export const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1)

const through = async (
  bytes: Uint8Array,
  stream: ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array> => {
  const passed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(stream)
  return new Uint8Array(await new Response(passed).arrayBuffer())
}

export const packed = (bytes: Uint8Array): Promise<Uint8Array> => through(bytes, new CompressionStream('gzip'))
export const unpacked = (gzip: Uint8Array): Promise<Uint8Array> => through(gzip, new DecompressionStream('gzip'))

/** All objects below a prefix, a page at a time. */
export async function* pagesOf(store: BackupStore, prefix: string): AsyncGenerator<readonly BackupObject[]> {
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<BackupStore['list']>> = await store.list(prefix, cursor)
    yield page.objects
    cursor = page.cursor
    more = cursor !== null
  }
}

export async function* objectsOf(store: BackupStore, prefix: string): AsyncGenerator<BackupObject> {
  for await (const page of pagesOf(store, prefix)) yield* page
}

/** Deletes all objects below a prefix. */
export async function forget(store: BackupStore, prefix: string): Promise<void> {
  for (;;) {
    const { objects, cursor } = await store.list(prefix, null)
    await store.delete(objects.map(({ key }) => key))
    if (cursor === null) return
  }
}
