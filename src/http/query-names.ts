import { invalidInput } from '../domain/errors'

export type Query = Readonly<Record<string, string | undefined>>

/**
 * Refuses a name that nobody reads: who misspells `root` would empty the whole index.
 *
 * @param what takes them, as a message says it
 * @throws Problem invalid_input
 */
export function checkNames(query: Query, names: readonly string[], what: string): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown parameter "${unknown.slice(0, 40)}"; ${what} takes: ${names.join(', ')}`)
}
