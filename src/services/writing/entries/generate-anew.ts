import type { EntryToChange, Generated } from '../../../domain/entry/entry'
import { type EntryChange, statesOf } from '../../../domain/entry/entry-write'
import type { Problem } from '../../../domain/errors'
import { attempt } from '../../outcome'
import type { Generate } from './generate'

/** What new texts of these entries need could not be made. */
export class NotGenerated extends Error {
  readonly problem: Problem
  readonly ids: ReadonlySet<number>

  constructor(problem: Problem, ids: ReadonlySet<number>) {
    super(problem.message)
    this.problem = problem
    this.ids = ids
  }
}

/**
 * Vectors and summaries of the texts that really change, by entry id.
 *
 * @param known what was made in earlier tries of the same call; models are not asked again after a lost race
 * @throws NotGenerated
 */
export async function generateAnew(
  generate: Generate,
  changes: readonly EntryChange[],
  { rows, known }: { readonly rows: ReadonlyMap<number, EntryToChange>; readonly known: Map<string, Generated> },
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
  const made = await attempt(() => generate(missing))
  if (!made.ok) throw new NotGenerated(made.problem, new Set(missing.map(({ id }) => id)))
  for (const [i, one] of missing.entries()) known.set(keyOf(one), made.value[i] as Generated)
  return new Map(rewritten.map((one) => [one.id, known.get(keyOf(one)) as Generated]))
}

export const withGenerated = (change: EntryChange, generated: Generated | undefined): EntryChange =>
  generated === undefined ? change : { ...change, generated }
