import type { EntryToChange, Generated } from '../../../domain/entry/entry'
import type { Shown } from '../../../domain/recall/memory'
import { done, type Outcome } from '../../outcome'

/** What became of an entry that was updated, as it is told. */

export interface UpdatedEntry {
  readonly id: number
  readonly version: number
  readonly updatedFields: readonly string[]
  /** What models made of a new text, as messages say it. */
  readonly made: readonly Remade[]
  /** The life cycle has put it out of sight, where it stays. */
  readonly archived: boolean
  readonly warnings: readonly string[]
  /** The entry after the write, on request. */
  readonly after?: Shown
}

type Remade =
  | 'embedding regenerated'
  | 'embedding queued'
  | 'summary regenerated'
  | 'summary cleared'
  | 'summary queued'

/** What a patch of metadata alone tells, which notes nothing before its write. */
export const patchedTo = (id: number, version: number, archived = false): UpdatedEntry => ({
  ...{ id, version, updatedFields: ['metadata'], made: [], archived, warnings: [] },
})

/** What a caller is told of entries that it has written and that are archived. */
export function archivedNote(written: readonly number[]): string[] {
  const ids = [...new Set(written)]
  if (ids.length === 0) return []
  const [those, them] = ids.length === 1 ? [`Entry ${ids[0]} is`, 'it'] : [`Entries ${ids.join(', ')} are`, 'them']
  return [`${those} archived: searches, lists and packs leave ${them} out until context_update brings ${them} back`]
}

/**
 * Adds to an outcome what became of vectors and summary; every update of a rewritten text reports it.
 *
 * @param retitled updates that changed the title, which is embedded with the text
 */
export function report(
  outcome: Outcome<UpdatedEntry | null>,
  rows: ReadonlyMap<number, EntryToChange>,
  generated: ReadonlyMap<number, Generated>,
  retitled: ReadonlySet<UpdatedEntry>,
): Outcome<UpdatedEntry | null> {
  if (!outcome.ok || outcome.value === null) return outcome
  const { id, updatedFields: listed } = outcome.value
  const isRewritten = listed.includes('text_content')
  if (!isRewritten && !retitled.has(outcome.value)) return outcome
  const made = generated.get(id)
  if (made === undefined) return outcome
  const hadSummary = isRewritten && rows.get(id)?.summary !== ''
  const queued = made.queued.includes('summarize')
  const summary: Remade[] = !isRewritten
    ? []
    : made.summary !== ''
      ? ['summary regenerated']
      : queued
        ? ['summary queued']
        : hadSummary
          ? ['summary cleared']
          : []
  const embedding: Remade[] =
    made.vectors !== null ? ['embedding regenerated'] : made.queued.includes('embed') ? ['embedding queued'] : []
  const at = listed.findIndex((field) => field !== 'text_content' && field !== 'metadata')
  const fields = listed.toSpliced(
    at < 0 ? listed.length : at,
    0,
    ...(isRewritten && (hadSummary || made.summary !== '') ? ['summary'] : []),
  )
  return done({
    ...outcome.value,
    updatedFields: [...fields, ...(made.vectors === null ? [] : ['embedding'])],
    made: [...embedding, ...summary],
  })
}
