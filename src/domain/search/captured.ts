import type { Filter } from './filter'

/** Prefixes of the threads of captured sessions, and of proposals of a program. */
const CAPTURED_THREADS = ['session:', 'learn:']

/**
 * Whether a filter asks for captured entries, which searches and lists leave out otherwise (capture contract §4): by
 * `captured`, the kind `session`, or the thread of a session or of proposals.
 */
export function includesCaptured(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(includesCaptured)
    case 'capturedOf':
      return true
    case 'thread':
      return CAPTURED_THREADS.some((prefix) => filter.is.startsWith(prefix))
    case 'kind':
      return filter.anyOf.length === 1 && filter.anyOf[0] === 'session'
    // Only captured entries have the key.
    case 'present':
      return filter.path.length === 1 && filter.path[0] === 'captured'
    case 'equals': {
      const [name, ...inner] = filter.path
      if (inner.length > 0) return false
      return (
        (name === 'captured' && filter.anyOf.includes(true)) || (name === 'kind' && filter.anyOf.includes('session'))
      )
    }
    default:
      return false
  }
}

/** Whether a filter matches only captured sessions of one owner, so that listed entries need not be searched. */
export const isCapturedOnly = (filter: Filter): boolean =>
  filter.op === 'capturedOf' || (filter.op === 'and' && filter.of.some(isCapturedOnly))
