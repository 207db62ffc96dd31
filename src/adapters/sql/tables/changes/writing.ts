import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, oldestReceipt } from '../../../../domain/history/terms'
import { NamesChanged } from '../../../../domain/identity/project-resolution'
import type { Caller } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import { KeyTaken } from '../../../../domain/receipts/notes'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import { Batch, type Results } from '../../core/batch'
import { PremiseFailed, type SqlConnection, type WriteLock } from '../../core/connection'
import { dueStatement, toDue } from '../outbox/due'
import { announceAll, madeStatement, toMade } from './announcing'
import { newestChange } from './change-rows'
import { attachStatements, namesGuard, PROJECTS } from './name-statements'
import { quotaGuards, withinQuotas } from './quota'
import { RECEIPT, receiptGuard, receiptStatement } from './receipts'

/**
 * The call that writes, for the triggers of the change log and history. All statements that write entries stand between these
 * two, in one batch. The row of an organization stays until its next batch: a delete is a row written too.
 */
export interface Writing {
  readonly begin: SQL
  /** The rows of `changes` that the batch has made so far are those beyond `since`. */
  readonly since: SQL
  readonly end: SQL
}

/** A caller, or the schedule, which has no key. */
type Writer = Pick<Caller, 'org' | 'changeId'> & { readonly keyId: string | null; readonly agent: string | null }

interface Manner {
  /** Whether the states before are kept. */
  readonly keeps: boolean
  /** When a deletion happens, as history tells it; absent: the database knows. */
  readonly at?: Millis
}

export function writing(writer: Writer, { keeps, at }: Manner): Writing {
  const { org, changeId, keyId, agent } = writer
  const since = sql`(SELECT w.after_seq FROM write_context w WHERE w.org = ${org})`
  return {
    begin: sql`
      INSERT INTO write_context (org, change_id, key_id, agent, retain_versions, at, after_seq)
      VALUES (${org}, ${changeId}, ${keyId}, ${agent}, ${keeps ? 1 : 0}, ${at ?? null}, coalesce((${newestChange(org)}), 0))
      ON CONFLICT (org) DO UPDATE SET change_id = excluded.change_id, key_id = excluded.key_id,
        agent = excluded.agent, retain_versions = excluded.retain_versions, at = excluded.at, after_seq = excluded.after_seq,
        batch_output = NULL`,
    since,
    end: sql`DELETE FROM write_context WHERE org = ${org} AND batch_output IS NOT NULL`,
  }
}

/**
 * Runs a batch that writes entries in its frame. What it has changed and left is read by a statement more each where somebody is told,
 * and told once it is committed.
 */
export async function runWriting(
  connection: SqlConnection,
  writer: Writer,
  manner: Manner,
  own: (since: SQL) => Batch,
  lock: WriteLock,
): Promise<Results> {
  const { begin, since, end } = writing(writer, manner)
  const batch = new Batch(begin).join(own(since))
  const { announce, leave } = connection
  const made = announce && batch.add(madeStatement(connection.dialect, writer.org, since), toMade)
  const due = leave && manner.at !== undefined && batch.add(dueStatement(manner.at), toDue)
  const result = await batch.do([end]).run(connection, lock)
  if (made && announce) announceAll(result.of(made), announce)
  if (due && leave) leave(writer.org, result.of(due))
  return result
}

interface WriteOptions {
  readonly quotas?: Quotas
  /** Bytes that the call takes at most, within the quotas. */
  readonly takes?: () => number
  /** Keeps nothing of what was, whatever the terms. */
  readonly forgets?: boolean
  /** It makes room, so it is done while a local disk is full. */
  readonly usesReserve?: boolean
}

/**
 * Runs the statements of a call that writes entries as one batch, within the limits of its org where there are some.
 *
 * @param own given `since`, where it needs it
 * @throws PremiseFailed, as a batch does; Problem limit_exceeded where the org would hold too much;
 * KeyTaken when the caller's receipt key was used before, NamesChanged when names of projects that it gives were resolved too early
 */
export type Write = (caller: Caller, own: Batch | ((since: SQL) => Batch), options?: WriteOptions) => Promise<Results>

/** The one way in which callers write entries. */
export function createWrite(connection: SqlConnection, clock: Clock, terms: HistoryTerms): Write {
  const { dialect } = connection
  return async (caller, own, { quotas = NO_QUOTAS, takes = () => 0, forgets = false, usesReserve = false } = {}) => {
    const now = clock.now()
    const { receipt } = caller
    const names = caller.names?.isGiven === false && caller.names.attachments.length > 0 ? caller.names : null
    const limits = quotaGuards(dialect, quotas, caller.org)
    const framed = (since: SQL): Batch =>
      new Batch()
        .do(limits.before)
        .do(receipt ? [receiptGuard(caller, receipt.key, oldestReceipt(terms, now))] : [])
        .do(names ? [namesGuard(dialect, caller.org, names), ...attachStatements(caller, now, names.attachments)] : [])
        .join(typeof own === 'function' ? own(since) : own)
        .do(receipt ? [receiptStatement(dialect, caller, now, since)] : [])
        .do(limits.after)
    try {
      const manner = { keeps: terms.days > 0 && !forgets, at: now }
      const result = await withinQuotas({ connection, quotas, scope: caller, takes }, () =>
        runWriting(connection, caller, manner, framed, { org: caller.org, usesReserve }),
      )
      receipt?.notes.keep()
      if (names) names.isGiven = true
      return result
    } catch (error) {
      if (error instanceof PremiseFailed && error.premise === RECEIPT) throw new KeyTaken()
      if (error instanceof PremiseFailed && error.premise === PROJECTS) throw new NamesChanged()
      throw error
    }
  }
}
