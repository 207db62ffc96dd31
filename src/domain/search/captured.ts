import type { Filter } from './filter'

/** What threads of captured sessions are named with. */
const SESSION_THREAD = 'session:'

/**
 * Whether a filter asks for what hooks have captured, which searches and lists leave out otherwise (capture contract §4): it names
 * `captured`, the kind `session`, or the thread of a session.
 */
export function namesCaptured(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(namesCaptured)
    case 'capturedOf':
      return true
    case 'thread':
      return filter.is.startsWith(SESSION_THREAD)
    case 'kind':
      return filter.anyOf.length === 1 && filter.anyOf[0] === 'session'
    // Nobody else has the key.
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

/** Whether a filter admits captured sessions of one owner alone, so that nothing listed needs to be searched. */
export const isOfCaptured = (filter: Filter): boolean =>
  filter.op === 'capturedOf' || (filter.op === 'and' && filter.of.some(isOfCaptured))
