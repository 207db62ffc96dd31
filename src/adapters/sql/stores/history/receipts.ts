import { type SQL, sql } from 'drizzle-orm'
import { type HistoryTerms, receiptCutoff } from '../../../../domain/history/version'
import { jsonText } from '../../../../domain/json/write'
import type { Receipt } from '../../../../domain/receipts/receipt'
import type { Clock } from '../../../../ports/clock'
import type { Receipts } from '../../../../ports/history'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { firstRow, flag, jsonOrNull, num, onlyRow, str, strOrNull } from '../../core/rows'
import { toBatchOutput } from '../../tables/changes/publish-changes'
import { RECEIPT_COLUMNS as COLUMNS, ofKey } from '../../tables/changes/receipt-statements'

const toReceipt = (row: Row): Receipt => ({
  key: str(row, 'key'),
  tool: str(row, 'tool'),
  digest: str(row, 'digest'),
  changeId: str(row, 'change_id'),
  effect: jsonOrNull<[number, number][]>(row, 'effect') ?? [],
  changes: num(row, 'changes'),
  output: toBatchOutput(row),
  text: strOrNull(row, 'text'),
  notes: jsonOrNull<Receipt['notes']>(row, 'notes') ?? {},
  answer: jsonOrNull(row, 'answer'),
  erased: flag(row, 'erased'),
})

export function createSqlReceipts(connection: SqlConnection, clock: Clock, terms: HistoryTerms): Receipts {
  return {
    async find(caller, key) {
      return runOne(
        connection,
        sql`SELECT ${COLUMNS} FROM receipts WHERE ${ofKey(caller, key)} AND at > ${receiptCutoff(terms, clock.now())}`,
        firstRow(toReceipt),
      )
    },

    async complete(caller, { key, answer }) {
      const now = clock.now()
      // With the response, the columns that it was made of are not needed any more.
      const unlessWhole = (column: string): SQL =>
        sql`CASE WHEN change_id = ${caller.changeId} THEN NULL ELSE ${sql.raw(column)} END`
      const known = sql`${ofKey(caller, key)} AND at > ${receiptCutoff(terms, now)}`
      const batch = new Batch(
        // A success that wrote nothing has no receipt yet.
        sql`DELETE FROM receipts WHERE ${ofKey(caller, key)} AND at <= ${receiptCutoff(terms, now)}`,
        sql`
            INSERT INTO receipts (org, key_id, key, tool, digest, change_id, at)
            VALUES (${caller.org}, ${caller.keyId}, ${key}, ${caller.action}, ${caller.receipt?.digest}, ${caller.changeId}, ${now})
            ON CONFLICT (org, key_id, key) DO NOTHING`,
      )
      const completed = batch.add(
        sql`
            UPDATE receipts SET
              answer = CASE
                WHEN erased = 1 THEN NULL
                WHEN change_id = ${caller.changeId} THEN coalesce(answer, ${jsonText(answer)})
                ELSE answer
              END,
              notes = ${unlessWhole('notes')}, batch_output = ${unlessWhole('batch_output')}, text = ${unlessWhole('text')}
            WHERE ${known} RETURNING ${COLUMNS}`,
        onlyRow(toReceipt),
      )
      return (await batch.run(connection, { org: caller.org })).of(completed)
    },
  }
}
