import type { Problem } from './errors'
import { scheduler } from './scheduler'

/**
 * A call that would take too long as one statement, as several, for a database that serves nobody while a statement goes on (platform
 * contract §6). What a part may go through is reckoned by who asks: `adapters/sqlite/cost.ts` for SQLite.
 */

/**
 * @param start where the first part begins
 * @param step one part: what it found, and where the next one begins; null at the end
 */
export async function* inParts<Place, Found>({
  start,
  step,
}: {
  readonly start: Place
  readonly step: (from: Place) => Promise<{ readonly found: Found; readonly next: Place | null }>
}): AsyncGenerator<Found> {
  for (let from: Place | null = start; from !== null; ) {
    const { found, next }: { readonly found: Found; readonly next: Place | null } = await step(from)
    yield found
    from = next
  }
}

/**
 * The statements of one call that works in parts: a rest before each, and no more than so many (D1 answers a thousand of a request).
 *
 * @param tooMany what a call is told that asks for more
 */
export function createStatements({
  most,
  tooMany,
}: {
  readonly most: number
  readonly tooMany: () => Problem
}): <T>(statement: () => Promise<T>) => Promise<T> {
  let asked = 0
  return async (statement) => {
    if (++asked > most) throw tooMany()
    await scheduler.yield()
    return statement()
  }
}
