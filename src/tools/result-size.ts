import type { Entry } from '../domain/entry/entry'
import { jsonText } from '../domain/json/write'
import { JSON_UNITS, scheduler } from '../domain/scheduler'
import { RESULT_BYTES } from '../domain/search/window'
import { utf8Length } from '../domain/text'

/** What a result says beside its entries. */
const BESIDE_BYTES = 100_000
/** Addresses and block of one image. */
const IMAGE_BYTES = 400

interface ToShow {
  readonly entry: Pick<Entry, 'id' | 'images'> & { readonly bare?: true }
  /** Makes what is shown of it, which takes long where metadata have many keys. */
  readonly show: () => Record<string, unknown>
}

/** What a result has room for, and what is shown of it. */
export type Shown<One extends ToShow = ToShow> = One & { readonly shown: Record<string, unknown> }

/** Bytes of images are counted apart, since they have a limit of their own. */
const sizeOf = ({ entry }: ToShow, shown: Record<string, unknown>): number =>
  utf8Length(jsonText(shown)) +
  (entry.images.length === 0 ? 0 : utf8Length(jsonText(entry.images)) + entry.images.length * IMAGE_BYTES)

/**
 * The entries from the beginning that a result has room for; the first always fits. Rests while it makes what is shown, and measures it.
 *
 * @returns the ids of the others as the member `omitted`, for a further call, and the bytes that are left
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

/** The member of a result that names entries it had no room for; none when there are none. */
export const omittedMember = (ids: readonly number[]) => (ids.length === 0 ? {} : { omitted: ids })
