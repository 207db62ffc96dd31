import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import { compileFilter, joinConditions } from '../../core/compile-filter'
import type { Bindings } from '../../core/dialect'
import { listed } from '../../core/visibility'
import { LAYERS, projectScopeIds, together } from '../entries/project-scope-rows'
import { readBudgetOf } from '../entries/read-budget'
import type { ReadContext } from '../entries/read-statements'
import { accessPathsOf } from './access-paths'
import { taggedEntries } from './tags'

/** How a statement finds the entries of a filter. */
export interface Plan {
  /** Tables at the start of the statement. */
  readonly tables: readonly SQL[]
  /** Condition that an access path has found few entries; null without one, or without limits. */
  readonly within: SQL | null
  readonly from: SQL
  readonly where: SQL
  /** Whether rows are found by an index other than the one in the order of time. */
  readonly selective: boolean
  /** `ORDER BY` for newest ID first, for a plan in that order. */
  readonly byId: SQL
}

const NEWEST_ID = sql.raw('e.id DESC')

/**
 * Chooses the first index, because no database knows in advance which filter is selective: for a thread or a date its index in the order of
 * time,
 * otherwise the tag table, otherwise an indexed metadata field; with limits on a statement, any selective one.
 *
 * @param order `byId`: newest ID first, by the index with the IDs of the organization or of the thread in order
 */
export function planEntries(
  context: ReadContext,
  filter: Filter,
  bindings: Bindings,
  { byId = false }: { readonly byId?: boolean } = {},
): Plan {
  const { dialect, scope, now, indexedFields } = context
  const parts = conjuncts(filter)
  const tag = parts.find((part) => part.op === 'tag')
  const inThread = parts.some((part) => part.op === 'thread')
  /** Returns the plan by the rows of an access path. */
  const selective = (from: SQL, done: Filter): Plan => {
    const others = { op: 'and', of: parts.filter((part) => part !== done) } as const
    const where = sql`${listed(dialect, scope, now)} AND ${compileFilter(others, dialect, bindings.bind)}`
    return { tables: [], within: null, from, where, selective: true, byId: NEWEST_ID }
  }
  const share = readBudgetOf(dialect, filter)
  if (share !== null) {
    const leads = accessPathsOf(context, filter, bindings, share, { byId })
    if (leads === null) return inOrder(context, filter, bindings, byId)
    const { tables, from, within, isDone } = leads
    const conditions = parts.map((part) => {
      const condition = compileFilter(part, dialect, bindings.bind)
      const done = isDone(part)
      return done === null ? condition : sql`(${done} OR ${condition})`
    })
    const where = sql`${listed(dialect, scope, now)} AND ${joinConditions('and', conditions)}`
    return { tables, within, from, where, selective: true, byId: NEWEST_ID }
  }
  if (tag && !inThread) {
    const projectScope = parts.find((part) => part.op === 'projectScope')?.is
    const layers = parts.find((part) => part.op === 'layer')?.anyOf ?? LAYERS
    const places =
      projectScope === undefined
        ? [{}]
        : layers.map((layer) => (layer === 3 ? { layer } : { layer, project: projectScope }))
    const tagged = places.map((place) => taggedEntries(dialect, scope, tag.anyOf, place))
    const from = sql`(${tagged.length === 0 ? sql`SELECT 0 AS entry_id WHERE 1 = 0` : together(tagged)}) tagged
      ${dialect.plan.follow('entries', 'e', sql`e.id = tagged.entry_id`)}`
    return selective(from, tag)
  }
  const projectScope = parts.find((part) => part.op === 'projectScope')
  if (projectScope && !inThread) {
    const layers = parts.find((part) => part.op === 'layer')?.anyOf
    const ids = projectScopeIds(context, projectScope.is, layers)
    const from = sql`(${ids}) scoped ${dialect.plan.follow('entries', 'e', sql`e.id = scoped.id`)}`
    return selective(from, projectScope)
  }
  const indexed = parts
    .filter((part) => part.op === 'equals')
    .filter(({ path }) => path.length === 1 && indexedFields.has(path[0] as string))
  if (indexed.length > 0 && !inThread) {
    // A range of time must not choose the rows either: it usually admits far more than an indexed field.
    const conditions = parts.map((part) => {
      const condition = compileFilter(part, dialect, bindings.bind)
      return part.op === 'created' ? dialect.plan.unordered(condition) : condition
    })
    const where = sql`${listed(dialect, scope, now)} AND ${joinConditions('and', conditions)}`
    return { tables: [], within: null, from: sql`entries e`, where, selective: true, byId: NEWEST_ID }
  }
  return inOrder(context, filter, bindings, byId)
}

/** Returns the plan by the index in the order of time, or of IDs. */
function inOrder({ dialect, scope, now }: ReadContext, filter: Filter, bindings: Bindings, byId: boolean): Plan {
  const parts = conjuncts(filter)
  const inThread = parts.some((part) => part.op === 'thread')
  const thread = byId ? parts.find((part) => part.op === 'thread') : undefined
  const shown = listed(dialect, scope, now, 'e', { inOrderOfOrg: byId && !inThread })
  const ofThread =
    thread === undefined ? sql`` : sql` AND ${dialect.plan.rangeOf(sql`e.thread_id`, bindings.bind(thread.is))}`
  const others: Filter = { op: 'and', of: parts.filter((part) => part !== thread) }
  const where = sql`${shown}${ofThread} AND ${compileFilter(others, dialect, bindings.bind)}`
  const illustrated = !inThread && parts.some((part) => part.op === 'contentType' && part.is === 'multimodal')
  const from = illustrated ? dialect.plan.illustratedEntries : sql`entries e`
  return {
    tables: [],
    within: null,
    from,
    where,
    selective: false,
    byId: dialect.plan.inOrder(inThread ? sql`e.thread_id DESC` : sql`e.org`, NEWEST_ID),
  }
}
