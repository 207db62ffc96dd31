import { invalidInput, Problem } from '../errors'
import { givenAs } from '../flaws'
import { MAX_PROJECT, normalizeProject, projectByDefault } from '../identity/project'
import type { Scope } from '../identity/scope'
import { codePointLength, trim } from '../text'
import { type Millis, parseInstant } from '../time'
import { type Kind, kindOfMetadata } from './kind'
import { AUDIENCES, type Audience, type JsonValue, type Metadata, own } from './metadata'
import { isWork, readWorkStatus, WORK_STATUSES, type WorkStatus } from './work'

/** What metadata says about an entry, as columns. Derived from the metadata on every write, so the two cannot differ. */
export interface ExtractedMetadata {
  readonly namedKind: Kind | null
  /** Status and assignee are both set, so it is a task if nothing names another kind. */
  readonly workItem: boolean
  readonly title: string | null
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly audience: Audience
  readonly diary: boolean
  /** Written by the hooks of a client and kept by nobody yet (capture contract §4). */
  readonly captured: boolean
  readonly status: WorkStatus | null
  /** 1 to 5; null when the metadata says nothing of it, and what an argument or the life cycle has set holds. */
  readonly weight: number | null
  /** Null as for the weight. */
  readonly pinned: boolean | null
  readonly confidence: number | null
  /** The writer's own end of the entry, milliseconds since 1970; a layer may set an earlier one, never a later. */
  readonly expiresAt: Millis | null
}

const text = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && trim(value) !== '' ? value : null

function projectOf(metadata: Metadata | null, scope: Scope, kept: string | null): string | null {
  const value = own(metadata, 'project')
  // A project that is no string is none (`["a", "b"]` stays plain metadata).
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

/** Synonyms count on work, and where tags or an assignee may make it work; on other kinds a status is a free word. */
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
 * Reads the reserved keys. Values outside a key's vocabulary stay plain metadata, except those that protect the entry
 * (`audience`, `diary`, `expires_at`): they fail closed.
 *
 * @param agent the credential's agent, used when the metadata names none
 * @param keptProject where an entry stays when the metadata names no project
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
