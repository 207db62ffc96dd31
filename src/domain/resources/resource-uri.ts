import { MAX_THREAD_ID } from '../entry/draft'
import { readId } from '../entry/link'
import { normalizeProject } from '../identity/project'
import { MAX_GOAL } from '../pack/request'
import { codePointLength, trim, unstorable } from '../text'

/** The addresses of what can be read as an MCP resource (packs contract, "Prompts and resources"). */
export type Resource =
  | { readonly kind: 'entry'; readonly id: number }
  | { readonly kind: 'thread'; readonly threadId: string }
  | { readonly kind: 'project'; readonly project: string }
  | { readonly kind: 'pack'; readonly goal: string }

const SCHEME = 'memory://'

/** As RFC 6570 writes them; the variable is what completions name. */
export const TEMPLATES = {
  entry: `${SCHEME}entry/{id}`,
  thread: `${SCHEME}thread/{thread_id}`,
  project: `${SCHEME}project/{project}`,
  pack: `${SCHEME}pack/{goal}`,
} as const satisfies Record<Resource['kind'], string>

/** A longer address names nothing: a code point is at most twelve characters when it is escaped. */
const MAX_URI = 12 * MAX_GOAL + 100

/** Percent-encoded as in a simple expansion of RFC 6570: everything but letters, digits and `-._~`. */
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** What an escaped name stands for; null when its escapes are no UTF-8. */
function decode(name: string): string | null {
  try {
    return decodeURIComponent(name)
  } catch {
    return null
  }
}

/** The address of a resource, its name percent-encoded. The name must be one that can be stored. */
export function resourceUri(resource: Resource): string {
  switch (resource.kind) {
    case 'entry':
      return `${SCHEME}entry/${resource.id}`
    case 'thread':
      return `${SCHEME}thread/${encode(resource.threadId)}`
    case 'project':
      return `${SCHEME}project/${encode(resource.project)}`
    case 'pack':
      return `${SCHEME}pack/${encode(resource.goal)}`
  }
}

/**
 * What an address names; null for one that can name nothing. Everything behind the kind is the name, so that a slash, a space
 * or a letter of any script may stand there as it is or percent-encoded.
 */
export function parseResource(uri: string): Resource | null {
  const [, kind, escaped] = (uri.length <= MAX_URI && /^memory:\/\/(entry|thread|project|pack)\/(.+)$/s.exec(uri)) || []
  const name = escaped === undefined ? null : decode(escaped)
  if (kind === undefined || name === null || unstorable(name) !== null) return null
  switch (kind) {
    case 'entry': {
      const id = readId(name)
      return id === null ? null : { kind, id }
    }
    case 'thread': {
      const threadId = trim(name)
      return threadId === '' || codePointLength(threadId) > MAX_THREAD_ID ? null : { kind, threadId }
    }
    case 'project': {
      const project = normalizeProject(name)
      return project === null ? null : { kind, project }
    }
    default:
      return trim(name) === '' || codePointLength(name) > MAX_GOAL ? null : { kind: 'pack', goal: name }
  }
}
