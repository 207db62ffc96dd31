import type { Entry } from '../../../domain/entry/entry'
import type { DecodedImage, ImageRef } from '../../../domain/entry/image'
import { MEGABYTE } from '../../../domain/entry/image'
import { Problem } from '../../../domain/errors'
import type { Caller, Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { EntryStore } from '../../../ports/entry-store'
import type { ImageStore } from '../../../ports/image-store'
import type { Outbox } from '../../../ports/outbox'

/** Maximum decoded bytes of a response or an upload; the first image always fits. */
const RESPONSE_BYTES = 10 * MEGABYTE

export interface LoadedImage extends ImageRef {
  /** Null if the response has no space left for it. */
  readonly bytes: Uint8Array | null
}

/** Groups images that are uploaded together, because each uses its size twice in memory then. */
function groupsOf(images: readonly DecodedImage[]): DecodedImage[][] {
  const groups: DecodedImage[][] = []
  let bytes = RESPONSE_BYTES
  for (const image of images) {
    bytes += image.size
    if (bytes > RESPONSE_BYTES || groups.length === 0) {
      groups.push([])
      bytes = image.size
    }
    groups.at(-1)?.push(image)
  }
  return groups
}

/** Checks images before any work. @throws Problem unsupported if the server has no image store */
export function checkImages(
  { refusal }: Pick<ImageStore, 'refusal'>,
  images: readonly DecodedImage[] | undefined,
): void {
  if (refusal !== null && images !== undefined && images.length > 0) throw new Problem('unsupported', refusal)
}

/**
 * Uploads the bytes of images before their row is written. Equal bytes are uploaded once; repeating is safe.
 *
 * @param attempt starts at 1; later attempts check for concurrent removals
 * @returns the pending removals that do not affect these bytes, for the following write
 */
export async function uploadImages(
  { images: store, entries }: { readonly images: ImageStore; readonly entries: Pick<EntryStore, 'imageRemovals'> },
  caller: Caller,
  images: readonly DecodedImage[],
  attempt: number,
): Promise<readonly number[]> {
  const distinct = new Map(images.map((image) => [image.hash, image]))
  const known = attempt === 1 || distinct.size === 0 ? [] : await entries.imageRemovals(caller, [...distinct.keys()])
  for (const group of groupsOf([...distinct.values()])) {
    await Promise.all(group.map((image) => store.put(caller, image)))
    // An object store in the same process blocks while it stores each image.
    await scheduler.yield()
  }
  return known
}

/**
 * Loads the images of entries in their order, by entry ID.
 *
 * @param remaining bytes that a result has left, if not the default; then the first image must fit too
 */
export async function loadImages(
  store: ImageStore,
  scope: Scope,
  entries: readonly Pick<Entry, 'id' | 'images'>[],
  remaining?: number,
): Promise<Map<number, LoadedImage[]>> {
  let spent = 0
  const wanted = new Set<string>()
  const plans = entries.map(({ id, images }) => ({
    id,
    images: images.map((image) => {
      const fits =
        (spent === 0 && remaining === undefined) ||
        spent + image.size <= Math.min(remaining ?? RESPONSE_BYTES, RESPONSE_BYTES)
      if (fits) {
        spent += image.size
        wanted.add(image.hash)
      }
      return { image, fits }
    }),
  }))
  const bytes = new Map(
    await Promise.all([...wanted].map(async (hash) => [hash, await store.get(scope, hash)] as const)),
  )
  return new Map(
    plans.map(({ id, images }) => [
      id,
      images.map(({ image, fits }) => ({ ...image, bytes: fits ? (bytes.get(image.hash) ?? null) : null })),
    ]),
  )
}

/**
 * Runs a write whose images were uploaded.
 *
 * If a limit of the organization refuses it, unused images are queued for removal. After other failures the same write may be
 * repeated.
 */
export async function writeImages<T>(
  outbox: Pick<Outbox, 'queueUnused'>,
  caller: Caller,
  images: readonly DecodedImage[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof Problem && error.code === 'limit_exceeded' && images.length > 0) {
      const objects = images.map(({ hash }) => ({ org: caller.org, hash, uploadedAt: 0 }))
      // The daily search for orphans finds images that cannot be queued now.
      await outbox.queueUnused(objects).catch(() => {})
    }
    throw error
  }
}
