import type { Family } from '../family'
import { threads } from '../threads/family'

/**
 * The two read-only tools that ChatGPT's connectors and deep research ask for, by the names and shapes that they ask for
 * (platform contract §3). Errors are those of threads.
 */
export const connector: Family = {
  ...threads,
  name: 'connector',
  tokens: 150,
  parse: { leaves: () => false },
  instructions:
    'Shared memory of your team, read-only: search finds entries for a question, fetch returns a complete entry by ID.',
}

/** Where a person can look at an entry. */
export const entryUrl = (origin: string, id: number): string => `${origin}/entries/${id}`
