import { type SQL, sql } from 'drizzle-orm'
import type { SqlDialect } from '../../core/dialect'
import { accessScope, expired, inProject, listed, visibleThen } from '../../core/visibility'
import { LAYERS, type ProjectScopeContext, together } from '../entries/project-scope-rows'
import type { ReadContext } from '../entries/read-statements'

/** What a scope sees in all threads, from one counter a circle of readers. */

/**
 * The ids `gone` of entries that the counters still count, though nobody sees them any more: expired, or leaving. They are few:
 * the schedule and the calls that delete remove them.
 */
export const gone = ({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>): SQL => sql`gone AS MATERIALIZED (
    SELECT x.id FROM entries x
    WHERE x.org = ${scope.org} AND ${expired(now, 'x')} AND x.listed = 1 AND ${accessScope(dialect, scope, 'x')}
    UNION
    SELECT x.id FROM pending_deletes l ${dialect.plan.follow('entries', 'x', sql`x.id = l.entry_id`)}
    WHERE l.org = ${scope.org} AND x.listed = 1 AND ${accessScope(dialect, scope, 'x')}
  )`

/** A statement of one number: entries of a scope as counters have them, with those that are `gone`. */
export const entriesCounted = ({ dialect, scope }: Pick<ReadContext, 'dialect' | 'scope'>): SQL => sql`
  SELECT coalesce(sum(c.entries), 0) FROM entry_counters c
  WHERE c.org = ${scope.org} AND c.listed = 1 AND ${accessScope(dialect, scope, 'c', 'empty')}`

/** A statement of one row: `entries`, `user_entries`, `multimodal`, `bytes`, `images` and `summaries`. */
export const visibleTotals = (context: Omit<ReadContext, 'indexedFields'>): SQL => {
  const { dialect, scope } = context
  return sql`WITH ${gone(context)}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(user_entries), 0) AS user_entries,
      coalesce(sum(multimodal), 0) AS multimodal, coalesce(sum(bytes), 0) AS bytes, coalesce(sum(images), 0) AS images,
      coalesce(sum(summaries), 0) AS summaries
    FROM (
      SELECT c.entries, c.user_entries, c.multimodal, c.bytes, c.images, c.summaries FROM entry_counters c
      WHERE c.org = ${scope.org} AND c.listed = 1 AND ${accessScope(dialect, scope, 'c', 'empty')}
      UNION ALL
      SELECT -1, CASE WHEN e.source = 'user' THEN -1 ELSE 0 END, CASE WHEN e.image_count > 0 THEN -1 ELSE 0 END, -e.bytes,
        -e.image_count, CASE WHEN e.summary <> '' THEN -1 ELSE 0 END
      FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)}
    ) counted`
}

/** From so many on: of fewer, what it saves is less than a row each, and rows are read for it. */
const WORTH_IT = 10

/** Statements that stand around those that store entries; none where nothing is saved by them. */
interface Around {
  readonly before: readonly SQL[]
  readonly after: readonly SQL[]
}

/**
 * Counts the entries that a batch stores in between once for all, where each row would count for itself.
 *
 * @param stored how many entries; none of them may be changed or deleted in between, since it is not counted yet
 */
export const countedLater = (dialect: SqlDialect, org: string, stored: number): Around =>
  dialect.countsRows && stored >= WORTH_IT
    ? {
        before: [sql`INSERT INTO deferred_counts (org, above_id) SELECT ${org}, coalesce(max(id), 0) FROM entries`],
        after: [sql`DELETE FROM deferred_counts WHERE org = ${org}`],
      }
    : { before: [], after: [] }

/**
 * How many entries layers hold, by sort: from counters that triggers keep, so that it costs the same in a
 * store of any size. Entries with an end are not in the counters, since they leave without a write: they are counted one by one, and
 * what a call has deleted and not yet removed is taken off again.
 */

/** Of some layers, what stands in one place. */
interface Place {
  readonly layers: readonly number[]
  /** Null for every project of the scope. */
  readonly project: string | null
}

/** Where entries of layers are counted: anywhere where nothing is named. */
interface Within {
  /** A project and layer 3 of the whole org. */
  readonly projectScope?: string | null
  /** A project alone. */
  readonly project?: string | null
}

function placesOf(layers: readonly number[], { projectScope = null, project = null }: Within): Place[] {
  if (projectScope === null || project !== null) return [{ layers, project }]
  const [own, shared] = [layers.filter((layer) => layer !== 3), layers.filter((layer) => layer === 3)]
  return [
    { layers: own, project: projectScope },
    { layers: shared, project: null },
  ].filter((place) => place.layers.length > 0)
}

const within = ({ dialect, scope }: ProjectScopeContext, { layers, project }: Place, alias: string): SQL => {
  const ofProject =
    project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql.raw(`${alias}.project`))}`
  return sql`${sql.raw(`${alias}.layer IN (${layers.join(', ')})`)}${ofProject}`
}

/** Rows with the columns of the counters; some take off from others. */
function sortsIn(context: ProjectScopeContext, layers: readonly number[], where: Within, isExact = true): SQL {
  const { dialect, scope, now } = context
  const places = placesOf(layers, where)
  const counted = (place: Place): SQL => sql`
    SELECT c.layer, c.kind, c.pinned, c.entries, c.words, c.first_id, c.last_id FROM layer_counters c
    WHERE c.org = ${scope.org} AND ${within(context, place, 'c')} AND ${accessScope(dialect, scope, 'c', 'empty')}`
  const ending = (place: Place): SQL => sql`
    SELECT e.layer, e.kind, e.pinned, 1, e.text_words, e.id, e.id FROM ${dialect.plan.entriesBy('entries_layer_expires_at_idx')}
    WHERE ${listed(dialect, scope, now)} AND ${within(context, place, 'e')} AND e.expires_at > ${now}`
  const anywhere = sql.join(
    places.map((place) => sql`(${within(context, place, 'e')})`),
    sql` OR `,
  )
  const pending = sql`
    SELECT e.layer, e.kind, e.pinned, -1, -e.text_words, e.id, e.id
    FROM pending_deletes l ${dialect.plan.follow('entries', 'e', sql`e.id = l.entry_id`)}
    WHERE l.org = ${scope.org} AND e.listed = 1 AND e.expires_at IS NULL AND ${visibleThen(dialect, scope, now)} AND (${anywhere})`
  return together([...places.map(counted), ...places.map(ending), ...(isExact ? [pending] : [])])
}

const among = (dialect: SqlDialect, values: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

/** How many entries of these kinds a layer holds, of any for null, as `total`. */
export function layerTotal(
  context: ProjectScopeContext,
  layer: number,
  project: string | null,
  kinds: readonly string[] | null,
): SQL {
  const ofKind = kinds === null ? sql`` : sql` WHERE kind IN ${among(context.dialect, kinds)}`
  return sql`SELECT coalesce(sum(entries), 0) AS total FROM (${sortsIn(context, [layer], { projectScope: project })}) AS sorts${ofKind}`
}

/** How many entries of each sort all layers hold. */
export const layerCounts = (context: ProjectScopeContext, project: string | null): SQL => sql`
  SELECT layer, kind, pinned, sum(entries) AS count FROM (${sortsIn(context, LAYERS, { projectScope: project })}) AS sorts
  GROUP BY layer, kind, pinned HAVING sum(entries) > 0`

/**
 * How many entries and words a place holds, and between which ids they stand, or stood; without `isExact` also what is being deleted.
 *
 * @param where some layers, all for null, of a room, of a project, or of the whole org
 */
export const projectScopeCounts = (
  context: ProjectScopeContext,
  where: Within & { readonly layers?: readonly number[] | null },
  isExact: boolean,
): SQL => sql`
  SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words, min(first_id) AS first_id, max(last_id) AS last_id
  FROM (${sortsIn(context, where.layers ?? LAYERS, where, isExact)}) AS sorts`
