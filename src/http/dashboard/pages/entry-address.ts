import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { notFound, Problem } from '../../../domain/errors'
import { mayOffer } from '../../../domain/identity/scope'
import { attempt } from '../../../services/outcome'
import { principalOf, type Visit } from '../visit'

/** Which memory an address is about. */

/** One answer for what never was, what is not for this key to see, and what is kept no more. */
export const noEntry = () => notFound('There is no such memory, or this key sees nothing of it.')

/** @throws Problem not_found unless the address names an id */
export function idOf({ url }: Visit): number {
  const id = readId(url.pathname.split('/')[2])
  if (id === null) throw noEntry()
  return id
}

/** A memory that was deleted and can come back: at which version it is. */
interface Deleted {
  readonly deletedAt: number
}

export const isDeleted = (entry: Entry | Deleted): entry is Deleted => 'deletedAt' in entry

/** The memory that a person is about to change. @throws Problem not_found, or forbidden where the key may only read it */
export async function changeable(visit: Visit): Promise<Entry | Deleted> {
  const principal = principalOf(visit)
  const id = idOf(visit)
  const [entry] = await visit.services.entries.read(principal, [id])
  if (entry === undefined) {
    const seen = await attempt(() => visit.services.readHistory.versions(principal, id, { limit: 1, offset: 0 }, false))
    if (seen.ok && seen.value.deleted) return { deletedAt: seen.value.currentVersion }
    throw noEntry()
  }
  if (!mayOffer(principal, entry)) throw new Problem('forbidden', 'This key may read this memory and not change it.')
  return entry
}
