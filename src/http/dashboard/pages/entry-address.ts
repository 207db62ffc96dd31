import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { notFound, Problem } from '../../../domain/errors'
import { mayOffer } from '../../../domain/identity/scope'
import { attempt } from '../../../services/outcome'
import { principalOf, type Visit } from '../visit'

/** Finds the memory that an address names. */

/** The same answer for an unknown id, a memory that the key cannot see, and one that is no longer retained. */
export const noEntry = () => notFound('This memory does not exist, or this key cannot see it.')

/** @throws Problem not_found unless the address contains an id */
export function idOf({ url }: Visit): number {
  const id = readId(url.pathname.split('/')[2])
  if (id === null) throw noEntry()
  return id
}

/** A deleted memory that can be restored, with its version. */
interface Deleted {
  readonly deletedAt: number
}

export const isDeleted = (entry: Entry | Deleted): entry is Deleted => 'deletedAt' in entry

/** Returns the memory that a person wants to change. @throws Problem not_found, or forbidden if the key may only read it */
export async function changeable(visit: Visit): Promise<Entry | Deleted> {
  const principal = principalOf(visit)
  const id = idOf(visit)
  const [entry] = await visit.services.entries.read(principal, [id])
  if (entry === undefined) {
    const seen = await attempt(() => visit.services.readHistory.versions(principal, id, { limit: 1, offset: 0 }, false))
    if (seen.ok && seen.value.deleted) return { deletedAt: seen.value.currentVersion }
    throw noEntry()
  }
  if (!mayOffer(principal, entry)) throw new Problem('forbidden', 'This key can read this memory but not change it.')
  return entry
}
