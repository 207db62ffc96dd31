import type { Entry } from '../../../domain/entry/entry'
import type { DecodedImage, ImageRef } from '../../../domain/entry/image'
import { MEGABYTE } from '../../../domain/entry/image'
import { Problem } from '../../../domain/errors'
import type { Caller, Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { EntryStore } from '../../../ports/entry-store'
import type { ImageStore } from '../../../ports/image-store'
import type { Outbox } from '../../../ports/outbox'

/** One response carries at most this many decoded bytes, and so many are put at once; the first image always fits. */
const RESPONSE_BYTES = 10 * MEGABYTE

export interface LoadedImage extends ImageRef {
  /** Null when the response had no room left for it. */
  readonly bytes: Uint8Array | null
}

/** Images that are on their way at once, since each stands in memory twice then. */
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

/** @throws Problem unsupported for images that there is no place for, before anything is made of them */
export function checkImages(
  { refusal }: Pick<ImageStore, 'refusal'>,
  images: readonly DecodedImage[] | undefined,
): void {
  if (refusal !== null && images !== undefined && images.length > 0) throw new Problem('unsupported', refusal)
}

/**
 * Puts the bytes of images before their row is written. Equal bytes are put once; a put may be repeated.
 *
 * @param attempt from 1; the first knows of no removal, and the later ones ask, because one may have been what they met
 * @returns the removals that these bytes are not touched by, for the write that follows
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
    // An object store in the same process takes each at once.
    await scheduler.yield()
  }
  return known
}

/**
 * The images of entries in their order, by entry id.
 *
 * @param remaining bytes of images that a result has room for, when that is not the usual: then also the first must fit
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
 * Runs the write that bytes were put for. When it is refused by a limit of the org, what nothing uses is queued for removal at
 * once, so that refused writes fill no store; after other failures the same write may come again.
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
      // The daily look for orphans finds what cannot be queued now.
      await outbox.queueUnused(objects).catch(() => {})
    }
    throw error
  }
}
