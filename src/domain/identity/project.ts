import { trim, withoutTrailing } from '../text'

/** A project key without surrounding white space and trailing slashes (fabric contract §1); null when nothing is left. */
export function normalizeProject(project: string): string | null {
  const trimmed = trim(project)
  return withoutTrailing(trimmed, '/\\') || trimmed || null
}
