import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { notFound, Problem } from '../../../domain/errors'
import { mayOffer } from '../../../domain/identity/scope'
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

/** The memory that a person is about to change. @throws Problem not_found, or forbidden where the key may only read it */
export async function changeable(visit: Visit): Promise<Entry> {
  const principal = principalOf(visit)
  const [entry] = await visit.services.entries.read(principal, [idOf(visit)])
  if (entry === undefined) throw noEntry()
  if (!mayOffer(principal, entry)) throw new Problem('forbidden', 'This key may read this memory and not change it.')
  return entry
}
