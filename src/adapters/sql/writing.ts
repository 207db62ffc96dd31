import { type SQL, sql } from 'drizzle-orm'
import { NO_QUOTAS, type Quotas } from '../../domain/quota'
import type { Caller } from '../../domain/scope'
import type { Row, SqlConnection } from './connection'
import { quotaGuards } from './quota'

/**
 * Who writes, for the triggers that keep the change log and history (0017_changes.sql). Whatever writes entries stands between
 * these two statements, in one batch.
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

/** @param keeps whether the states before are kept */
export function writing(writer: Writer, keeps: boolean): Writing {
  const { org, changeId } = writer
  const { keyId, agent } = 'keyId' in writer ? writer : { keyId: null, agent: null }
  const newest = org === '' ? sql`SELECT max(seq) FROM changes` : sql`SELECT max(seq) FROM changes WHERE org = ${org}`
  const since = sql`(SELECT w.since FROM writing w WHERE w.org = ${org})`
  const end = sql`DELETE FROM writing WHERE org = ${org}`
  endings.set(end, { org, since })
  return {
    begin: sql`
      INSERT INTO writing (org, change_id, key_id, agent, keeps, since)
      VALUES (${org}, ${changeId}, ${keyId}, ${agent}, ${keeps ? 1 : 0}, coalesce((${newest}), 0))
      ON CONFLICT (org) DO UPDATE SET change_id = excluded.change_id, key_id = excluded.key_id,
        agent = excluded.agent, keeps = excluded.keeps, since = excluded.since`,
    since,
    end,
  }
}

/**
 * Runs the statements of a call that writes entries as one batch, within the limits of its org where there are some; rows of each.
 *
 * @throws PremiseFailed, as a batch does
 */
export type Write = (caller: Caller, statements: readonly SQL[], quotas?: Quotas) => Promise<Row[][]>

/** The one way in which callers write entries. */
export function createWrite(connection: SqlConnection): Write {
  return async (caller, statements, quotas = NO_QUOTAS) => {
    const { begin, end } = writing(caller, true)
    const limits = quotaGuards(quotas, caller.org)
    const before = [...limits.before, begin]
    const rows = await connection.batch([...before, ...statements, ...limits.after, end], { org: caller.org })
    return rows.slice(before.length)
  }
}
