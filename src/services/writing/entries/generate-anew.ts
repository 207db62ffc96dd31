import type { EntryToChange, Generated } from '../../../domain/entry/entry'
import { type EntryChange, statesOf } from '../../../domain/entry/entry-write'
import type { Generate } from './generate'

/**
 * Vectors and summaries of the texts that really change, by entry id.
 *
 * @param known what was made in earlier tries of the same call; models are not asked again after a lost race
 */
export async function generateAnew(
  generate: Generate,
  changes: readonly EntryChange[],
  {
    rows,
    known,
    isBatch,
  }: {
    readonly rows: ReadonlyMap<number, EntryToChange>
    readonly known: Map<string, Generated>
    readonly isBatch: boolean
  },
): Promise<Map<number, Generated>> {
  const rewritten = changes.flatMap((change) => {
    const { id, text } = change
    const row = rows.get(id)
    const rewrites = (state: EntryChange) => state.text !== undefined && state.text.hash !== row?.textHash
    // What hooks have captured has no vectors as long as nobody keeps it.
    const isKept = row?.captured === true && change.metadata?.lifted.captured === false
    const next = text?.text ?? (isKept ? row.text : null)
    return next !== null && row && (isKept || statesOf(change).some(rewrites))
      ? [{ id, text: next, source: row.source }]
      : []
  })
  const keyOf = ({ text, source }: (typeof rewritten)[number]) => `${source} ${text}`
  const missing = rewritten.filter((one) => !known.has(keyOf(one)))
  const made = await generate(missing, isBatch ? ' at index 0' : '')
  for (const [i, one] of missing.entries()) known.set(keyOf(one), made[i] as Generated)
  return new Map(rewritten.map((one) => [one.id, known.get(keyOf(one)) as Generated]))
}

export const withGenerated = (change: EntryChange, generated: Generated | undefined): EntryChange =>
  generated === undefined ? change : { ...change, generated }
