import { type EntryToChange, type Generated, NOTHING_GENERATED } from '../../../domain/entry/entry'
import { type EntryChange, statesOf } from '../../../domain/entry/entry-write'
import { decodeImages } from '../../../domain/entry/image'
import { kindOfTags } from '../../../domain/entry/kind'
import { checkLinks } from '../../../domain/entry/link'
import { own, touchesReservedKeys } from '../../../domain/entry/metadata'
import {
  applyUpdates,
  type CheckedUpdate,
  checkUpdate,
  type UpdateDraft,
  updatedFields,
} from '../../../domain/entry/update'
import { statusWarnings } from '../../../domain/entry/work'
import { noSuchEntry, type Problem } from '../../../domain/errors'
import { checkVersion } from '../../../domain/history/version'
import type { Caller } from '../../../domain/identity/scope'
import type { Shown } from '../../../domain/recall/memory'
import { scheduler } from '../../../domain/scheduler'
import { IssueCollector } from '../../../domain/validation'
import { attempt, done, noteOutcomes, type Outcome, withRetries } from '../../outcome'
import type { Generate } from './generate'
import { checkImages, uploadImages, writeImages } from './image-transfer'
import type { WriteDependencies } from './store-entries'

/** Vectors or summaries of changed texts could not be computed. */
class NotGenerated extends Error {
  readonly problem: Problem
  readonly ids: ReadonlySet<number>

  constructor(problem: Problem, ids: ReadonlySet<number>) {
    super(problem.message)
    this.problem = problem
    this.ids = ids
  }
}

/**
 * Computes vectors of changed titles and texts, and summaries of changed texts, by entry ID.
 *
 * @param known results of earlier attempts of the call, so that models are not called again after a lost race
 * @throws NotGenerated
 */
async function regenerate(
  generate: Generate,
  changes: readonly EntryChange[],
  { rows, known }: { readonly rows: ReadonlyMap<number, EntryToChange>; readonly known: Map<string, Generated> },
): Promise<Map<number, Generated>> {
  /** Long texts that were not read: their vectors are computed after the write. */
  const unread = new Map<number, Generated>()
  const rewritten = changes.flatMap((change) => {
    const { id, text } = change
    const row = rows.get(id)
    if (row === undefined) return []
    const rewrites = (state: EntryChange) => state.text !== undefined && state.text.hash !== row.textHash
    // Captured entries have no vectors until they are approved.
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
  // Vectors of layers 1 and 2 may be computed later; layer 3 requires them.
  const isLater = changes.every(({ id, life }) => life !== undefined && rows.get(id)?.layer !== 3)
  const made = await attempt(() => generate(missing, isLater ? 'defer' : undefined))
  if (!made.ok) throw new NotGenerated(made.problem, new Set(missing.map(({ id }) => id)))
  for (const [i, one] of missing.entries()) known.set(keyOf(one), made.value[i] as Generated)
  return new Map([...unread, ...rewritten.map((one) => [one.id, known.get(keyOf(one)) as Generated] as const)])
}

const withGenerated = (change: EntryChange, generated: Generated | undefined): EntryChange =>
  generated === undefined ? change : { ...change, generated }

export interface UpdatedEntry {
  readonly id: number
  readonly version: number
  readonly updatedFields: readonly string[]
  /** Content that models created for a new text, in the words of messages. */
  readonly made: readonly Remade[]
  /** Whether the life cycle has archived the entry. */
  readonly archived: boolean
  readonly warnings: readonly string[]
  /** The entry after the write, if requested. */
  readonly after?: Shown
}

type Remade =
  | 'embedding regenerated'
  | 'embedding queued'
  | 'summary regenerated'
  | 'summary cleared'
  | 'summary queued'

/** Returns the result of a metadata patch, which needs no notes. */
export const patchedTo = (id: number, version: number, archived = false): UpdatedEntry => ({
  ...{ id, version, updatedFields: ['metadata'], made: [], archived, warnings: [] },
})

/** Returns the warning about archived entries that a caller has written. */
export function archivedNote(written: readonly number[]): string[] {
  const ids = [...new Set(written)]
  if (ids.length === 0) return []
  const [those, them] = ids.length === 1 ? [`Entry ${ids[0]} is`, 'it'] : [`Entries ${ids.join(', ')} are`, 'them']
  return [`${those} archived: searches, lists and packs leave ${them} out until context_update restores ${them}`]
}

/**
 * Adds vectors and summary to an outcome; every update of a rewritten text reports them.
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

/** Options for applying validated updates. */
interface ApplyOptions {
  /** Whether one invalid update prevents all changes. */
  readonly atomic: boolean
  /** Reads the entries instead of the store. @throws Problem */
  readonly read?: (ids: readonly number[]) => Promise<readonly EntryToChange[]>
  /** Whether the only entry is returned after the write (`after`). */
  readonly shows?: boolean
}

export type UpdateEntries = ReturnType<typeof createUpdateEntries>

/** Reports whether an update is a patch of plain keys, which the database merges itself. It loses a race only to a deletion. */
const isPlainPatch = (update: CheckedUpdate): boolean =>
  update.metadataPatch !== undefined &&
  !touchesReservedKeys(update.metadataPatch) &&
  update.text === undefined &&
  update.tags === undefined &&
  update.expectedVersion === undefined &&
  update.images === undefined

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createUpdateEntries({ entries, images: store, outbox, limits, generate }: WriteDependencies) {
  async function checkAll(updates: readonly Outcome<UpdateDraft>[]): Promise<Outcome<CheckedUpdate>[]> {
    let spent = 0
    const checked: Outcome<CheckedUpdate>[] = []
    for (const update of updates) {
      const outcome = update.ok
        ? await attempt(async (): Promise<CheckedUpdate> => {
            const wrong = new IssueCollector()
            const { images: given, ...rest } = { ...update.value, ...checkUpdate(update.value, wrong, limits.indexed) }
            const images = given && (await decodeImages(given, limits, { spent, wrong }))
            wrong.end()
            checkImages(store, images)
            return images === undefined ? rest : { ...rest, images }
          })
        : update
      if (outcome.ok) spent += (outcome.value.images ?? []).reduce((sum, image) => sum + image.size, 0)
      checked.push(outcome)
      if (outcome.ok) await scheduler.tick(outcome.value.text?.length ?? 0)
    }
    return checked
  }

  /** Reads the rows, applies the updates in order, and writes all rows in one batch with preconditions. */
  async function applyAll(
    caller: Caller,
    checked: readonly Outcome<CheckedUpdate>[],
    { atomic, read = (ids) => entries.readToChange(caller, ids), shows = false }: ApplyOptions,
    known: Map<string, Generated>,
    attemptNumber: number,
  ): Promise<Outcome<UpdatedEntry | null>[]> {
    const wanted = new Set(checked.flatMap((outcome) => (outcome.ok ? [outcome.value.id] : [])))
    const rows = new Map((await read([...wanted])).map((entry) => [entry.id, entry]))
    const accepted = new Map<number, CheckedUpdate[]>()
    const changes = new Map<number, EntryChange>()
    const retitled = new Set<UpdatedEntry>()
    const accept = async (update: CheckedUpdate): Promise<UpdatedEntry> => {
      const row = rows.get(update.id)
      if (row === undefined) throw noSuchEntry(update.id)
      const before = accepted.get(update.id) ?? []
      checkVersion(row, update.expectedVersion, before.length)
      const updates = [...before, update]
      const earlier = changes.get(update.id)
      const next = await applyUpdates(caller, row, updates)
      changes.set(update.id, earlier === undefined ? next : { ...next, between: passing(earlier, row) })
      accepted.set(update.id, updates)
      const version = row.version + updates.length
      const given = update.metadata ?? update.metadataPatch ?? {}
      const kind = next.metadata?.lifted.namedKind ?? (next.tags ? kindOfTags(next.tags) : row.kind)
      const warnings = statusWarnings(kind, own(given, 'status'))
      const updated: UpdatedEntry = {
        id: update.id,
        version,
        updatedFields: updatedFields(update),
        made: [],
        archived: row.archived,
        warnings,
      }
      const titleBefore = earlier?.metadata ? earlier.metadata.lifted.title : row.title
      if (next.metadata && next.metadata.lifted.title !== titleBefore) retitled.add(updated)
      return updated
    }
    const outcomes: Outcome<UpdatedEntry | null>[] = []
    for (const outcome of checked) outcomes.push(outcome.ok ? await attempt(() => accept(outcome.value)) : outcome)
    if (changes.size === 0) return outcomes
    if (atomic && outcomes.some(({ ok }) => !ok)) return outcomes.map((outcome) => (outcome.ok ? done(null) : outcome))
    checkLinks([...changes.values()].flatMap(statesOf).flatMap(({ metadata }) => metadata ?? []))
    const generated = await regenerate(generate, [...changes.values()], { rows, known })
    const pictures = [...accepted.values()].flat().flatMap((update) => update.images ?? [])
    const knownRemovals = await uploadImages({ images: store, entries }, caller, pictures, attemptNumber)
    const complete = [...changes.values()].map((change) => withGenerated(change, generated.get(change.id)))
    const planned = outcomes.map((outcome) => report(outcome, rows, generated, retitled))
    noteOutcomes(caller, planned)
    const changed = await writeImages(outbox, caller, pictures, () =>
      entries.change(caller, complete, { knownRemovals, shows }),
    )
    const { after } = changed[0] ?? {}
    if (after !== undefined)
      return planned.map((outcome) => (outcome.ok && outcome.value ? done({ ...outcome.value, after }) : outcome))
    if (changed.every(({ searchable }) => searchable)) return planned
    for (const [i, { id }] of complete.entries()) {
      const made = generated.get(id)
      // Vectors that could not be written are computed again.
      if (made?.vectors && changed[i]?.searchable === false)
        generated.set(id, { ...made, vectors: null, queued: [...made.queued, 'embed'] })
    }
    const reports = outcomes.map((outcome) => report(outcome, rows, generated, retitled))
    noteOutcomes(caller, reports)
    return reports
  }

  /** Applies validated updates, as `updateEntries`. */
  async function applyChecked(
    caller: Caller,
    checked: readonly Outcome<CheckedUpdate>[],
    options: ApplyOptions,
  ): Promise<Outcome<UpdatedEntry | null>[]> {
    const { atomic } = options
    const known = new Map<string, Generated>()
    for (let left = checked; ; ) {
      try {
        return await withRetries((attemptNumber) => applyAll(caller, left, options, known, attemptNumber))
      } catch (error) {
        if (!(error instanceof NotGenerated)) throw error
        left = without(left, error)
        if (atomic || left.every(({ ok }) => !ok)) return left.map((outcome) => (outcome.ok ? done(null) : outcome))
      }
    }
  }

  /**
   * Updates entries in order; one ID may occur several times.
   *
   * With `atomic`, one invalid update prevents all changes: invalid updates return their problem, the others null.
   *
   * @throws Problem conflict after five lost races, unavailable if a dependency fails; the message states what may have changed
   * @example
   * await services.updateEntries(caller, [done({ id: 42, metadataPatch: { status: 'done' } })], true)
   */
  const updateEntries = async (
    caller: Caller,
    updates: readonly Outcome<UpdateDraft>[],
    atomic: boolean,
  ): Promise<Outcome<UpdatedEntry | null>[]> => {
    const checked = await checkAll(updates)
    const only = checked.length === 1 ? checked[0] : undefined
    if (only?.ok && isPlainPatch(only.value)) {
      const { id, metadataPatch } = only.value
      return [
        await attempt(async () => {
          const patched = await withRetries(() => entries.patch(caller, id, metadataPatch ?? {}))
          if (patched === null) throw noSuchEntry(id)
          const { version, archived } = patched
          const told = patchedTo(id, version, archived)
          // Outcomes that follow from the receipt itself need no note.
          if (archived) noteOutcomes(caller, [done(told)])
          return told
        }),
      ]
    }
    if (checked.every(({ ok }) => !ok) || (atomic && checked.some(({ ok }) => !ok)))
      return checked.map((outcome) => (outcome.ok ? done(null) : outcome))
    return applyChecked(caller, checked, { atomic })
  }

  return Object.assign(updateEntries, { applyChecked })
}

/** Removes updates whose vectors or summaries could not be computed. */
function without(updates: readonly Outcome<CheckedUpdate>[], { ids, problem }: NotGenerated): Outcome<CheckedUpdate>[] {
  const rewritten = new Set(updates.flatMap((one) => (one.ok && one.value.text !== undefined ? [one.value.id] : [])))
  const needs = ({ id, text }: CheckedUpdate) => ids.has(id) && (text !== undefined || !rewritten.has(id))
  return updates.map((one) => (one.ok && needs(one.value) ? { ok: false, problem } : one))
}

/** Returns the states that a change leads through. Intermediate texts get no summary. */
const passing = ({ between = [], ...last }: EntryChange, row: EntryToChange): readonly EntryChange[] => [
  ...between,
  last.text && last.text.hash !== row.textHash ? { ...last, generated: NOTHING_GENERATED } : last,
]
