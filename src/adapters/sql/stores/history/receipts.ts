import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, oldestReceipt } from '../../../../domain/history/terms'
import { jsonText } from '../../../../domain/json/write'
import type { Receipt } from '../../../../domain/receipts/receipt'
import type { Clock } from '../../../../ports/clock'
import type { Receipts } from '../../../../ports/receipts'
import type { Row, SqlConnection } from '../../core/connection'
import { RECEIPT_COLUMNS as COLUMNS, ofKey } from '../../tables/changes/receipts'

const parsed = (json: unknown): unknown => (json === null ? null : JSON.parse(json as string))

const toReceipt = (row: Row): Receipt => ({
  key: row.key as string,
  tool: row.tool as string,
  digest: row.digest as string,
  changeId: row.change_id as string,
  effect: JSON.parse((row.effect as string | null) ?? '[]') as [number, number][],
  changes: Number(row.changes),
  told: parsed(row.told),
  text: row.text as string | null,
  notes: parsed(row.notes) as Receipt['notes'],
  answer: parsed(row.answer) as Receipt['answer'],
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

    async complete(caller, { key, answer }) {
      const now = clock.now()
      // With the answer nothing is needed that it is made of.
      const unlessAnswered = (column: string): SQL =>
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
                WHEN change_id = ${caller.changeId} THEN coalesce(answer, ${jsonText(answer)})
                ELSE answer
              END,
              notes = ${unlessAnswered('notes')}, told = ${unlessAnswered('told')}, text = ${unlessAnswered('text')}
            WHERE ${known} RETURNING ${COLUMNS}`,
        ],
        { org: caller.org },
      )
      return toReceipt(rows?.[0] ?? {})
    },
  }
}
