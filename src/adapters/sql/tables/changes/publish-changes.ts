// Runs the batches that write entries, records their output for the receipt, and publishes their changes. `write_context` holds the output
// until the receipt stores it, as a JSON object with one key that names its type.

import { type SQL, sql } from 'drizzle-orm'
import type { VisibilityChange } from '../../../../domain/history/feed'
import { type HistoryTerms, receiptCutoff } from '../../../../domain/history/version'
import { NamesChanged } from '../../../../domain/identity/project-resolution'
import type { Caller } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { Shown } from '../../../../domain/recall/memory'
import { KeyAlreadyUsed } from '../../../../domain/receipts/notes'
import type { BatchOutput } from '../../../../domain/receipts/receipt'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import { Batch, type Decode, type Results } from '../../core/batch'
import { type Announce, PreconditionFailed, type Row, type SqlConnection, type WriteLock } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { jsonOrNull, num, numOrNull, str } from '../../core/rows'
import { PLAIN_NAMES, toEntry } from '../entries/entry-rows'
import { dueStatement, toDue } from '../outbox/outbox-rows'
import { changedSince, newestChange, OLDEST_FIRST, toVisibilityChange, VISIBILITY_COLUMNS } from './change-rows'
import { toErased } from './erase-selection'
import { KEY_QUOTA, keyQuotaGuards, refusedByKeyQuota } from './key-quota'
import { attachStatements, namesGuard, PROJECTS } from './name-statements'
import { quotaGuards, withinQuotas } from './quota'
import { RECEIPT, receiptGuard, receiptStatement } from './receipt-statements'

/** Maximum number of changes that a batch publishes one by one; listeners learn only that there were more. */
const MAX_ANNOUNCED = 64

/**
 * Returns the visible changes of the batch so far.
 *
 * @param org whose rows of `changes`; '' for all organizations
 */
const madeStatement = (dialect: SqlDialect, org: string, since: SQL): SQL => sql`
  SELECT c.org, ${VISIBILITY_COLUMNS} FROM changes c
  WHERE ${changedSince(dialect, org, since)}
    AND (c.reader IS NOT NULL OR c.was_reader IS NOT NULL)
  ${OLDEST_FIRST} LIMIT ${MAX_ANNOUNCED + 1}`

type Made = ReadonlyMap<string, readonly VisibilityChange[]>

/** Returns the changes to publish for each organization. */
const toMade: Decode<Made> = (rows) =>
  new Map([...Map.groupBy(rows, (row) => str(row, 'org'))].map(([org, own]) => [org, own.map(toVisibilityChange)]))

function announceAll(made: Made, announce: Announce): void {
  for (const [org, sights] of made) announce(org, sights.length > MAX_ANNOUNCED ? null : sights)
}

/**
 * The context of a write, for the triggers of the change log and history. All statements that write entries run between these two, in one
 * batch. The row of an organization stays until its next batch, which saves a write.
 */
export interface WriteFrame {
  readonly begin: SQL
  /** The rows of `changes` with a higher number are those of the batch. */
  readonly since: SQL
  readonly end: SQL
}

/** A caller, or the schedule, which has no key. */
type Writer = Pick<Caller, 'org' | 'changeId'> & { readonly keyId: string | null; readonly agent: string | null }

interface Manner {
  /** Whether earlier versions are retained. */
  readonly keeps: boolean
  /** Time of a deletion in the history; by default the current time. */
  readonly at?: Millis
}

export function writeFrame(writer: Writer, { keeps, at }: Manner): WriteFrame {
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
 * Runs a batch that writes entries in its frame, and publishes its changes after the commit. Each listener needs one more statement.
 */
export async function runInFrame(
  connection: SqlConnection,
  writer: Writer,
  manner: Manner,
  own: (since: SQL) => Batch,
  lock: WriteLock,
): Promise<Results> {
  const { begin, since, end } = writeFrame(writer, manner)
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
  /** Maximum bytes that the call adds, for the quotas. */
  readonly takes?: () => number
  /** The write returns deleted entries, which do not count in the quota of the key. */
  readonly restores?: boolean
  /** Retains no version, whatever the settings. */
  readonly forgets?: boolean
  /** The write frees space, so it is allowed while a local disk is full. */
  readonly usesReserve?: boolean
}

/**
 * Runs the statements of a call that writes entries as one batch, within the quotas of its organization and its key.
 *
 * @param own the batch, or a function of `since` that returns it
 * @throws PreconditionFailed, as a batch does; Problem limit_exceeded when the organization or the key would exceed a quota; KeyAlreadyUsed when the
 * caller's receipt
 * key was used before; NamesChanged when names of projects were resolved by an older directory
 */
export type Write = (caller: Caller, own: Batch | ((since: SQL) => Batch), options?: WriteOptions) => Promise<Results>

/** Creates the function by which all callers write entries. */
export function createWrite(connection: SqlConnection, clock: Clock, terms: HistoryTerms): Write {
  const { dialect } = connection
  return async (caller, own, options = {}) => {
    const { quotas = NO_QUOTAS, takes = () => 0, forgets = false, usesReserve = false, restores = false } = options
    const now = clock.now()
    const { receipt } = caller
    const names = caller.names?.isGiven === false && caller.names.attachments.length > 0 ? caller.names : null
    const limits = quotaGuards(dialect, quotas, caller.org)
    const framed = (since: SQL): Batch =>
      new Batch()
        .do(limits.before)
        .do(receipt ? [receiptGuard(caller, receipt.key, receiptCutoff(terms, now))] : [])
        .do(names ? [namesGuard(dialect, caller.org, names), ...attachStatements(caller, now, names.attachments)] : [])
        .join(typeof own === 'function' ? own(since) : own)
        .do(receipt ? [receiptStatement(dialect, caller, now, since)] : [])
        .do(limits.after)
        .do(restores ? [] : keyQuotaGuards(dialect, caller, since, now))
    try {
      const manner = { keeps: terms.days > 0 && !forgets, at: now }
      const result = await withinQuotas({ connection, quotas, scope: caller, takes }, () =>
        runInFrame(connection, caller, manner, framed, { org: caller.org, usesReserve }),
      )
      receipt?.notes.keep()
      if (names) names.isGiven = true
      return result
    } catch (error) {
      if (error instanceof PreconditionFailed && error.premise === RECEIPT) throw new KeyAlreadyUsed()
      if (error instanceof PreconditionFailed && error.premise === PROJECTS) throw new NamesChanged()
      if (error instanceof PreconditionFailed && error.premise === KEY_QUOTA)
        throw await refusedByKeyQuota(connection, caller, now)
      throw error
    }
  }
}

/**
 * Records the output of the batch for its receipt, and returns it as `batch_output`. Belongs inside a write frame.
 *
 * @param json a JSON text, or NULL
 */
export const recordOutput = (org: string, what: keyof BatchOutput, json: SQL): SQL => sql`
  UPDATE write_context SET batch_output = ${sql.raw(`'{"${what}":'`)} || (${json}) || '}' WHERE org = ${org} RETURNING batch_output`

/** Records the IDs of the repeated entries that have a summary. */
export const recordSummarized = (dialect: SqlDialect, org: string, since: SQL): SQL =>
  recordOutput(
    org,
    'summarized',
    dialect.jsonList(sql`
      SELECT e.id AS value
      FROM changes c ${dialect.plan.follow('entries', 'e', sql`e.id = c.entry_id`)}
      WHERE ${changedSince(dialect, org, since)} AND c.action = 'update' AND e.summary <> ''`),
  )

/** Columns of a memory in a response, except the text. */
const SHOWN = [...PLAIN_NAMES, 'metadata', 'tags', 'weight', 'pinned', 'expires_at', 'access_count']

/** Records an entry as it is after the batch. */
export const recordShown = (dialect: SqlDialect, org: string, id: number): SQL => {
  const row = dialect.jsonRow(SHOWN.map((name) => sql.raw(`e.${name}`)))
  return recordOutput(org, 'shown', sql`SELECT ${row} FROM entries e WHERE e.id = ${id}`)
}

/** Converts a recorded entry. @param values as `recordShown` records them */
function toShown(values: readonly unknown[]): Shown {
  const row = Object.fromEntries(SHOWN.map((name, i) => [name, values[i]]))
  const { text: _, ...entry } = toEntry({ ...row, images: null, summary: '', text: '' })
  return {
    ...entry,
    weight: num(row, 'weight'),
    pinned: Boolean(row.pinned),
    expiresAt: numOrNull(row, 'expires_at'),
    accessCount: num(row, 'access_count'),
  }
}

/** @param row of `write_context` or `receipts`, with its column `batch_output` */
export function toBatchOutput(row: Row): BatchOutput {
  const { summarized, erased, shown } =
    jsonOrNull<{ readonly [What in keyof BatchOutput]: unknown }>(row, 'batch_output') ?? {}
  return {
    ...(Array.isArray(summarized) ? { summarized: summarized.map(Number) } : {}),
    ...(erased === undefined ? {} : { erased: toErased(erased) }),
    ...(Array.isArray(shown) ? { shown: toShown(shown) } : {}),
  }
}
