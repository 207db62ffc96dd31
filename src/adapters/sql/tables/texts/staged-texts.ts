// Writes many megabytes of text without blocking others: long texts of a large call are stored ahead of its transaction, in bounded chunks,
// and the transaction only refers to them.

import { type SQL, sql } from 'drizzle-orm'
import { inBatches } from '../../../../domain/batches'
import { isLong } from '../../../../domain/entry/long-text'
import { scheduler } from '../../../../domain/scheduler'
import { utf8Length } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import { Batch } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { TEXTS_CHUNK } from '../../core/write-budget'
import { LEASE_MS } from '../outbox/outbox-rows'

/**
 * The outbox lists a staged text, so that no trigger removes it until the transaction of the call. If that never runs, the call or, if it
 * died, the schedule removes the text. A missing text makes the call's precondition fail, so that no entry is ever without its text.
 */

export interface WrittenText {
  readonly text: string
  readonly hash: string
}

/** Texts that are in the database before the transaction that refers to them. */
interface StagedTexts {
  /** Their hashes; empty if the texts of the call fit one chunk. */
  readonly sent: ReadonlySet<string>
  /**
   * Belongs at the end of the transaction: refuses it when a text is missing, and removes the texts from the outbox.
   */
  readonly arrived: readonly SQL[]
  /** Runs the transaction; when it fails, removes unused texts. */
  commit<T>(transaction: () => Promise<T>): Promise<T>
}

const hashesIn = (dialect: SqlDialect, hashes: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(hashes)}`)})`

/** Removes those texts that are neither staged nor used by an entry or its history. */
const dropUnneeded = (org: string, hashes: SQL): SQL => sql`
  DELETE FROM long_texts WHERE org = ${org} AND hash IN ${hashes}
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = long_texts.org AND o.topic = 'text' AND o.key = long_texts.hash)
    AND NOT EXISTS (
      SELECT 1 FROM entries e WHERE e.org = long_texts.org AND e.text_hash = long_texts.hash AND e.bytes > 16384)
    AND NOT EXISTS (
      SELECT 1 FROM entry_versions v WHERE v.org = long_texts.org AND v.text_hash = long_texts.hash AND v.bytes > 16384)`

/**
 * Unstages these texts and removes unused ones, in one transaction, since an entry that is deleted in between would leave its text.
 *
 * @param state of the outbox rows: leased ones, or any
 */
export const unstage = (dialect: SqlDialect, org: string, hashes: readonly string[], state?: 'claimed'): SQL[] => {
  const list = hashesIn(dialect, hashes)
  const held = state === undefined ? sql`` : sql` AND state = ${state}`
  return [
    sql`DELETE FROM outbox WHERE org = ${org} AND topic = 'text' AND key IN ${list}${held}`,
    dropUnneeded(org, list),
  ]
}

const NONE: StagedTexts = { sent: new Set(), arrived: [], commit: (transaction) => transaction() }

export function createTextStaging(connection: SqlConnection, clock: Clock) {
  const { dialect } = connection

  async function sendPart(org: string, part: readonly WrittenText[]): Promise<void> {
    const now = clock.now()
    const hashes = hashesIn(
      dialect,
      part.map(({ hash }) => hash),
    )
    await new Batch(
      sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
          SELECT ${org}, 'text', sent.value, ${now}, ${now + LEASE_MS} FROM ${hashes} sent WHERE true
          ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
      ...part.map(
        ({ hash, text }) =>
          sql`INSERT INTO long_texts (org, hash, text) VALUES (${org}, ${hash}, ${text}) ON CONFLICT (org, hash) DO NOTHING`,
      ),
    ).run(connection, { org })
    await scheduler.yield()
  }

  /**
   * Stages the long texts of a call if they exceed one chunk.
   *
   * @throws Problem when the database does not respond; nothing is stored then
   */
  return async (org: string, written: readonly WrittenText[]): Promise<StagedTexts> => {
    const texts = [...new Map(written.filter(({ text }) => isLong(text)).map((one) => [one.hash, one])).values()]
    const bytes = new Map<string, number>()
    for (const { hash, text } of texts) {
      bytes.set(hash, utf8Length(text))
      await scheduler.tick(text.length)
    }
    const parts = inBatches(texts, ({ hash }) => bytes.get(hash) ?? 0, TEXTS_CHUNK)
    if (parts.length < 2) return NONE
    const hashes = texts.map(({ hash }) => hash)
    async function orWithdraw<T>(step: () => Promise<T>): Promise<T> {
      try {
        return await step()
      } catch (error) {
        for (const part of parts) {
          const statements = unstage(
            dialect,
            org,
            part.map(({ hash }) => hash),
          )
          // The schedule removes the texts if this fails.
          await new Batch(...statements).run(connection, { org }).catch(() => {})
          await scheduler.yield()
        }
        throw error
      }
    }
    await orWithdraw(async () => {
      for (const part of parts) await sendPart(org, part)
    })
    const guard = sql`INSERT INTO guards (holds) SELECT (
      SELECT count(*) FROM long_texts WHERE org = ${org} AND hash IN ${hashesIn(dialect, hashes)}
    ) = ${hashes.length}`
    return {
      sent: new Set(hashes),
      arrived: [guard, ...unstage(dialect, org, hashes)],
      commit: orWithdraw,
    }
  }
}
