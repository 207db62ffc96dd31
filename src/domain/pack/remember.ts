import { checkMetadata, checkTags, checkThreadId, checkVerbatim, type EntryDraft } from '../entry/draft'
import type { Entry } from '../entry/entry'
import { audienceOf, diaryOf } from '../entry/extracted-metadata'
import type { ImageInput } from '../entry/image'
import { type Kind, readKind as kindMeant, kindsLike } from '../entry/kind'
import { type LinkTarget, readId } from '../entry/link'
import { AUDIENCES, type Audience, type Metadata, own } from '../entry/metadata'
import { isWork, readWorkStatus, WORK_KINDS, WORK_STATUSES } from '../entry/work'
import { invalidInput } from '../errors'
import { normalizeProject, projectByDefault } from '../identity/project'
import type { Principal } from '../identity/scope'
import { openProject } from '../recall/project-access'
import { codePointLength, trim } from '../text'
import { parseInstant } from '../time'
import { IssueCollector, shortForm } from '../validation'

/** Validates the arguments of `remember` and converts them to an entry (packs contract). */
const RELATIONS = [
  'supersedes',
  'contradicts',
  'depends_on',
  'requires',
  'supports',
  'decides',
  'derived_from',
  'part_of',
  'references',
  'related_to',
] as const
export type Relation = (typeof RELATIONS)[number]

export interface RememberArguments {
  readonly title: string
  /** Optional if `from` is given; then the text of the first entry in it. */
  readonly content?: string | undefined
  readonly kind: string
  readonly project?: string | undefined
  readonly domain?: string | undefined
  readonly agent_id?: string | undefined
  readonly diary: boolean
  readonly audience?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly status?: string | undefined
  readonly related_to?: readonly (string | number)[] | undefined
  /** IDs of entries that the memory is derived from (capture contract §5). */
  readonly from?: readonly (string | number)[] | undefined
  readonly source_url?: string | undefined
  readonly valid_at?: string | undefined
  readonly thread_id?: string | undefined
  readonly metadata?: Metadata | undefined
  readonly images?: readonly ImageInput[] | undefined
  /**
   * Set for a summary of the entries in `from`: unless the call sets an audience, one private entry makes it private.
   */
  readonly sumsUp?: true | undefined
}

/** The entry to store, with its links. */
export interface Remembered {
  readonly draft: EntryDraft
  readonly kind: Kind
  readonly project: string | null
  readonly title: string
  readonly links: readonly LinkTarget[]
}

const MAX_TITLE = 200
const MAX_LINKS = 20
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/g

function readTitle(given: string): string {
  const title = trim(given.replace(LINE_BREAKS, ' '))
  if (title === '') throw invalidInput('title must not be blank')
  if (codePointLength(title) > MAX_TITLE) throw invalidInput(`title has more than ${MAX_TITLE} characters`)
  return title
}

function readKind(given: string): Kind {
  const kind = kindMeant(given)
  if (kind !== null) return kind
  throw invalidInput(`kind must be one of: ${kindsLike(given).join(', ')}`)
}

function readAudience(given: string | undefined, project: string | null, diary: boolean): Audience {
  if (given === undefined) return diary ? 'private' : project === null ? 'org' : 'project'
  const audience = AUDIENCES.find((known) => known === given)
  if (audience === undefined) throw invalidInput(`audience must be one of: ${AUDIENCES.join(', ')}`)
  if (diary && audience !== 'private') throw invalidInput('A diary page is always private. Leave audience out')
  if (audience === 'project' && project === null) throw invalidInput('audience "project" requires project')
  return audience
}

function readStatus(given: string | undefined, kind: Kind | undefined): string | undefined {
  if (given === undefined) return undefined
  if (readWorkStatus(given) === null) throw invalidInput(`status must be one of: ${WORK_STATUSES.join(', ')}`)
  if (kind !== undefined && !isWork(kind))
    throw invalidInput(`status can only be set for work: kind ${WORK_KINDS.join(', ')}`)
  return given
}

/** Parses `"<id>"` or `"<relation>:<id>"`; null for anything else. */
function readLink(given: string | number): LinkTarget | null {
  const [, relation = 'related_to', id] = /^(?:([a-z_]+):)?\s*(\d+)$/.exec(trim(String(given))) ?? []
  const to = readId(id)
  return to === null || !RELATIONS.some((known) => known === relation) ? null : { relation, to }
}

/** Lists invalid members of a list for an error, at most three; null without any. */
function wrongOf<T>(given: readonly (string | number)[], read: readonly (T | null)[]): string | null {
  const wrong = given.filter((_, i) => read[i] === null).map((one) => `"${shortForm(String(one))}"`)
  return wrong.length === 0 ? null : wrong.slice(0, 3).join(', ')
}

function readLinks(given: readonly (string | number)[]): LinkTarget[] {
  if (given.length > MAX_LINKS) throw invalidInput(`related_to has more than ${MAX_LINKS} items`)
  const read = given.map(readLink)
  const wrong = wrongOf(given, read)
  if (wrong !== null)
    throw invalidInput(
      `related_to must contain "<id>" or "<relation>:<id>", not ${wrong}. The relation must be one of: ${RELATIONS.join(', ')}`,
    )
  const links = read.filter((link) => link !== null)
  return [...new Map(links.map((link) => [`${link.relation}:${link.to}`, link])).values()]
}

/** The IDs in `from`, in order. @throws Problem */
export function readFrom(given: readonly (string | number)[]): number[] {
  if (given.length > MAX_LINKS) throw invalidInput(`from has more than ${MAX_LINKS} items`)
  const ids = given.map((one) => readId(trim(String(one))))
  const wrong = wrongOf(given, ids)
  if (wrong !== null) throw invalidInput(`from must contain IDs of entries, such as "42", not ${wrong}`)
  return [...new Set(ids.filter((id) => id !== null))]
}

function readInstant(given: string | undefined): string | undefined {
  if (given !== undefined && parseInstant(given) === null)
    throw invalidInput('valid_at must be an ISO 8601 time, such as "2026-11-21T10:00:00Z"')
  return given
}

/**
 * Fills in audience, diary and project from metadata where the arguments do not set them, so that a private entry does
 * not become public. Rejects metadata that differ from an argument.
 * @param wrong receives issues of the metadata
 */
function withWordsOfMetadata(given: RememberArguments, wrong: IssueCollector): RememberArguments {
  const metadata = given.metadata ?? null
  /** @param read the value in the metadata; undefined without one */
  const said = <T>(name: 'audience' | 'diary' | 'project', argument: T | undefined, read: () => T | undefined) => {
    const path = `metadata.${name}`
    const value = wrong.check(path, own(metadata, name), read)
    if (value !== undefined && argument !== undefined && value !== argument)
      wrong.refuse(path, own(metadata, name), `${path} and ${name} have different values. Pass only one of them`)
    return argument ?? value
  }
  const isSaid = (name: string): boolean => (own(metadata, name) ?? null) !== null
  const readProject = (): string | undefined => {
    const project = own(metadata, 'project')
    return typeof project === 'string' ? (normalizeProject(project) ?? undefined) : undefined
  }
  return {
    ...given,
    audience: said('audience', given.audience, () => (isSaid('audience') ? audienceOf(metadata) : undefined)),
    diary: said('diary', given.diary || undefined, () => diaryOf(metadata) || undefined) ?? false,
    project: said('project', given.project, readProject),
  }
}

/**
 * Adds the text of an entry to the arguments, and its audience and project where they are not set. A captured session
 * is approved by remembering it, so its audience and project follow the arguments only.
 */
export function withTextOf(entry: Entry, given: RememberArguments): RememberArguments {
  const filled = { ...given, content: entry.text }
  if (entry.captured) return filled
  const isNamed = (name: 'audience' | 'project') => (given[name] ?? own(given.metadata ?? null, name) ?? null) !== null
  const isPrivate = audienceOf(entry.metadata) === 'private' || diaryOf(entry.metadata)
  return {
    ...filled,
    ...(isPrivate && !isNamed('audience') ? { audience: 'private' } : {}),
    ...(entry.project !== null && !isNamed('project') ? { project: entry.project } : {}),
  }
}

/** Makes a summary private if one of its sources is private and the call sets no audience. */
export function noWiderThan(sources: readonly Pick<Entry, 'metadata'>[], given: RememberArguments): RememberArguments {
  const isNamed = (given.audience ?? own(given.metadata ?? null, 'audience') ?? null) !== null
  const isPrivate = sources.some(({ metadata }) => audienceOf(metadata) === 'private' || diaryOf(metadata))
  return isPrivate && !isNamed ? { ...given, audience: 'private' } : given
}

/** Validates all arguments, and reports all issues together. @throws Problem */
export function readRemembered(principal: Principal, args: RememberArguments): Remembered {
  const wrong = new IssueCollector()
  const given = withWordsOfMetadata(args, wrong)
  const check = <T>(path: keyof RememberArguments, step: () => T) => wrong.check(path, given[path], step)
  const title = check('title', () => readTitle(given.title)) as string
  const from = check('from', () => readFrom(given.from ?? [])) ?? []
  if (given.content === undefined && (given.from ?? []).length === 0)
    wrong.refuse('content', undefined, 'content is required, unless from is given')
  if (given.content !== undefined) check('content', () => checkVerbatim(given.content as string, 'content'))
  const kind = check('kind', () => readKind(given.kind)) as Kind
  const place = () =>
    given.project === undefined
      ? projectByDefault(principal, 'project')
      : openProject(principal, given.project, 'project')
  const project = check('project', place) ?? null
  const audience = check('audience', () => readAudience(given.audience, project, given.diary)) as Audience
  const status = check('status', () => readStatus(given.status, kind))
  const related = check('related_to', () => readLinks(given.related_to ?? [])) ?? []
  const kept = from.map((to): LinkTarget => ({ relation: 'derived_from', to }))
  const links = [...new Map([...related, ...kept].map((link) => [`${link.relation}:${link.to}`, link])).values()]
  const validAt = check('valid_at', () => readInstant(given.valid_at))
  const tags = check('tags', () => checkTags(given.tags ?? [])) ?? []
  const threadId = check('thread_id', () => checkThreadId(given.thread_id ?? threadOf(project)))
  const agent = trim(given.agent_id ?? '') || principal.agent
  if (given.diary && agent === null)
    wrong.refuse('agent_id', given.agent_id, 'diary requires agent_id, the owner of the page')
  const metadata = metadataOf(given, { title, kind, project, audience, status, validAt, agent })
  check('metadata', () => checkMetadata(metadata))
  wrong.end()
  return {
    draft: {
      threadId: threadId as string,
      source: 'agent',
      text: given.content ?? '',
      metadata,
      tags,
      memory: { layer: 2, life: { pinned: false, lasts: null } },
      related: links,
      ...(given.images === undefined ? {} : { images: given.images }),
    },
    ...{ kind, project, title, links },
  }
}

const threadOf = (project: string | null): string => (project === null ? 'memory' : `project:${project}`)

interface Read {
  readonly title: string
  readonly kind: Kind
  readonly project: string | null
  readonly audience: Audience
  readonly status: string | undefined
  readonly validAt: string | undefined
  readonly agent: string | null
}

/** The metadata of the entry; arguments take precedence over metadata fields. */
function metadataOf(given: RememberArguments, read: Read): Metadata {
  const metadata: Metadata = Object.assign(Object.create(null), given.metadata ?? {})
  const { title, kind, project, audience, status, validAt, agent } = read
  const domain = trim(given.domain ?? '')
  Object.assign(metadata, { title, kind })
  delete metadata.project
  delete metadata.diary
  delete metadata.audience
  if (project !== null) metadata.project = project
  if (audience !== 'org') metadata.audience = audience
  if (given.diary) metadata.diary = true
  if (domain !== '') metadata.domain = domain
  if (agent !== null) metadata.agent_name = agent
  if (status !== undefined) metadata.status = status
  if (given.source_url !== undefined) metadata.source_url = given.source_url
  if (validAt !== undefined) metadata.valid_at = validAt
  return metadata
}
