import { staleCursor } from '../../../../domain/history/cursor'
import { actionFor, FEED_PREVIEW, type FeedChange, type FeedFilter, WHOLE_FEED } from '../../../../domain/history/feed'
import type { Scope } from '../../../../domain/identity/scope'
import { inParts } from '../../../../domain/in-parts'
import { scheduler } from '../../../../domain/scheduler'
import { truncate } from '../../../../domain/text'
import type { ChangeFeed, FeedStart } from '../../../../ports/change-feed'
import type { Clock } from '../../../../ports/clock'
import { Batch, readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, num, numOrNull, onlyRow, str, strOrNull } from '../../core/rows'
import {
  boundsStatement,
  latestStatement,
  pageStatement,
  positionStatement,
} from '../../tables/changes/feed-statements'
import { toSight } from '../../tables/changes/sight'

/**
 * The feed over the log of changes. A row stands in the order of commits, because writers of one org wait for each other and
 * take its number while they hold their turn (D1 has one writer, PostgreSQL the lock of `WriteLock`): what commits later has
 * the higher number, so a reader that has seen a number misses nothing below it.
 */

const toBounds = (row: Row) => ({
  forgotten: num(row, 'forgotten'),
  /** Of what a reader may have seen. */
  end: Math.max(num(row, 'newest'), num(row, 'forgotten')),
  partEnd: numOrNull(row, 'part_end'),
})

function toChange(scope: Scope, filter: FeedFilter, row: Row): FeedChange | null {
  const sight = toSight(row)
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
 * The feed over any SQL connection. Where a database serves nobody while a statement goes on, the log is gone through a share of rows at a
 * time, with rests between.
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
      // Behind the end lies only what a database had that has since been set back.
      if (typeof start === 'number' && (after < forgotten || after > end)) throw staleCursor()
      if (page) found.push(...result.of(page))
      const more = found.length > limit
      if (start === 'now' || more || partEnd === null) {
        const changes = found.slice(0, limit).flatMap((row) => toChange(scope, filter, row) ?? [])
        return { found: { changes, next: more ? (changes.at(-1)?.position ?? end) : end, more }, next: null }
      }
      return { found: null, next: partEnd }
    }
    for await (const page of inParts({ start: first, step })) if (page !== null) return page
    throw new Error('A page of the feed ends with its last part')
  },
  async latest(scope, limit, filter = WHOLE_FEED) {
    const { dialect } = connection
    const batch = new Batch()
    const bounds = batch.add(boundsStatement(dialect, scope, filter, null), onlyRow(toBounds))
    const latest = batch.add(latestStatement(dialect, scope, filter, limit, clock.now()), (rows) =>
      rows.flatMap((row) => toChange(scope, filter, row) ?? []),
    )
    const result = await batch.read(connection)
    return { changes: result.of(latest), next: result.of(bounds).end }
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
