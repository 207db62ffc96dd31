import type { Entry } from '../domain/entry/entry'
import { jsonText } from '../domain/json/write'
import { JSON_UNITS, scheduler } from '../domain/scheduler'
import { RESULT_BYTES } from '../domain/search/window'
import { utf8Length } from '../domain/text'

/** Bytes reserved for members other than entries. */
const BESIDE_BYTES = 100_000
/** Bytes of the address and block of one image. */
const IMAGE_BYTES = 400

interface ToShow {
  readonly entry: Pick<Entry, 'id' | 'images'> & { readonly bare?: true }
  /** Serializes the entry, which takes long for metadata with many keys. */
  readonly show: () => Record<string, unknown>
}

/** An entry with its serialized form. */
export type Shown<One extends ToShow = ToShow> = One & { readonly shown: Record<string, unknown> }

/** Bytes of images are counted separately, because they have their own limit. */
const sizeOf = ({ entry }: ToShow, shown: Record<string, unknown>): number =>
  utf8Length(jsonText(shown)) +
  (entry.images.length === 0 ? 0 : utf8Length(jsonText(entry.images)) + entry.images.length * IMAGE_BYTES)

/**
 * Returns the first entries that fit into a result; the first entry always fits.
 *
 * Yields to the scheduler while it serializes.
 *
 * @returns the IDs of the others for a further call, and the bytes that are left
 */
export async function fitting<One extends ToShow>(
  entries: readonly One[],
): Promise<{ readonly kept: readonly Shown<One>[]; readonly omitted: readonly number[]; readonly left: number }> {
  let left = RESULT_BYTES - BESIDE_BYTES
  const kept: Shown<One>[] = []
  for (const one of entries) {
    const shown = one.show()
    const size = sizeOf(one, shown)
    await scheduler.tick(size / JSON_UNITS)
    if ((size > left || one.entry.bare) && kept.length > 0) break
    left -= size
    kept.push({ ...one, shown })
  }
  return {
    kept,
    omitted: entries.slice(kept.length).map(({ entry }) => entry.id),
    left: Math.max(0, left),
  }
}

/** Returns the member of a result that lists entries without space; empty if there are none. */
export const omittedMember = (ids: readonly number[]) => (ids.length === 0 ? {} : { omitted: ids })
