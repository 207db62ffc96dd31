import { invalidInput } from '../domain/errors'

export type Query = Readonly<Record<string, string | undefined>>

/**
 * Refuses unknown parameters: a misspelled `root` would delete the complete index.
 *
 * @param what the action, for the message
 * @throws Problem invalid_input
 */
export function checkNames(query: Query, names: readonly string[], what: string): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown parameter "${unknown.slice(0, 40)}"; ${what} accepts: ${names.join(', ')}`)
}
