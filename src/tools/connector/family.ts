import type { Family } from '../family'
import { threads } from '../threads/family'

/**
 * The two read-only tools that ChatGPT's connectors and deep research require, with the names and shapes that they require
 * (platform contract §3).
 *
 * Errors have the shape of the threads family.
 */
export const connector: Family = {
  ...threads,
  name: 'connector',
  tokens: 150,
  parse: { leaves: () => false },
  instructions:
    'Shared memory of your team, read-only: search finds entries for a question, fetch returns a complete entry by ID.',
}

/** Returns the address of the page that shows an entry to a person. */
export const entryUrl = (origin: string, id: number): string => `${origin}/entries/${id}`
