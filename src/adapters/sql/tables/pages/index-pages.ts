import { type SQL, sql } from 'drizzle-orm'
import type { Filter, Predicate } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { circle, listed, listedBeside } from '../../core/visibility'
import { gone } from '../counts/circle-totals'
import { previewColumns, type ReadContext, withPrelude } from '../entries/read-statements'

/** Pages that an index has in their order: of one tag, or of one value of an indexed field. */

/** So many times as many entries may be gone through where the index alone is read. */
export const IN_INDEX = 10

export const NEWEST = sql.raw('e.created_second DESC, e.id DESC')
/** The same of tags. */
export const TAGGED_NEWEST = sql.raw('t.created_at / 1000 DESC, t.entry_id DESC')

/** The one tag that is all a filter asks for; null for any other. */
function tagAlone(filter: Filter): string | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'tag' || others.length > 0 || part.anyOf.length !== 1) return null
  return part.anyOf[0] ?? null
}

/**
 * What has a tag, newest first by an index that knows what lists ask of it, and how many in all by counters, so that neither costs what the
 * tag has.
 */
function ofTag(
  context: ReadContext,
  tag: string,
  { limit, offset, previewLength }: PageRequest,
): { page: SQL; total: SQL } {
  const { dialect, scope, now } = context
  const page = sql`page AS (SELECT t.entry_id AS id FROM entry_tags t INDEXED BY entry_tags_created_idx
    WHERE t.org = ${scope.org} AND t.tag = ${tag} AND ${listedBeside(dialect, scope, now, 't')}
    ORDER BY ${TAGGED_NEWEST} LIMIT ${limit} OFFSET ${offset})`
  const tagged = sql`EXISTS (SELECT 1 FROM ${dialect.jsonRows(sql`e.tags`)} named WHERE named.value = ${tag})`
  return {
    page: sql`WITH ${page} SELECT ${previewColumns(context, previewLength)} FROM page
      ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)} ORDER BY ${NEWEST}`,
    total: sql`WITH ${gone(context)} SELECT (
        SELECT coalesce(sum(c.uses), 0) FROM tag_counters c
        WHERE c.org = ${scope.org} AND c.tag = ${tag} AND ${circle(dialect, scope, 'c', 'empty')}
      ) - (SELECT count(*) FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)} WHERE ${tagged}) AS total`,
  }
}

/** The one string that a field of strings equals, letters folded, where that is all a filter asks for; null for any other. */
function fieldAlone({ indexedFields }: ReadContext, filter: Filter): Extract<Predicate, { op: 'equals' }> | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'equals' || !part.fold || others.length > 0) return null
  return indexedFields.get(part.path[0] ?? '') === 'string' ? part : null
}

/** What such a field leads to, newest first by its index, which counts them too: neither looks at an entry. Null where it does not. */
function ofField(
  context: ReadContext,
  predicate: Extract<Predicate, { op: 'equals' }>,
  { limit, offset, previewLength }: PageRequest,
  most: number,
): { page: SQL; total: SQL } | null {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const known = dialect.listedByIndex(predicate, bindings.bind)
  if (known === null) return null
  const ids = sql`SELECT e.id FROM entries e WHERE ${listed(dialect, scope, now)} AND ${known}`
  const page = sql`page AS (${ids} ORDER BY ${NEWEST} LIMIT ${limit} OFFSET ${offset})`
  return {
    page: withPrelude(
      bindings,
      [page],
      sql`SELECT ${previewColumns(context, previewLength)} FROM page
        ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)} ORDER BY ${NEWEST}`,
    ),
    total: withPrelude(
      bindings,
      [],
      sql`SELECT CASE WHEN count(*) <= ${most} THEN count(*) END AS total FROM (${ids} LIMIT ${most + 1})`,
    ),
  }
}

/** Page and total where one part is all that a filter asks for and an index has it newest first; null where none has. */
export function byIndexAlone(
  context: ReadContext,
  filter: Filter,
  request: PageRequest,
): { page: SQL; total: SQL } | null {
  const { bounded } = context.dialect
  // One of few projects would go through the others' rows.
  if (bounded === null || context.scope.projects !== null || request.offset > bounded.entries) return null
  const tag = tagAlone(filter)
  if (tag !== null) return ofTag(context, tag, request)
  const field = fieldAlone(context, filter)
  return field === null ? null : ofField(context, field, request, bounded.entries * IN_INDEX)
}
