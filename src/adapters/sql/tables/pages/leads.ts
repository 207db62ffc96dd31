import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { Bindings } from '../../core/dialect'
import { LAYERS, projectScopeIds, together } from '../entries/project-scope-rows'
import type { ReadContext } from '../entries/read-statements'
import { fits, noneIsLarge, PARSED_BYTES, type Share } from '../entries/share'
import { taggedRows } from './tags'

/**
 * Which part of a filter leads to the fewest entries no engine knows beforehand. On a database that serves nobody while a statement
 * goes on, each part that an index knows is asked for as many entries as one statement may go through, and the first that has no more
 * leads to them. Where every part has more, they are to be gone through in parts.
 */
interface Leads {
  /** What the statement begins with. */
  readonly tables: readonly SQL[]
  /** `entries e` to which a part has led; none where each leads to too many. */
  readonly from: SQL
  /** Whether a part has. */
  readonly within: SQL
  /** Whether what is led to fulfils a part for certain; null where its index knows more entries than do. */
  readonly isDone: (part: Filter) => SQL | null
}

/** What a page may be led by, beside the first few: tables of one statement are few on D1. */
const MOST_LEADS = 4

/** The room's layers that are asked for. */
const layersOf = (parts: readonly Filter[]): readonly number[] =>
  parts.find((part) => part.op === 'layer')?.anyOf ?? LAYERS

/** The ids of entries that fulfil one part, maybe some twice; null where no index knows them. */
function idsBy(context: ReadContext, part: Filter, parts: readonly Filter[], bindings: Bindings): SQL | null {
  const { dialect, scope, indexedFields } = context
  switch (part.op) {
    case 'tag': {
      const projectScope = parts.find(({ op }) => op === 'projectScope') as
        | Extract<Filter, { op: 'projectScope' }>
        | undefined
      const places =
        projectScope === undefined
          ? [{}]
          : layersOf(parts).map((layer) => (layer === 3 ? { layer } : { layer, project: projectScope.is }))
      return places.length === 0
        ? sql`SELECT 0 AS id WHERE 1 = 0`
        : together(places.map((place) => taggedRows(dialect, scope, part.anyOf, place)))
    }
    case 'projectScope':
      return projectScopeIds(context, part.is, layersOf(parts))
    case 'equals': {
      const [name, ...inner] = part.path
      const known = inner.length === 0 && name !== undefined && indexedFields.has(name)
      const condition = known ? (dialect.knownToIndex?.(part, bindings.bind) ?? null) : null
      return condition && sql`SELECT e.id FROM entries e WHERE e.org = ${scope.org} AND e.listed = 1 AND ${condition}`
    }
    case 'contentType':
      return part.is === 'multimodal'
        ? sql`SELECT e.id FROM ${dialect.plan.illustratedEntries} WHERE e.org = ${scope.org} AND e.listed = 1 AND e.image_count > 0`
        : null
    default:
      return null
  }
}

/** Whether an index knows a part of the filter. */
export const hasLead = (context: ReadContext, filter: Filter): boolean =>
  leadsOf(context, filter, context.dialect.bindings(), { entries: 0, bytes: null }, { byId: true }) !== null

/**
 * Null where no part of the filter leads to its entries by an index.
 *
 * @param share what one statement may go through
 * @param order in that of ids, those with images have no index that could be followed
 */
export function leadsOf(
  context: ReadContext,
  filter: Filter,
  bindings: Bindings,
  share: Share,
  { byId }: { readonly byId: boolean },
): Leads | null {
  const parts = conjuncts(filter)
  if (parts.some(({ op }) => op === 'thread')) return null
  const { dialect } = context
  const paths: SQL[] = []
  const leading: Filter[] = []
  for (const part of parts) {
    const isLead = paths.length < MOST_LEADS && (byId || part.op !== 'contentType')
    const ids = isLead ? idsBy(context, part, parts, bindings) : null
    if (ids === null) continue
    paths.push(ids)
    leading.push(part)
  }
  if (paths.length === 0) return null
  // Asked in turn: what follows the first that is few is not.
  const isFew = (ids: SQL): SQL => {
    const first = sql`(SELECT id FROM (${ids}) LIMIT ${share.entries + 1})`
    if (share.bytes === null) return sql`(SELECT count(*) FROM ${first}) <= ${share.entries}`
    // The entries themselves are looked at where they might be large.
    const bytes = sql`SELECT sum(${PARSED_BYTES}) FROM ${first} few ${dialect.plan.follow('entries', 'e', sql`e.id = few.id`)}`
    const isWithin = fits(share, sql`few.entries`, sql`coalesce((${bytes}), 0)`, noneIsLarge(dialect, context.scope))
    return sql`(SELECT ${isWithin} FROM (SELECT count(*) AS entries FROM ${first}) few)`
  }
  const cases = paths.map((ids, i) => sql`WHEN ${isFew(ids)} THEN ${sql.raw(String(i))}`)
  const way = sql`way AS MATERIALIZED (SELECT CASE ${sql.join(cases, sql` `)} END AS lead)`
  const rows = paths.map(
    // By its limit, since a condition would be asked of every row.
    (ids, i) => sql`SELECT id FROM (
      SELECT id FROM (${ids}) LIMIT CASE WHEN (SELECT lead FROM way) = ${sql.raw(String(i))} THEN -1 ELSE 0 END)`,
  )
  const isTwice = leading.some((part) => part.op === 'tag' && part.anyOf.length > 1)
  const led = isTwice ? sql`SELECT DISTINCT id FROM (${together(rows)})` : together(rows)
  return {
    tables: [way],
    from: sql`(${led}) led ${dialect.plan.follow('entries', 'e', sql`e.id = led.id`)}`,
    within: sql`(SELECT lead FROM way) IS NOT NULL`,
    isDone: (part) =>
      leading.includes(part) && part.op !== 'equals'
        ? sql`(SELECT lead FROM way) = ${sql.raw(String(leading.indexOf(part)))}`
        : null,
  }
}
