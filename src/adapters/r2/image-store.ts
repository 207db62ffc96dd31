import { Problem, unavailable } from '../../domain/errors'
import type { ImageStore } from '../../ports/image-store'
import type { ObjectStoreHealth } from '../../ports/models'

/** Images are objects of R2, `images/<org>/<sha256>`. */
const PREFIX = 'images/'

const keyOf = (org: string, hash: string): string => `${PREFIX}${encodeURIComponent(org)}/${hash}`

async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw unavailable('The image store did not respond; nothing was changed, try again', error)
  }
}

export function createR2ImageStore(bucket: R2Bucket): ImageStore & { readonly health: ObjectStoreHealth } {
  return {
    refusal: null,

    async put(scope, { hash, mimeType, bytes }) {
      // R2 checks the hash, so that a damaged upload is never stored under the hash of the complete image.
      await answered(
        bucket.put(keyOf(scope.org, hash), bytes, { httpMetadata: { contentType: mimeType }, sha256: hash }),
      )
    },

    async get(scope, hash) {
      const object = await answered(bucket.get(keyOf(scope.org, hash)))
      return object === null ? null : new Uint8Array(await answered(object.arrayBuffer()))
    },

    async delete(scope, hash) {
      await answered(bucket.delete(keyOf(scope.org, hash)))
    },

    async list(cursor) {
      // The cursor is a key, because it is stored for days, and a cursor of the bucket may not be valid that long.
      const from = cursor === null ? {} : { startAfter: PREFIX + cursor }
      const page = await answered(bucket.list({ prefix: PREFIX, limit: 500, ...from }))
      const objects = page.objects.map(({ key, uploaded }) => {
        const [org = '', hash = ''] = key.slice(PREFIX.length).split('/')
        return { org: decodeURIComponent(org), hash, uploadedAt: uploaded.getTime() }
      })
      const last = page.objects.at(-1)?.key.slice(PREFIX.length) ?? null
      return { objects, cursor: page.truncated ? last : null }
    },

    health: {
      backend: 'r2',
      ping: async () => {
        await bucket.head(`${PREFIX}ready`)
      },
    },
  }
}

const NO_BUCKET =
  'This server cannot store images (the IMAGES binding is missing: add [[r2_buckets]] to wrangler.toml); store the entry without them'

/** The image store without a bucket: everything but images works. Earlier images are listed without their bytes. */
export const withoutImageStore: ImageStore & { readonly health: ObjectStoreHealth } = {
  refusal: NO_BUCKET,
  put: () => Promise.reject(new Problem('unsupported', NO_BUCKET)),
  get: async () => null,
  delete: async () => {},
  list: async () => ({ objects: [], cursor: null }),
  health: {
    backend: 'none',
    required: false,
    ping: () =>
      Promise.reject(
        new Problem(
          'unsupported',
          'Images cannot be stored: the IMAGES binding is missing; add [[r2_buckets]] to wrangler.toml',
        ),
      ),
  },
}
