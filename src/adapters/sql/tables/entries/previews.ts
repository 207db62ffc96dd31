import type { EntryPreview } from '../../../../domain/entry/entry'
import type { Filter } from '../../../../domain/search/filter'
import { PAGE_METADATA_BYTES } from '../../../../domain/search/window'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, num } from '../../core/rows'
import { previewsStatement, type ReadContext } from './read-statements'
import { readRows, toEntry } from './rows'

const toPreview = (row: Row): EntryPreview => ({
  ...{ ...toEntry(row), preview: true, chars: num(row, 'chars') },
  ...(row.bare ? { bare: true } : {}),
})

/**
 * The previews of rows in their order. Unusually large metadata, images, tags and summaries come by a second round trip, as far as
 * a page has room for them.
 */
export async function previewsOf(
  connection: SqlConnection,
  context: ReadContext,
  rows: readonly Row[],
  { filter, previewLength }: { readonly filter: Filter; readonly previewLength: number },
): Promise<EntryPreview[]> {
  const large: number[] = []
  let before = 0
  for (const row of rows) {
    before += num(row, 'beside')
    if (row.bare && (before <= PAGE_METADATA_BYTES || before === num(row, 'beside'))) large.push(num(row, 'id'))
  }
  if (large.length === 0) return readRows(rows, toPreview)
  const found = await readOne(
    connection,
    previewsStatement(context, filter, large, { previewLength, whole: true }),
    asRows,
  )
  const whole = new Map(found.map((row) => [num(row, 'id'), row]))
  const asked = new Set(large)
  // What is gone by now is not shown.
  const shown = rows.flatMap((row): Row | readonly Row[] =>
    asked.has(num(row, 'id')) ? (whole.get(num(row, 'id')) ?? []) : row,
  )
  return readRows(shown, toPreview)
}
