import { readId } from '../../../domain/entry/link'
import { notFound } from '../../../domain/errors'
import type { Visit } from '../visit'

/** One answer for what never was, what is not for this key to see, and what is kept no more. */
export const noEntry = () => notFound('There is no such memory, or this key sees nothing of it.')

/** @throws Problem not_found unless the address names an id */
export function idOf({ url }: Visit): number {
  const id = readId(url.pathname.split('/')[2])
  if (id === null) throw noEntry()
  return id
}
