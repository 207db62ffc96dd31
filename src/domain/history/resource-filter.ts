import type { Scope } from '../identity/scope'
import { parseResource } from '../resources/resource-uri'
import { type FeedFilter, UNFILTERED_FEED } from './feed'

/**
 * The feed filter that matches changes of a resource (history contract §4).
 * @param keyOf resolves a project name to its key
 * @returns null for an address that cannot be subscribed to, or a project that the scope does not reach
 */
export function filterOfResource(
  scope: Scope,
  uri: string,
  keyOf: (name: string) => string = (name) => name,
): FeedFilter | null {
  const resource = parseResource(uri)
  switch (resource?.kind) {
    case 'thread':
      return { ...UNFILTERED_FEED, threadId: resource.threadId }
    case 'entry':
      return { ...UNFILTERED_FEED, entryId: resource.id }
    case 'project': {
      const project = keyOf(resource.project)
      return scope.projects === null || scope.projects.includes(project) ? { ...UNFILTERED_FEED, project } : null
    }
    default:
      return null
  }
}
