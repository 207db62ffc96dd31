// Finds the message that a repeated store updates: the newest of its thread and source, unless an answer came in between.

import { type SQL, sql } from 'drizzle-orm'
import { readerOf } from '../../../../domain/entry/entry'
import type { NewEntry } from '../../../../domain/entry/entry-write'
import { keptKeys } from '../../../../domain/entry/metadata'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { accessScope, changeable, listed } from '../../core/visibility'

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Returns whether the metadata of an entry leave out reserved keys that the stored row `alias` has. */
const drops = ({ dialect }: Context, { metadata }: NewEntry, alias: string): SQL =>
  metadata === null ? sql`1 = 0` : dialect.hasAnyKey(sql`${sql.raw(alias)}.metadata`, keptKeys(metadata))

/**
 * Returns the ID of the message that a repeated store updates, otherwise NULL (threads contract §2.2).
 *
 * @param isGuarded whether `reservedKeysGuards` checks the entry; without it, a message whose reserved keys it would drop does not match
 */
export function repeatedTurn(context: Context, entry: NewEntry, isGuarded = true): SQL {
  const other = entry.source === 'user' ? 'agent' : 'user'
  // A private entry gets an owner, so it must not replace a message of another owner.
  const hidden = readerOf(entry.lifted, entry) !== '' ? sql` AND newest.owner = ${entry.owner}` : sql``
  // It must not move an entry out of its project, where others read it, or into one.
  const there = entry.metadata === null ? sql`` : sql` AND coalesce(newest.project, '') = ${entry.lifted.project ?? ''}`
  const keeps =
    isGuarded || entry.metadata === null
      ? sql``
      : sql` AND NOT EXISTS (SELECT 1 FROM entries turn WHERE turn.id = newest.id AND ${drops(context, entry, 'turn')})`
  return sql`(
    SELECT newest.id FROM (${newestTurn(context, entry.threadId, entry.source)}) newest
    WHERE newest.text_hash = ${entry.textHash} AND newest.changeable = 1${hidden}${there}${keeps}
      AND newest.id > coalesce((SELECT answer.id FROM (${newestTurn(context, entry.threadId, other)}) answer), 0)
  )`
}

/**
 * Returns which entries are the first of a call in their thread: only then is the repeated message known before the call writes.
 */
export function areFirstInThread(entries: readonly Pick<NewEntry, 'threadId'>[]): boolean[] {
  const seen = new Set<string>()
  return entries.map(({ threadId }) => !seen.has(threadId) && seen.add(threadId).size > 0)
}

/**
 * Fails the batch when the metadata of an entry would drop reserved keys of the turn that it repeats. The caller then stores again with
 * those keys, which `repeatedTurnStatement` reads. Checks the first entry of each thread; the others are checked as they are written.
 */
export function reservedKeysGuards(context: Context, entries: readonly NewEntry[], premise: string): SQL[] {
  const areFirst = areFirstInThread(entries)
  return entries.flatMap((entry, i) => {
    if (entry.metadata === null || !areFirst[i]) return []
    const turn = sql`e.id = ${repeatedTurn(context, entry)}`
    return sql`INSERT INTO guards (holds, precondition)
      SELECT NOT EXISTS (SELECT 1 FROM entries e WHERE ${turn} AND ${drops(context, entry, 'e')}), ${premise}`
  })
}

/** Returns the metadata of the message that an entry repeats; no row if it repeats none. */
export const repeatedTurnStatement = (context: Context, entry: NewEntry): SQL =>
  sql`SELECT e.metadata FROM entries e WHERE e.id = ${repeatedTurn(context, entry)}`

/**
 * Returns the visible entry with the highest ID of a thread and a source, with the columns for `changeable`, or no row.
 */
function newestTurn(context: Context, threadId: string, source: NewEntry['source']): SQL {
  const { dialect, scope, now } = context
  const mine = sql`CASE WHEN ${changeable(dialect, scope, now)} THEN 1 ELSE 0 END`
  const columns = sql`e.id, e.text_hash, e.owner, e.project, ${mine} AS changeable`
  const of = sql`${listed(dialect, scope, now)} AND e.thread_id = ${threadId} AND ${dialect.plan.rangeOf(sql`e.source`, sql`${source}`)}`
  if (dialect.bounded === null)
    return sql`
      SELECT ${columns} FROM entries e WHERE ${of}
      ORDER BY ${dialect.plan.inOrder(sql`e.source DESC`, sql`e.id DESC`)} LIMIT 1`
  // The newest of each set of readers of the caller, which the counters list: there may be many newer entries of others.
  const mineToSee = sql`c.org = ${scope.org} AND c.thread_id = ${threadId} AND ${accessScope(dialect, scope, 'c', 'empty')}`
  // As an expression, since SQLite does not compare a text column with an indexed expression.
  const inCircle = sql`e.reader = c.reader AND coalesce(e.project, '') = ${dialect.plan.unordered(sql`c.project`)}`
  return sql`
    SELECT ${columns}
    FROM (
      SELECT max((
        SELECT e.id FROM ${dialect.plan.entriesBy('entries_thread_source_reader_idx')}
        WHERE ${of} AND ${inCircle} ORDER BY e.id DESC LIMIT 1
      )) AS id FROM thread_counters c WHERE ${mineToSee}
    ) AS latest ${dialect.plan.follow('entries', 'e', sql`e.id = latest.id`)}`
}
