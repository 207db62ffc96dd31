import { type SQL, sql } from 'drizzle-orm'
import type { SqlDialect } from '../../core/dialect'
import { accessScope, expired, inProject, listed, visibleThen } from '../../core/visibility'
import { LAYERS, type ProjectScopeContext, together } from '../entries/project-scope-rows'
import type { ReadContext } from '../entries/read-statements'

/** Counts what a scope sees, from counters for each set of readers. */

/**
 * Returns the IDs `gone` of invisible entries that the counters still include: expired, or pending deletion. There are few, because the
 * schedule and the deleting calls remove them.
 */
export const invisibleEntries = ({
  dialect,
  scope,
  now,
}: Omit<ReadContext, 'indexedFields'>): SQL => sql`gone AS MATERIALIZED (
    SELECT x.id FROM entries x
    WHERE x.org = ${scope.org} AND ${expired(now, 'x')} AND x.listed = 1 AND ${accessScope(dialect, scope, 'x')}
    UNION
    SELECT x.id FROM pending_deletes l ${dialect.plan.follow('entries', 'x', sql`x.id = l.entry_id`)}
    WHERE l.org = ${scope.org} AND x.listed = 1 AND ${accessScope(dialect, scope, 'x')}
  )`

/** Returns one number: the entries of a scope by the counters, including `gone` ones. */
export const entriesCounted = ({ dialect, scope }: Pick<ReadContext, 'dialect' | 'scope'>): SQL => sql`
  SELECT coalesce(sum(c.entries), 0) FROM entry_counters c
  WHERE c.org = ${scope.org} AND c.listed = 1 AND ${accessScope(dialect, scope, 'c', 'empty')}`

/** Returns one row: `entries`, `user_entries`, `multimodal`, `bytes`, `images` and `summaries`. */
export const visibleTotals = (context: Omit<ReadContext, 'indexedFields'>): SQL => {
  const { dialect, scope } = context
  return sql`WITH ${invisibleEntries(context)}
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

/** Minimum number of entries for deferred counting: for fewer it saves less than the rows it reads. */
const MIN_DEFERRED = 10

/** Statements around those that store entries; none if they would save nothing. */
interface Around {
  readonly before: readonly SQL[]
  readonly after: readonly SQL[]
}

/**
 * Counts the entries that a batch stores in between at once, instead of one by one.
 *
 * @param stored their number; none may be changed or deleted in between, since it is not counted yet
 */
export const countedLater = (dialect: SqlDialect, org: string, stored: number): Around =>
  dialect.countsRows && stored >= MIN_DEFERRED
    ? {
        before: [sql`INSERT INTO deferred_counts (org, above_id) SELECT ${org}, coalesce(max(id), 0) FROM entries`],
        after: [sql`DELETE FROM deferred_counts WHERE org = ${org}`],
      }
    : { before: [], after: [] }

/**
 * Counts the entries of layers by kind, from counters that triggers maintain, so that the cost does not depend on the size of the store.
 * Entries that expire are not in the counters, since they expire without a write: they are counted one by one. Entries pending deletion are
 * subtracted.
 */

/** Counters of some layers at one place. */
interface Place {
  readonly layers: readonly number[]
  /** Null for every project of the scope. */
  readonly project: string | null
}

/** Where entries of layers are counted; everywhere by default. */
interface Within {
  /** A project, and layer 3 of all projects. */
  readonly projectScope?: string | null
  /** A project without layer 3 of others. */
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

/** Returns rows with the columns of the counters; negative ones are subtracted. */
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

/** Returns the number of entries of these kinds in a layer (any kind for null), as `total`. */
export function layerTotal(
  context: ProjectScopeContext,
  layer: number,
  project: string | null,
  kinds: readonly string[] | null,
): SQL {
  const ofKind = kinds === null ? sql`` : sql` WHERE kind IN ${among(context.dialect, kinds)}`
  return sql`SELECT coalesce(sum(entries), 0) AS total FROM (${sortsIn(context, [layer], { projectScope: project })}) AS sorts${ofKind}`
}

/** Returns the number of entries of each kind in all layers. */
export const layerCounts = (context: ProjectScopeContext, project: string | null): SQL => sql`
  SELECT layer, kind, pinned, sum(entries) AS count FROM (${sortsIn(context, LAYERS, { projectScope: project })}) AS sorts
  GROUP BY layer, kind, pinned HAVING sum(entries) > 0`

/**
 * Returns entries and words of a place, and the lowest and highest ID that it has, or had. Without `isExact`, entries pending deletion
 * count too.
 *
 * @param where layers (null for all) of a project with layer 3, of a project, or of the organization
 */
export const projectScopeCounts = (
  context: ProjectScopeContext,
  where: Within & { readonly layers?: readonly number[] | null },
  isExact: boolean,
): SQL => sql`
  SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words, min(first_id) AS first_id, max(last_id) AS last_id
  FROM (${sortsIn(context, where.layers ?? LAYERS, where, isExact)}) AS sorts`
