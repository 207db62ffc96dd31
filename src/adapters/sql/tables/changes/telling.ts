// What does a batch know that whoever made it does not, and the answer of its call tells? It stands in the row of `write_context` until the
// receipt takes it over, as a JSON object whose one key says what it is.
import { type SQL, sql } from 'drizzle-orm'
import type { Shown } from '../../../../domain/recall/memory'
import type { BatchOutput } from '../../../../domain/receipts/receipt'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { jsonOrNull, num, numOrNull } from '../../core/rows'
import { PLAIN_NAMES, toEntry } from '../entries/rows'
import { changedSince } from './change-rows'
import { toErased } from './erase-selection'

/**
 * Tells the batch's receipt; returns it too, as `batch_output`. Belongs between the two statements of `writing`.
 *
 * @param json a JSON text, or NULL
 */
export const tell = (org: string, what: keyof BatchOutput, json: SQL): SQL => sql`
  UPDATE write_context SET batch_output = ${sql.raw(`'{"${what}":'`)} || (${json}) || '}' WHERE org = ${org} RETURNING batch_output`

/** Ids of the entries with a summary that the batch has met again. */
export const tellSummarized = (dialect: SqlDialect, org: string, since: SQL): SQL =>
  tell(
    org,
    'summarized',
    dialect.jsonList(sql`
      SELECT e.id AS value
      FROM changes c ${dialect.plan.follow('entries', 'e', sql`e.id = c.entry_id`)}
      WHERE ${changedSince(dialect, org, since)} AND c.action = 'update' AND e.summary <> ''`),
  )

/** What a memory is shown by, beside its text. */
const SHOWN = [...PLAIN_NAMES, 'metadata', 'tags', 'weight', 'pinned', 'expires_at', 'access_count']

/** An entry as it stands after the batch. */
export const tellShown = (dialect: SqlDialect, org: string, id: number): SQL => {
  const row = dialect.jsonRow(SHOWN.map((name) => sql.raw(`e.${name}`)))
  return tell(org, 'shown', sql`SELECT ${row} FROM entries e WHERE e.id = ${id}`)
}

/** @param values as `tellShown` tells them */
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
