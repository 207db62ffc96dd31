import { MAX_THREAD_ID } from '../entry/draft'
import { readId } from '../entry/link'
import { normalizeProject } from '../identity/project'
import { MAX_GOAL } from '../pack/pack-request'
import { codePointLength, trim, unstorable } from '../text'

/** Addresses of MCP resources (packs contract, "Prompts and resources"). */
export type Resource =
  | { readonly kind: 'entry'; readonly id: number }
  | { readonly kind: 'thread'; readonly threadId: string }
  | { readonly kind: 'project'; readonly project: string }
  | { readonly kind: 'pack'; readonly goal: string }

const SCHEME = 'memory://'

/** URI templates (RFC 6570). Completions use the names of the variables. */
export const TEMPLATES = {
  entry: `${SCHEME}entry/{id}`,
  thread: `${SCHEME}thread/{thread_id}`,
  project: `${SCHEME}project/{project}`,
  pack: `${SCHEME}pack/{goal}`,
} as const satisfies Record<Resource['kind'], string>

/** Maximum length of an address: an escaped code point has at most twelve characters. */
const MAX_URI = 12 * MAX_GOAL + 100

/** Percent-encodes like a simple expansion of RFC 6570: everything except letters, digits and `-._~`. */
const encode = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** Decodes a percent-encoded name; null when it is not UTF-8. */
function decode(name: string): string | null {
  try {
    return decodeURIComponent(name)
  } catch {
    return null
  }
}

/** The address of a resource, with a percent-encoded name. The name must be storable. */
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
 * Parses the address of a resource; null for an address that cannot name one. Everything after the kind is the name, so
 * a slash, a space or any letter may occur in it, encoded or not.
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
