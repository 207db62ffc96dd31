import { unavailable } from '../../domain/errors'
import type { BackupStore } from '../../ports/backup-store'

async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw unavailable('The backup bucket did not respond; try again', error)
  }
}

/** Maximum number of objects that one call lists or deletes. */
const AT_ONCE = 1_000

/** Creates the backup store in R2. */
export const createR2BackupStore = (bucket: R2Bucket): BackupStore => ({
  async put(key, bytes, notes = {}) {
    await answered(bucket.put(key, bytes, { customMetadata: { ...notes } }))
  },
  has: async (key) => (await answered(bucket.head(key))) !== null,
  async get(key) {
    const object = await answered(bucket.get(key))
    return object === null ? null : new Uint8Array(await answered(object.arrayBuffer()))
  },
  open: async (key) => (await answered(bucket.get(key)))?.body ?? null,
  async list(prefix, cursor) {
    const from = cursor === null ? {} : { startAfter: cursor }
    const page = await answered(bucket.list({ prefix, limit: AT_ONCE, include: ['customMetadata'], ...from }))
    const objects = page.objects.map(({ key, size, uploaded, customMetadata }) => ({
      ...{ key, size, uploadedAt: uploaded.getTime(), notes: customMetadata ?? {} },
    }))
    return { objects, cursor: page.truncated ? (objects.at(-1)?.key ?? null) : null }
  },
  async folders(prefix) {
    const page = await answered(bucket.list({ prefix, delimiter: '/', limit: AT_ONCE }))
    return page.delimitedPrefixes.map((folder) => folder.slice(prefix.length, -1))
  },
  async delete(keys) {
    for (let i = 0; i < keys.length; i += AT_ONCE) await answered(bucket.delete(keys.slice(i, i + AT_ONCE)))
  },
})
