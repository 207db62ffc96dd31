import { invalidInput } from '../errors'
import { type Millis, parseInstant } from '../time'
import { type ApiKey, checkName, checkProjectId } from './identity'
import { ROLES } from './scope'

/** What a new key is asked to be, as it arrives. */
export interface KeyDraft {
  readonly name?: unknown
  readonly role?: unknown
  readonly projects?: unknown
  readonly agent?: unknown
  readonly owner?: unknown
  readonly expires_at?: unknown
  readonly capture?: unknown
}

const MAX_KEY_PROJECTS = 100

function checkProjects(value: unknown): string[] | null {
  if (value === undefined || value === null) return null
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_KEY_PROJECTS)
    throw invalidInput(
      `projects must be a list of 1 to ${MAX_KEY_PROJECTS} project ids; leave it out for a key of all projects`,
    )
  return [...new Set(value.map((item) => checkProjectId(item, 'projects')))]
}

/** @returns milliseconds since 1970 */
function checkExpiry(value: unknown, now: Millis): Millis | null {
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? parseInstant(value) : null
  if (instant === null)
    throw invalidInput('expires_at must be an ISO 8601 date or date-time, such as 2027-01-31T12:00:00Z')
  if (instant <= now) throw invalidInput('expires_at must be in the future')
  return instant
}

function checkCapture(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'boolean') throw invalidInput('capture must be true or false')
  return value
}

/** @throws Problem invalid_input */
export function checkKeyDraft(
  draft: KeyDraft,
  now: Millis,
): Pick<ApiKey, 'name' | 'role' | 'projects' | 'agent' | 'expiresAt' | 'captures'> & { readonly owner: string | null } {
  const role = ROLES.find((known) => known === draft.role)
  if (role === undefined) throw invalidInput(`role must be one of: ${ROLES.join(', ')}`)
  const optional = (value: unknown, field: string) =>
    value === undefined || value === null ? null : checkName(value, field)
  const owner = optional(draft.owner, 'owner')
  return {
    name: checkName(draft.name, 'name'),
    role,
    projects: checkProjects(draft.projects),
    agent: optional(draft.agent, 'agent'),
    owner,
    expiresAt: checkExpiry(draft.expires_at, now),
    captures: checkCapture(draft.capture),
  }
}
