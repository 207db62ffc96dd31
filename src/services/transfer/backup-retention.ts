import { DAY_MS } from '../../domain/time'
import type { BackupStore } from '../../ports/backup-store'
import type { Clock } from '../../ports/clock'
import type { ImportStore } from '../../ports/import-store'
import { folderOf, forget, isDay, nameOf, objectsOf, pagesOf, wholeOf } from './backup-files'

/** What of backups goes when: days by their name, images by how long nothing has used them. */
interface Retention {
  readonly store: BackupStore
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly clock: Clock
  /** Days that backups are kept. */
  readonly keep: number
}

/** Images of which one purge changes something. */
const CHANGES_AT_ONCE = 100

/** Days beyond those that are kept go, and images that no kept day can name: those that nothing has used for as long. */
export async function purge({ store, imports, clock, keep }: Retention, org: string): Promise<void> {
  const oldest = new Date(clock.now() - keep * DAY_MS).toISOString().slice(0, 10)
  for (const day of await store.folders(folderOf(org)))
    if (isDay(day) && day <= oldest) await forget(store, `${folderOf(org)}${day}/`)
  const marks = new Map<string, number>()
  for await (const { key, notes } of objectsOf(store, `${folderOf(org)}unused/`))
    marks.set(nameOf(key), Number(notes.since))
  const longest = keep * DAY_MS
  let changes = 0
  for await (const page of pagesOf(store, `${folderOf(org)}images/`)) {
    const hashes = page.map(({ key }) => nameOf(key))
    const { seen } = await imports.imagesInUse(wholeOf(org), hashes)
    for (const hash of hashes) {
      const since = marks.get(hash)
      const unusedFor = since === undefined ? null : clock.now() - since
      const next = judged(unusedFor, seen.has(hash), longest)
      if (next === 'stay' || changes++ >= CHANGES_AT_ONCE) continue
      const mark = `${folderOf(org)}unused/${hash}`
      if (next === 'mark') await store.put(mark, new Uint8Array(), { since: String(clock.now()) })
      else await store.delete(next === 'unmark' ? [mark] : [`${folderOf(org)}images/${hash}`, mark])
    }
  }
}

/** An image that nothing uses is marked with the time, until it is used again; when it was unused for so long, it goes. */
function judged(unusedFor: number | null, isUsed: boolean, longest: number): 'stay' | 'mark' | 'unmark' | 'delete' {
  if (isUsed) return unusedFor === null ? 'stay' : 'unmark'
  if (unusedFor === null) return 'mark'
  return unusedFor > longest ? 'delete' : 'stay'
}
