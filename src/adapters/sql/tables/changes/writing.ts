import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, oldestReceipt } from '../../../../domain/history/terms'
import type { Caller } from '../../../../domain/identity/scope'
import type { Pace } from '../../../../domain/pace'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import { KeyTaken } from '../../../../domain/receipts/notes'
import type { Clock } from '../../../../ports/clock'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { newestChange } from './change-rows'
import { quotaGuards, withinQuotas } from './quota'
import { RECEIPT, receiptGuard, receiptStatement } from './receipts'

/**
 * Who writes, for the triggers that keep the change log and history (0001_entries.sql, 0006_history.sql). Whatever writes
 * entries stands between these two statements, in one batch.
 */
export interface Writing {
  readonly begin: SQL
  /** The rows of `changes` that the batch has made so far are those beyond `since`. */
  readonly since: SQL
  readonly end: SQL
}

/** The ends of batches that write entries, by which such a batch is recognised (`announcing.ts`). */
const endings = new WeakMap<SQL, { readonly org: string; readonly since: SQL }>()

/** Whose rows of `changes` a batch with this statement makes, and from where on; null for every other statement. */
export const endingOf = (statement: SQL) => endings.get(statement) ?? null

/** Whose work it is: a caller's in its org, or nobody's in all of them. */
type Writer = Pick<Caller, 'org' | 'changeId' | 'keyId' | 'agent'> | { readonly org: ''; readonly changeId: string }

interface Manner {
  /** Whether the states before are kept. */
  readonly keeps: boolean
  /** When a deletion happens, as history tells it; absent: the database knows. */
  readonly at?: number
}

export function writing(writer: Writer, { keeps, at }: Manner): Writing {
  const { org, changeId } = writer
  const { keyId, agent } = 'keyId' in writer ? writer : { keyId: null, agent: null }
  const newest = org === '' ? sql`SELECT max(seq) FROM changes` : newestChange(org)
  const since = sql`(SELECT w.since FROM writing w WHERE w.org = ${org})`
  const end = sql`DELETE FROM writing WHERE org = ${org}`
  endings.set(end, { org, since })
  return {
    begin: sql`
      INSERT INTO writing (org, change_id, key_id, agent, keeps, at, since)
      VALUES (${org}, ${changeId}, ${keyId}, ${agent}, ${keeps ? 1 : 0}, ${at ?? null}, coalesce((${newest}), 0))
      ON CONFLICT (org) DO UPDATE SET change_id = excluded.change_id, key_id = excluded.key_id,
        agent = excluded.agent, keeps = excluded.keeps, at = excluded.at, since = excluded.since`,
    since,
    end,
  }
}

interface WriteOptions {
  readonly quotas?: Quotas
  /** Bytes that the call takes at most, within the quotas. */
  readonly takes?: () => number
  /** Keeps nothing of what was, whatever the terms. */
  readonly forgets?: boolean
}

/**
 * Runs the statements of a call that writes entries as one batch, within the limits of its org where there are some; rows of each.
 *
 * @param statements given `since`, where they need it
 * @throws PremiseFailed, as a batch does; Problem limit_exceeded where the org would hold too much;
 * KeyTaken when the caller's receipt key was used before
 */
export type Write = (
  caller: Caller,
  statements: readonly SQL[] | ((since: SQL) => readonly SQL[]),
  options?: WriteOptions,
) => Promise<Row[][]>

/** The one way in which callers write entries. */
export function createWrite(connection: SqlConnection, clock: Clock, terms: HistoryTerms, pace: Pace): Write {
  const { dialect } = connection
  return async (caller, statements, { quotas = NO_QUOTAS, takes = () => 0, forgets = false } = {}) => {
    const now = clock.now()
    const { receipt } = caller
    const { begin, since, end } = writing(caller, { keeps: terms.days > 0 && !forgets, at: now })
    const limits = quotaGuards(dialect, quotas, caller.org)
    const before = [
      ...limits.before,
      begin,
      ...(receipt ? [receiptGuard(caller, receipt.key, oldestReceipt(terms, now))] : []),
    ]
    const after = [...(receipt ? [receiptStatement(dialect, caller, now, since)] : []), ...limits.after, end]
    const own = typeof statements === 'function' ? statements(since) : statements
    try {
      const rows = await withinQuotas({ connection, pace, quotas, scope: caller, takes }, () =>
        connection.batch([...before, ...own, ...after], { org: caller.org }),
      )
      receipt?.notes.keep()
      return rows.slice(before.length)
    } catch (error) {
      if (error instanceof PremiseFailed && error.premise === RECEIPT) throw new KeyTaken()
      throw error
    }
  }
}
