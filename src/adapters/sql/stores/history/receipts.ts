import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, oldestReceipt } from '../../../../domain/history/terms'
import { jsonText } from '../../../../domain/json/write'
import type { Receipt } from '../../../../domain/receipts/receipt'
import type { Clock } from '../../../../ports/clock'
import type { Receipts } from '../../../../ports/receipts'
import type { Row, SqlConnection } from '../../core/connection'
import { RECEIPT_COLUMNS as COLUMNS, ofKey } from '../../tables/changes/receipts'
import { toTold } from '../../tables/changes/telling'

const parsed = (json: unknown) => (typeof json === 'string' ? JSON.parse(json) : null)

const toReceipt = (row: Row): Receipt => ({
  key: String(row.key),
  tool: String(row.tool),
  digest: String(row.digest),
  changeId: String(row.change_id),
  effect: parsed(row.effect) ?? [],
  changes: Number(row.changes),
  told: toTold(row.told),
  text: row.text === null ? null : String(row.text),
  notes: parsed(row.notes) ?? {},
  facts: parsed(row.answer),
  erased: Number(row.erased) === 1,
})

export function createSqlReceipts(connection: SqlConnection, clock: Clock, terms: HistoryTerms): Receipts {
  return {
    async find(caller, key) {
      const [rows] = await connection.batch([
        sql`SELECT ${COLUMNS} FROM receipts WHERE ${ofKey(caller, key)} AND at > ${oldestReceipt(terms, clock.now())}`,
      ])
      return rows?.[0] === undefined ? null : toReceipt(rows[0])
    },

    async complete(caller, { key, facts }) {
      const now = clock.now()
      // With whole facts nothing is needed that they are read from.
      const unlessWhole = (column: string): SQL =>
        sql`CASE WHEN change_id = ${caller.changeId} THEN NULL ELSE ${sql.raw(column)} END`
      const known = sql`${ofKey(caller, key)} AND at > ${oldestReceipt(terms, now)}`
      const [, , rows] = await connection.batch(
        [
          // A success that wrote nothing has no receipt yet.
          sql`DELETE FROM receipts WHERE ${ofKey(caller, key)} AND at <= ${oldestReceipt(terms, now)}`,
          sql`
            INSERT INTO receipts (org, key_id, key, tool, digest, change_id, at)
            VALUES (${caller.org}, ${caller.keyId}, ${key}, ${caller.action}, ${caller.receipt?.digest}, ${caller.changeId}, ${now})
            ON CONFLICT (org, key_id, key) DO NOTHING`,
          sql`
            UPDATE receipts SET
              answer = CASE
                WHEN erased = 1 THEN NULL
                WHEN change_id = ${caller.changeId} THEN coalesce(answer, ${jsonText(facts)})
                ELSE answer
              END,
              notes = ${unlessWhole('notes')}, told = ${unlessWhole('told')}, text = ${unlessWhole('text')}
            WHERE ${known} RETURNING ${COLUMNS}`,
        ],
        { org: caller.org },
      )
      return toReceipt(rows?.[0] ?? {})
    },
  }
}
