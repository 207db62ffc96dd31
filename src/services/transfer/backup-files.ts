import type { Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
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

/** Bytes that go through a stream at once: it works while they are written. */
const PIECE = 65_536

async function through(
  bytes: Uint8Array,
  { readable, writable }: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const write = async () => {
    const writer = writable.getWriter()
    for (let at = 0; at < bytes.length; at += PIECE) {
      await writer.write(bytes.subarray(at, at + PIECE))
      await scheduler.tick(PIECE / VOLUME_UNITS)
    }
    await writer.close()
  }
  const [passed] = await Promise.all([new Response(readable).arrayBuffer(), write()])
  return new Uint8Array(passed)
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
