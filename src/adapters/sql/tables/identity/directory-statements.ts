import { type SQL, sql } from 'drizzle-orm'
import type { ThreadPlace } from '../../../../domain/statistics'
import { accessScope, listed } from '../../core/visibility'
import { invisibleEntries } from '../counts/visible-counts'
import { ENTRY_COLUMNS } from '../entries/entry-rows'
import { liveThreads, type ReadContext, staleThreads } from '../entries/read-statements'
import { supersededBy } from '../links/links'
import { textOf } from '../texts/long-texts'

/** Statements that read names of threads and projects, and their entries. */

/** Maximum number of names that one completion checks. */
export const NAMES = 1000
/** Sorts after every continuation of a prefix: both databases compare UTF-8 bytes. */
export const LAST = '\u{10FFFF}'

/** Returns the active entries of stale threads, grouped by thread. */
const ofStale = (context: ReadContext): SQL => {
  const { dialect, scope, now } = context
  const inStale = dialect.plan.follow(
    'entries',
    'e',
    sql`e.org = ${scope.org} AND e.listed = 1 AND e.thread_id = stale.thread_id`,
  )
  return sql`(
    SELECT e.thread_id, max(e.created_second) AS last_second, max(e.id) AS last_id, count(*) AS entries
    FROM stale ${inStale}
    WHERE ${listed(dialect, scope, now)}
    GROUP BY e.thread_id) s`
}

/**
 * Returns a page of threads by last use. Counters are read in index order; a thread with several (by project and reader) is listed by the
 * last used one.
 */
export function threadPageStatement(context: ReadContext, after: ThreadPlace | null, limit: number): SQL {
  const { dialect, scope } = context
  const behind = (alias: string): SQL => {
    if (after === null) return sql``
    const a = sql.raw(alias)
    return sql`AND ${a}.last_second <= ${after.lastSecond}
      AND (${a}.last_second < ${after.lastSecond} OR ${a}.last_id < ${after.lastId})`
  }
  return sql`
    WITH ${staleThreads(context)}, used AS (
      SELECT c.thread_id, c.last_second, c.last_id FROM thread_counters c
      WHERE c.org = ${scope.org} AND ${accessScope(dialect, scope, 'c', 'empty')} ${behind('c')}
        AND c.thread_id NOT IN (SELECT thread_id FROM stale)
        AND NOT EXISTS (
          SELECT 1 FROM thread_counters o
          WHERE o.org = ${scope.org} AND o.thread_id = c.thread_id AND ${accessScope(dialect, scope, 'o', 'empty')}
            AND (o.last_second > c.last_second OR (o.last_second = c.last_second AND o.last_id > c.last_id)))
      ORDER BY c.last_second DESC, c.last_id DESC LIMIT ${limit}
    )
    SELECT used.thread_id, used.last_second, used.last_id, (
        SELECT sum(n.entries) FROM thread_counters n
        WHERE n.org = ${scope.org} AND n.thread_id = used.thread_id AND ${accessScope(dialect, scope, 'n', 'empty')}) AS entries
    FROM used
    UNION ALL
    SELECT s.thread_id, s.last_second, s.last_id, s.entries FROM ${ofStale(context)} WHERE 1 = 1 ${behind('s')}
    ORDER BY last_second DESC, last_id DESC LIMIT ${limit}`
}

/** Returns threads whose names have a prefix, by last use. */
export function threadNamesStatement(context: ReadContext, prefix: string, limit: number): SQL {
  const { dialect, scope } = context
  const begins = (alias: string): SQL =>
    sql`${sql.raw(alias)}.thread_id >= ${prefix} AND ${sql.raw(alias)}.thread_id < ${prefix + LAST}`
  return sql`
    WITH ${staleThreads(context)}, named AS (
      SELECT c.thread_id, c.last_second, c.last_id FROM thread_counters c
      WHERE c.org = ${scope.org} AND ${begins('c')} AND ${accessScope(dialect, scope, 'c', 'empty')}
        AND c.thread_id NOT IN (SELECT thread_id FROM stale)
      ORDER BY c.thread_id LIMIT ${sql.raw(String(NAMES))}
    ), both_kinds AS (
      SELECT named.thread_id, named.last_second, named.last_id FROM named
      UNION ALL
      SELECT s.thread_id, s.last_second, s.last_id FROM ${ofStale(context)} WHERE ${begins('s')}
    )
    SELECT thread_id FROM both_kinds
    GROUP BY thread_id
    ORDER BY max(last_second) DESC, max(last_id) DESC, thread_id LIMIT ${limit}`
}

/** Returns tags with a prefix, the most used first, from counters. */
export function tagNamesStatement(context: ReadContext, prefix: string, limit: number): SQL {
  const { dialect, scope } = context
  const begins = (tag: SQL): SQL => sql`${tag} >= ${prefix} AND ${tag} < ${prefix + LAST}`
  return sql`
    WITH ${invisibleEntries(context)}, named AS (
      SELECT c.tag, c.uses FROM tag_counters c
      WHERE c.org = ${scope.org} AND ${begins(sql`c.tag`)} AND ${accessScope(dialect, scope, 'c', 'empty')}
      ORDER BY c.tag LIMIT ${sql.raw(String(NAMES))}
    )
    SELECT tag FROM (
      SELECT named.tag, named.uses FROM named
      UNION ALL
      SELECT t.value, -1 FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)}
        CROSS JOIN ${dialect.jsonRows(sql`e.tags`)} t WHERE ${begins(sql`t.value`)}
    ) counted
    GROUP BY tag HAVING sum(uses) > 0 ORDER BY sum(uses) DESC, tag LIMIT ${limit}`
}

/** Returns the newest entries of a thread; of those beyond `maxBytes` only the ID, as `wanted_id`. */
export function tailStatement({ dialect, scope, now }: ReadContext, threadId: string, limit: number, maxBytes: number) {
  const size = sql`e.bytes + coalesce(length(e.images), 0) + length(e.tags)`
  return sql`
    WITH page AS (
      SELECT e.id, e.created_second FROM entries e
      WHERE ${listed(dialect, scope, now)} AND e.thread_id = ${threadId}
      ORDER BY e.created_second DESC, e.id DESC LIMIT ${limit}
    ), sized AS (
      SELECT page.id, page.created_second, ${size} AS size,
        sum(${size}) OVER (ORDER BY page.created_second DESC, page.id DESC) AS up_to_here
      FROM page ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)}
    )
    SELECT sized.id AS wanted_id, ${ENTRY_COLUMNS}, ${textOf()} AS text, ${supersededBy(dialect, scope, now)} AS superseded_by
    FROM sized
      ${dialect.plan.followLeft(
        'entries',
        'e',
        sql`e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.size)`,
      )}
    ORDER BY sized.created_second DESC, sized.id DESC`
}

export const tailTotalStatement = (context: ReadContext, threadId: string): SQL =>
  sql`WITH ${liveThreads(context, threadId)} SELECT coalesce(sum(entries), 0) AS total FROM live`
