import { invalidInput, Problem } from '../errors'
import { MAX_PROJECT, normalizeProject, projectByDefault } from '../identity/project'
import type { Scope } from '../identity/scope'
import { codePointLength, trim } from '../text'
import { type Millis, parseInstant } from '../time'
import { givenAs } from '../validation'
import { type Kind, kindOfMetadata } from './kind'
import { AUDIENCES, type Audience, type JsonValue, type Metadata, own } from './metadata'
import { isWork, readWorkStatus, WORK_STATUSES, type WorkStatus } from './work'

/** Columns extracted from metadata. They are derived on every write, so columns and metadata always agree. */
export interface ExtractedMetadata {
  readonly namedKind: Kind | null
  /** Whether status and assignee are both set, which makes it a task unless something names another kind. */
  readonly workItem: boolean
  readonly title: string | null
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly audience: Audience
  readonly diary: boolean
  /** Set for a captured session or proposal that is not approved yet (capture contract §4). */
  readonly captured: boolean
  readonly status: WorkStatus | null
  /** 1 to 5; null when metadata do not set it, so the value of an argument or of the life cycle applies. */
  readonly weight: number | null
  /** Null like the weight. */
  readonly pinned: boolean | null
  readonly confidence: number | null
  /** Expiry set by the writer, milliseconds since 1970; a layer can set an earlier one, never a later one. */
  readonly expiresAt: Millis | null
}

const text = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && trim(value) !== '' ? value : null

function projectOf(metadata: Metadata | null, scope: Scope, kept: string | null): string | null {
  const value = own(metadata, 'project')
  // A project that is not a string is ignored (`["a", "b"]` remains plain metadata).
  if (typeof value !== 'string') return kept ?? projectByDefault(scope, 'metadata.project')
  if (codePointLength(value) > MAX_PROJECT)
    throw invalidInput(`metadata.project is longer than ${MAX_PROJECT} characters`, [
      { path: 'metadata.project', given: givenAs(value) },
    ])
  const project = normalizeProject(value)
  if (project === null) return kept ?? projectByDefault(scope, 'metadata.project')
  if (scope.projects !== null && !scope.projects.includes(project))
    throw new Problem('forbidden', `Project access denied: ${project}`)
  return project
}

export function audienceOf(metadata: Metadata | null): Audience {
  const value = own(metadata, 'audience')
  if (value === undefined || value === null) return 'org'
  const audience = AUDIENCES.find((known) => known === value)
  if (audience === undefined) throw invalidInput(`metadata.audience must be one of: ${AUDIENCES.join(', ')}`)
  return audience
}

/**
 * Reads the status. Synonyms count for work, and where tags or an assignee may make it work; on other kinds only exact
 * statuses count.
 */
function statusOf(namedKind: Kind | null, value: JsonValue | undefined): WorkStatus | null {
  if (namedKind === null || isWork(namedKind)) return readWorkStatus(value)
  return WORK_STATUSES.find((known) => known === value) ?? null
}

export const isCaptured = (metadata: Metadata | null): boolean => own(metadata, 'captured') === true

export function diaryOf(metadata: Metadata | null): boolean {
  const value = own(metadata, 'diary')
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw invalidInput('metadata.diary must be true or false')
  return value
}

export function expiryOf(metadata: Metadata | null): number | null {
  const value = own(metadata, 'expires_at')
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? parseInstant(value) : null
  if (instant === null) throw invalidInput('metadata.expires_at must be a time, such as "2026-11-21T10:00:00Z"')
  return instant
}

export const domainOf = (metadata: Metadata | null): string | null =>
  text(own(metadata, 'domain')) ?? text(own(metadata, 'category'))

export const titleOf = (metadata: Metadata | null): string | null =>
  text(own(metadata, 'title')) ?? text(own(metadata, 'task_name'))

/**
 * Extracts the reserved keys of metadata. Invalid values remain plain metadata, except for keys that protect the entry
 * (`audience`, `diary`, `expires_at`): these are rejected.
 * @param agent agent of the credential, used when the metadata name none
 * @param keptProject current project of the entry, used when the metadata name none
 * @throws Problem invalid_input or forbidden
 */
export function extractMetadata(
  metadata: Metadata | null,
  scope: Scope,
  agent: string | null,
  keptProject: string | null = null,
): ExtractedMetadata {
  const namedKind = kindOfMetadata(metadata)
  const status = statusOf(namedKind, own(metadata, 'status'))
  const assignee = own(metadata, 'assignee')
  const weight = own(metadata, 'weight')
  const confidence = own(metadata, 'confidence')
  const pinned = own(metadata, 'pinned')
  return {
    namedKind,
    workItem: status !== null && assignee !== undefined && assignee !== null && assignee !== '',
    title: titleOf(metadata),
    project: projectOf(metadata, scope, keptProject),
    domain: domainOf(metadata),
    agent: text(own(metadata, 'agent_name')) ?? agent,
    audience: audienceOf(metadata),
    diary: diaryOf(metadata),
    captured: isCaptured(metadata),
    status,
    weight: typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= 5 ? weight : null,
    pinned: typeof pinned === 'boolean' ? pinned : null,
    confidence: typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? confidence : null,
    expiresAt: expiryOf(metadata),
  }
}
