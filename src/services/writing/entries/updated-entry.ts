import type { EntryToChange, Generated } from '../../../domain/entry/entry'
import { done, type Outcome } from '../../outcome'

/** What became of an entry that was updated, as it is told. */

export interface UpdatedEntry {
  readonly id: number
  readonly version: number
  readonly updatedFields: readonly string[]
  /** What models made of a new text, as messages say it. */
  readonly made: readonly Remade[]
}

export const REMADE = [
  'embedding regenerated',
  'embedding queued',
  'summary regenerated',
  'summary cleared',
  'summary queued',
] as const

type Remade = (typeof REMADE)[number]

/** What a patch of metadata alone tells, which notes nothing before its write. */
export const patchedTo = (id: number, version: number): UpdatedEntry => ({
  ...{ id, version, updatedFields: ['metadata'], made: [] },
})

/** Adds to an outcome what became of vectors and summary; every update of a rewritten text tells it. */
export function report(
  outcome: Outcome<UpdatedEntry | null>,
  rows: ReadonlyMap<number, EntryToChange>,
  generated: ReadonlyMap<number, Generated>,
): Outcome<UpdatedEntry | null> {
  if (!outcome.ok || outcome.value === null || !outcome.value.updatedFields.includes('text_content')) return outcome
  const { id, updatedFields: listed } = outcome.value
  const made = generated.get(id)
  if (made === undefined) return outcome
  const hadSummary = rows.get(id)?.summary !== ''
  const queued = made.queued.includes('summarize')
  const summary: Remade[] =
    made.summary !== '' ? ['summary regenerated'] : queued ? ['summary queued'] : hadSummary ? ['summary cleared'] : []
  const embedding: Remade[] =
    made.vectors !== null ? ['embedding regenerated'] : made.queued.includes('embed') ? ['embedding queued'] : []
  const at = listed.findIndex((field) => field !== 'text_content' && field !== 'metadata')
  const fields = listed.toSpliced(
    at < 0 ? listed.length : at,
    0,
    ...(hadSummary || made.summary !== '' ? ['summary'] : []),
  )
  return done({
    ...outcome.value,
    updatedFields: [...fields, ...(made.vectors === null ? [] : ['embedding'])],
    made: [...embedding, ...summary],
  })
}
