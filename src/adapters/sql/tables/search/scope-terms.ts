import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import type { IndexedContent } from '../../../../domain/entry/entry-write'
import { homesOf, type Scope } from '../../../../domain/identity/scope'
import { listed, projectsOf, readersOf } from '../../core/visibility'
import { projectScopeCounts } from '../counts/visible-counts'
import type { ProjectScopeContext } from '../entries/project-scope-rows'

/**
 * Restricts a search index to a scope: each indexed entry has terms for its organization (or the one owner who may read it), its project
 * and its thread, and every query begins with them.
 */

/**
 * Returns 53 bits of a string as decimal digits, which no tokenizer changes (cyrb53). SQL drops rows of a collision.
 */
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

/**
 * Returns the term of an owner. It contains the organization separately, so that chosen owner names cannot collide with another
 * organization.
 */
const readerTerm = (org: string, reader: string): string =>
  reader === '' ? `o${digits(org)}` : `w${digits(org)}x${digits(`${org}\n${reader}`)}`
/** Returns the term of captured entries: other searches read none of them and count none of their words. */
const capturedTerm = (org: string, reader: string): string => `c${readerTerm(org, reader)}`
const projectTerm = (org: string, project: string | null): string =>
  project === null ? `j${digits(org)}` : `p${digits(`${org}\n${project}`)}`
const threadTerm = (org: string, thread: string): string => `t${digits(`${org}\n${thread}`)}`

/** Returns the term of entries that belong to all projects. */
const semanticTerm = (org: string): string => `s${digits(org)}`

/** Returns the term of working memory. Layer 2 has no term: it has neither of the others. */
const workingTerm = (org: string): string => `k${digits(org)}`

/** Returns the term of entries of a length step (`candidates.ts`), for an index that finds the shortest. */
export const lengthTerm = (org: string, step: number): string => `l${digits(org)}x${step}`

/** Returns the term of the entries in the sample. */
export const sampleTerm = (org: string): string => `r${digits(org)}`

/** Returns the terms of an entry. */
export const entryScopeTerms = (
  org: string,
  { reader, project, threadId, layer, captured }: IndexedContent,
): string[] => [
  captured ? capturedTerm(org, reader) : readerTerm(org, reader),
  projectTerm(org, project),
  threadTerm(org, threadId),
  ...(layer === 3 ? [semanticTerm(org)] : layer === 1 ? [workingTerm(org)] : []),
]

/**
 * The part of a scope that a query covers: one thread, or one project with the entries of all projects, and layers of that.
 */
export interface Confined {
  readonly thread?: string | null
  readonly projectScope?: string | null
  /** Captured entries instead of listed ones. */
  readonly captured?: boolean
  /** One project, of all layers. */
  readonly project?: string | null
  /** Null for all. */
  readonly layers?: readonly Layer[] | null
}

/** Terms that restrict a query. */
interface ScopeTerms {
  /** Every entry of the scope has a term of each group. */
  readonly groups: readonly (readonly string[])[]
  /** No entry of the scope has one of these. */
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

/** Returns seven letters and digits that identify a project of an organization, as the prefix of its code terms. */
export const codeTerm = (org: string, project: string): string => codeNumber(org, project).toString(36).padStart(7, '0')

/** Returns the same as a number of 32 bits. */
export const codeNumber = (org: string, project: string): number => Number(digits(`${org}\n${project}`)) % 4_294_967_296

/** Names of months in the index, which has the day of an entry in words such as `8 may 2023`. */
export const MONTHS: readonly string[] =
  'january february march april may june july august september october november december'.split(' ')

/**
 * Counts the entries and words that a search covers: in one project scope, in some layers, or in all; nothing without a scope.
 *
 * @param place counters do not cover captured entries
 * @param isExact whether entries pending deletion are subtracted
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
