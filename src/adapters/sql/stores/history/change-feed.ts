import { type SQL, sql } from 'drizzle-orm'
import { staleCursor } from '../../../../domain/history/cursor'
import {
  actionFor,
  FEED_ACTIONS,
  FEED_PREVIEW,
  type FeedAction,
  type FeedChange,
  type FeedFilter,
  UNFILTERED_FEED,
} from '../../../../domain/history/feed'
import type { Scope } from '../../../../domain/identity/scope'
import { paginate } from '../../../../domain/paginate'
import { scheduler } from '../../../../domain/scheduler'
import { truncate } from '../../../../domain/text'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { ChangeFeed, FeedStart, NewestChanges } from '../../../../ports/history'
import { Batch, readOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { asRows, num, numOrNull, onlyRow, str, strOrNull } from '../../core/rows'
import { accessScope, inProject, listed } from '../../core/visibility'
import {
  changedSince,
  changesOf,
  NEWEST_FIRST,
  newestChange,
  OLDEST_FIRST,
  toVisibilityChange,
  VISIBILITY_COLUMNS,
} from '../../tables/changes/change-rows'
import { previewOf } from '../../tables/texts/long-texts'

/** Column prefixes of the visibility of an entry before and after a change. */

const SIDES = { before: 'was_', after: '' } as const

/**
 * Returns whether the scope could read the entry on that side of a change, and the filter matches: `actionFor` in SQL.
 */
function seen(dialect: SqlDialect, scope: Scope, { threadId, project }: FeedFilter, side: keyof typeof SIDES): SQL {
  const was = SIDES[side]
  const thread = sql.raw(side === 'before' ? 'c.was_thread' : 'c.thread_id')
  const parts = [
    accessScope(dialect, scope, 'c', 'null', was),
    ...(threadId === null ? [] : [sql`${thread} = ${threadId} AND c.erased = 0`]),
    ...(project === null
      ? []
      : [sql`${inProject(dialect, scope, project, sql.raw(`c.${was}project`))} AND c.erased = 0`]),
  ]
  return sql`CASE WHEN ${sql.join(parts, sql` AND `)} THEN 1 ELSE 0 END`
}

/** Each action, by the visibility before (2) and after (1). */
const SEEN: Readonly<Record<FeedAction, number>> = { stored: 1, deleted: 2, updated: 3 }

const actionsSeen = ({ actions }: FeedFilter): SQL =>
  sql.raw((actions ?? FEED_ACTIONS).map((action) => SEEN[action]).join(', '))

/** Returns the columns of a change `c`, and its visibility before and after. */
const reported = (dialect: SqlDialect, scope: Scope, filter: FeedFilter): SQL =>
  sql`c.org, c.seq, c.version, c.at, c.change_id, c.agent, c.kind, c.was_kind, ${VISIBILITY_COLUMNS},
    2 * ${seen(dialect, scope, filter, 'before')} + ${seen(dialect, scope, filter, 'after')} AS seen`

/**
 * Returns the listed entry of a change `p`, if any: an old change must not show a text that the reader may no longer read.
 */
const nowListed = (dialect: SqlDialect, scope: Scope, now: Millis): SQL =>
  dialect.plan.followLeft(
    'entries',
    'e',
    sql`e.id = p.entry_id AND p.seen <> 2 AND ${listed(dialect, scope, now, 'e', { captured: 'too' })}`,
  )

export function pageStatement(
  dialect: SqlDialect,
  scope: Scope,
  filter: FeedFilter,
  page: { readonly after: number; readonly limit: number; readonly now: Millis },
): SQL {
  return sql`
    SELECT p.*, ${previewOf(dialect, FEED_PREVIEW + 1)} AS preview
    FROM (
      SELECT c.*
      FROM (
        SELECT ${reported(dialect, scope, filter)}
        FROM changes c
        WHERE ${changedSince(dialect, scope.org, sql`${page.after}`)} AND ${withinPart(dialect, scope, filter, page.after)}
      ) c
      WHERE c.seen IN (${actionsSeen(filter)})
      ${OLDEST_FIRST} LIMIT ${page.limit}
    ) p
      ${nowListed(dialect, scope, page.now)}
    ORDER BY p.seq`
}

/** Rows of the log that are scanned for the newest changes that a scope sees. */
const LATEST_ROWS = 2_000
const latestStatement = (dialect: SqlDialect, scope: Scope, filter: FeedFilter, limit: number, now: Millis): SQL => sql`
  SELECT p.*, ${previewOf(dialect, FEED_PREVIEW + 1)} AS preview
  FROM (
    SELECT c.*
    FROM (
      SELECT ${reported(dialect, scope, filter)}
      FROM ${changesOf(scope.org)} ${NEWEST_FIRST} LIMIT ${LATEST_ROWS}
    ) c
    WHERE c.seen IN (${actionsSeen(filter)})
    ${NEWEST_FIRST} LIMIT ${limit}
  ) p
    ${nowListed(dialect, scope, now)}
  ORDER BY p.seq DESC`

/** Returns the checked changes, newest first, and those of them that the scope sees and that match. */
function newestStatements(dialect: SqlDialect, scope: Scope, request: NewestChanges, now: Millis) {
  const { before, limit, filter, agent, keyId } = request
  const below = before === null ? sql`` : sql` AND c.seq < ${before}`
  const checked = (columns: SQL) =>
    sql`SELECT ${columns} FROM ${changesOf(scope.org)}${below} ${NEWEST_FIRST} LIMIT ${LATEST_ROWS}`
  const by = [
    ...(agent === null ? [] : [sql` AND c.agent = ${agent}`]),
    ...(keyId === null ? [] : [sql` AND c.key_id = ${keyId}`]),
  ]
  return {
    bounds: sql`SELECT min(c.seq) AS lowest, count(*) AS checked FROM (${checked(sql`c.seq`)}) c`,
    found: sql`
      SELECT p.*, ${previewOf(dialect, FEED_PREVIEW + 1)} AS preview
      FROM (
        SELECT c.* FROM (${checked(sql`${reported(dialect, scope, filter)}, c.key_id`)}) c
        WHERE c.seen IN (${actionsSeen(filter)})${sql.join(by)}
        ${NEWEST_FIRST} LIMIT ${limit}
      ) p
        ${nowListed(dialect, scope, now)}
      ORDER BY p.seq DESC`,
  }
}

/**
 * Returns whether a page may skip thousands of rows. Without a filter nearly every row is visible, and the page is soon full.
 */
const mayPassOver = ({ projects }: Scope, { threadId, project, actions, entryId }: FeedFilter): boolean =>
  projects !== null || threadId !== null || project !== null || actions !== null || entryId !== undefined

/**
 * Returns the number of the last row that one statement scans if a filter may match few rows; no row if fewer follow, if nearly all match,
 * or if the database serves others meanwhile. Reads the rows of that part.
 */
const partEnd = (dialect: SqlDialect, scope: Scope, filter: FeedFilter, after: number): SQL =>
  dialect.bounded === null || !mayPassOver(scope, filter)
    ? sql`SELECT NULL AS seq`
    : sql`SELECT c.seq FROM changes c WHERE ${changedSince(dialect, scope.org, sql`${after}`)}
        ${OLDEST_FIRST} LIMIT 1 OFFSET ${sql.raw(String(dialect.bounded.entries - 1))}`

const withinPart = (dialect: SqlDialect, scope: Scope, filter: FeedFilter, after: number): SQL =>
  dialect.bounded === null || !mayPassOver(scope, filter)
    ? TRUE
    : sql`c.seq <= coalesce((${partEnd(dialect, scope, filter, after)}), ${sql.raw(String(Number.MAX_SAFE_INTEGER))})`

/**
 * Returns the newest row of the organization, the newest deleted one, and the end of the part after a number. Without a number the end is
 * not computed, because finding it reads the rows of a part.
 */
const boundsStatement = (dialect: SqlDialect, scope: Scope, filter: FeedFilter, after: number | null): SQL => sql`
  SELECT
    coalesce((${newestChange(scope.org)}), 0) AS newest,
    coalesce((SELECT f.purged_seq FROM feed_retention f WHERE f.org = ${scope.org}), 0) AS forgotten
    ${after === null ? sql`` : sql`, (${partEnd(dialect, scope, filter, after)}) AS part_end`}`

/**
 * Returns the number of the last change of an organization before a time, by binary search over the numbers, which increase with time:
 * about 30
 * steps of two rows.
 *
 * @param at milliseconds since 1970
 */
function positionStatement(dialect: SqlDialect, { org }: Scope, at: Millis): SQL {
  const middle = sql`((s.low + s.high) / 2)`
  const isBefore = sql`coalesce((
    SELECT c.at FROM changes c WHERE ${changedSince(dialect, org, sql`${middle} - 1`)} ${OLDEST_FIRST} LIMIT 1
  ), ${at}) < ${at}`
  return sql`
    WITH RECURSIVE s (low, high) AS (
      SELECT
        coalesce((SELECT f.purged_seq FROM feed_retention f WHERE f.org = ${org}), 0),
        coalesce((${newestChange(org)}), 0) + 1
      UNION ALL
      SELECT CASE WHEN ${isBefore} THEN ${middle} ELSE s.low END, CASE WHEN ${isBefore} THEN s.high ELSE ${middle} END
      FROM s WHERE s.high - s.low > 1
    )
    SELECT s.low AS position FROM s ORDER BY s.high - s.low LIMIT 1`
}

/**
 * Creates the feed of the change log. Numbers increase in the order of commits, because writers of an organization wait for each other and
 * take the number while they hold the lock (D1 has one writer, PostgreSQL the lock of `WriteLock`). A reader that has seen a number has
 * missed no lower one.
 */

const toBounds = (row: Row) => ({
  forgotten: num(row, 'forgotten'),
  /** The highest number that a reader may have seen. */
  end: Math.max(num(row, 'newest'), num(row, 'forgotten')),
  partEnd: numOrNull(row, 'part_end'),
})

function toChange(scope: Scope, filter: FeedFilter, row: Row): FeedChange | null {
  const sight = toVisibilityChange(row)
  const action = actionFor(scope, { ...filter, actions: null }, sight)
  if (action === null) return null
  const side = action === 'deleted' ? sight.before : sight.after
  const erased = sight.erased
  return {
    changeId: str(row, 'change_id'),
    action,
    entryId: sight.entryId,
    threadId: erased ? null : (side?.threadId ?? null),
    project: erased ? null : (side?.project ?? null),
    kind: erased ? null : strOrNull(row, action === 'deleted' ? 'was_kind' : 'kind'),
    version: num(row, 'version'),
    at: num(row, 'at'),
    agent: strOrNull(row, 'agent'),
    preview: truncate(strOrNull(row, 'preview') ?? '', FEED_PREVIEW - '...'.length).text,
    position: num(row, 'seq'),
    sight,
  }
}

/**
 * Creates the feed over any SQL connection. On a database that runs one statement at a time, the log is scanned in parts, with yields
 * between.
 */
export const createSqlChangeFeed = (connection: SqlConnection, clock: Clock): ChangeFeed => ({
  async page(scope, filter, start: FeedStart, limit) {
    const { dialect } = connection
    const found: Row[] = []
    const first = typeof start === 'number' ? start : 0
    const step = async (after: number) => {
      if (after !== first) await scheduler.yield()
      const part = { after, limit: limit + 1 - found.length, now: clock.now() }
      const batch = new Batch()
      const bounds = batch.add(
        boundsStatement(dialect, scope, filter, start === 'now' ? null : after),
        onlyRow(toBounds),
      )
      const page = start === 'now' ? null : batch.add(pageStatement(dialect, scope, filter, part), asRows)
      const result = await batch.run(connection)
      const { forgotten, end, partEnd } = result.of(bounds)
      // A cursor after the end comes from a database that was since restored to an earlier state.
      if (typeof start === 'number' && (after < forgotten || after > end)) throw staleCursor()
      if (page) found.push(...result.of(page))
      const more = found.length > limit
      if (start === 'now' || more || partEnd === null) {
        const changes = found.slice(0, limit).flatMap((row) => toChange(scope, filter, row) ?? [])
        return { found: { changes, next: more ? (changes.at(-1)?.position ?? end) : end, more }, next: null }
      }
      return { found: null, next: partEnd }
    }
    for await (const page of paginate({ start: first, step })) if (page !== null) return page
    throw new Error('A page of the feed ends with its last part')
  },
  async latest(scope, limit, filter = UNFILTERED_FEED) {
    const { dialect } = connection
    const batch = new Batch()
    const bounds = batch.add(boundsStatement(dialect, scope, filter, null), onlyRow(toBounds))
    const latest = batch.add(latestStatement(dialect, scope, filter, limit, clock.now()), (rows) =>
      rows.flatMap((row) => toChange(scope, filter, row) ?? []),
    )
    const result = await batch.read(connection)
    return { changes: result.of(latest), next: result.of(bounds).end }
  },
  async newest(scope, request) {
    const { dialect } = connection
    const { found, bounds } = newestStatements(dialect, scope, request, clock.now())
    const batch = new Batch()
    const end = batch.add(boundsStatement(dialect, scope, request.filter, null), onlyRow(toBounds))
    const lowest = batch.add(
      bounds,
      onlyRow((row) => (num(row, 'checked') === LATEST_ROWS ? num(row, 'lowest') : null)),
    )
    const rows = batch.add(found, asRows)
    const result = await batch.read(connection)
    const changes = result.of(rows).flatMap((row) => toChange(scope, request.filter, row) ?? [])
    const older = changes.length === request.limit ? (changes.at(-1)?.position ?? null) : result.of(lowest)
    return { changes, next: result.of(end).end, older }
  },
  async position(scope, at) {
    const statement = positionStatement(connection.dialect, scope, at)
    return readOne(
      connection,
      statement,
      onlyRow((row) => num(row, 'position')),
    )
  },
})
