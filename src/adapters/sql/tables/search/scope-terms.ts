import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import type { IndexedContent } from '../../../../domain/entry/entry-write'
import { homesOf, type Scope } from '../../../../domain/identity/scope'
import { listed, projectsOf, readersOf } from '../../core/visibility'
import { projectScopeCounts } from '../counts/visible-counts'
import type { ProjectScopeContext } from '../entries/project-scope-rows'

/**
 * How a search index is confined to what a scope may see: each indexed entry carries terms for its org (or the one owner who
 * may read it), its project and its thread, and every query begins with them.
 */

/** 53 bits of a string as decimal digits, which no tokenizer changes (cyrb53). A collision costs a row that SQL drops. */
function digits(text: string): string {
  let h1 = 0xdeadbeef
  let h2 = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    h1 = Math.imul(h1 ^ unit, 2654435761)
    h2 = Math.imul(h2 ^ unit, 1597334677)
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909)
  return String(4294967296 * (2097151 & h2) + (h1 >>> 0))
}

/** The org stands by itself in the term of an owner: who chooses names of owners could make those of two orgs collide. */
const readerTerm = (org: string, reader: string): string =>
  reader === '' ? `o${digits(org)}` : `w${digits(org)}x${digits(`${org}\n${reader}`)}`
/** Of what is captured: whoever searches what is listed goes through none of it, and counts none of its words. */
const capturedTerm = (org: string, reader: string): string => `c${readerTerm(org, reader)}`
const projectTerm = (org: string, project: string | null): string =>
  project === null ? `j${digits(org)}` : `p${digits(`${org}\n${project}`)}`
const threadTerm = (org: string, thread: string): string => `t${digits(`${org}\n${thread}`)}`

/** Of what belongs to the whole org, whichever project it came from. */
const semanticTerm = (org: string): string => `s${digits(org)}`

/** Of working memory. Layer 2 has no term of its own: it is what has neither of these. */
const workingTerm = (org: string): string => `k${digits(org)}`

/** Of entries of a step of length (`adapters/sql/tables/search/candidate-rules.ts`), where the index leads to the shortest. */
export const lengthTerm = (org: string, step: number): string => `l${digits(org)}x${step}`

/** Of the entries in which common words are counted. */
export const sampleTerm = (org: string): string => `r${digits(org)}`

/** What an entry carries. */
export const entryScopeTerms = (
  org: string,
  { reader, project, threadId, layer, captured }: IndexedContent,
): string[] => [
  captured ? capturedTerm(org, reader) : readerTerm(org, reader),
  projectTerm(org, project),
  threadTerm(org, threadId),
  ...(layer === 3 ? [semanticTerm(org)] : layer === 1 ? [workingTerm(org)] : []),
]

/** What of a scope a query is confined to: one thread, or one project and with it what belongs to the whole org, and layers of that. */
export interface Confined {
  readonly thread?: string | null
  readonly projectScope?: string | null
  /** Captured entries, in the place of what is listed. */
  readonly captured?: boolean
  /** The one project of all layers. */
  readonly project?: string | null
  /** Null for all. */
  readonly layers?: readonly Layer[] | null
}

/** How terms tell what stands in a scope. */
interface ScopeTerms {
  /** Every entry in the scope has one of each group. */
  readonly groups: readonly (readonly string[])[]
  /** None has one of these. */
  readonly without: readonly string[]
}

export function scopeTerms(scope: Scope, confined: Confined): ScopeTerms {
  const { thread = null, projectScope = null, captured = false, project = null, layers = null } = confined
  const { org } = scope
  const groups = [readersOf(scope).map((reader) => (captured ? capturedTerm : readerTerm)(org, reader))]
  const projects = projectsOf(scope)
  if (projects !== null) groups.push(projects.map((one) => projectTerm(org, one || null)))
  if (projectScope !== null)
    groups.push([...homesOf(scope, projectScope).map((one) => projectTerm(org, one)), semanticTerm(org)])
  if (project !== null) groups.push(homesOf(scope, project).map((one) => projectTerm(org, one)))
  if (thread !== null) groups.push([threadTerm(org, thread)])
  if (layers === null) return { groups, without: [] }
  const marked = [
    { layer: 1, term: workingTerm(org) },
    { layer: 3, term: semanticTerm(org) },
  ] as const
  const termsOf = (among: boolean) =>
    marked.flatMap(({ layer, term }) => (layers.includes(layer) === among ? [term] : []))
  if (layers.includes(2)) return { groups, without: termsOf(false) }
  return { groups: [...groups, termsOf(true)], without: [] }
}

/** Seven letters and digits that stand for a project of an org at the beginning of each term of its code. */
export const codeTerm = (org: string, project: string): string => codeNumber(org, project).toString(36).padStart(7, '0')

/** The same as a number of 32 bits. */
export const codeNumber = (org: string, project: string): number => Number(digits(`${org}\n${project}`)) % 4_294_967_296

/** The months as the index knows them: the day an entry was made is indexed in words such as `8 may 2023`. */
export const MONTHS: readonly string[] =
  'january february march april may june july august september october november december'.split(' ')

/**
 * Everything that a search may look at, counted: in one room, in some layers, or all, in all threads; nothing where nobody asks.
 *
 * @param place of captured entries no counter knows
 * @param isExact whether what is being deleted is taken off
 */
export function totalsOf(
  context: ProjectScopeContext,
  place: Omit<Confined, 'thread'>,
  wanted: boolean,
  isExact = true,
): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  const { dialect, scope, now } = context
  if (place.captured)
    return sql`SELECT count(*) AS entries, coalesce(sum(e.text_words), 0) AS words, min(e.id) AS first_id, max(e.id) AS last_id
      FROM entries e WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone' })}`
  return projectScopeCounts(context, place, isExact)
}
