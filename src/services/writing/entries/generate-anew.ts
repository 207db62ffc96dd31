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
 * Vectors of the titles and texts that really change, and summaries of the texts, by entry id.
 *
 * @param known what was made in earlier tries of the same call; models are not asked again after a lost race
 * @throws NotGenerated
 */
export async function generateAnew(
  generate: Generate,
  changes: readonly EntryChange[],
  { rows, known }: { readonly rows: ReadonlyMap<number, EntryToChange>; readonly known: Map<string, Generated> },
): Promise<Map<number, Generated>> {
  /** Of long texts, which are not at hand: their vectors are made behind the write. */
  const unread = new Map<number, Generated>()
  const rewritten = changes.flatMap((change) => {
    const { id, text } = change
    const row = rows.get(id)
    if (row === undefined) return []
    const rewrites = (state: EntryChange) => state.text !== undefined && state.text.hash !== row.textHash
    // What hooks have captured has no vectors as long as nobody keeps it.
    const isKept = row.captured && change.metadata?.lifted.captured === false
    const title = change.metadata ? change.metadata.lifted.title : row.title
    const isRewritten = isKept || statesOf(change).some(rewrites)
    const isRetitled = title !== row.title && (!row.captured || isKept)
    if (!isRewritten && !isRetitled) return []
    const next = { id, title, source: row.source, ...(isRewritten ? {} : { summary: row.summary }) }
    const whole = text?.text ?? row.text
    if (whole === null)
      unread.set(id, { vectors: null, summary: row.summary, queued: generate.model === null ? [] : ['embed'] })
    return whole === null ? [] : [{ ...next, text: whole }]
  })
  const keyOf = ({ title, text, source, summary }: (typeof rewritten)[number]) =>
    JSON.stringify([source, title, text, summary])
  const missing = rewritten.filter((one) => !known.has(keyOf(one)))
  // Vectors of working and project memories may come later; without those of layer 3 nothing changes.
  const isLater = changes.every(({ id, life }) => life !== undefined && rows.get(id)?.layer !== 3)
  const made = await attempt(() => generate(missing, isLater ? 'defer' : undefined))
  if (!made.ok) throw new NotGenerated(made.problem, new Set(missing.map(({ id }) => id)))
  for (const [i, one] of missing.entries()) known.set(keyOf(one), made.value[i] as Generated)
  return new Map([...unread, ...rewritten.map((one) => [one.id, known.get(keyOf(one)) as Generated] as const)])
}

export const withGenerated = (change: EntryChange, generated: Generated | undefined): EntryChange =>
  generated === undefined ? change : { ...change, generated }
