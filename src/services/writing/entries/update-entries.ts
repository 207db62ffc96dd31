import { type EntryToChange, type Generated, NOTHING_GENERATED } from '../../../domain/entry/entry'
import { type EntryChange, statesOf } from '../../../domain/entry/entry-write'
import { decodeImages } from '../../../domain/entry/image'
import { kindOfTags } from '../../../domain/entry/kind'
import { checkLinks } from '../../../domain/entry/link'
import { own, touchesReservedKeys } from '../../../domain/entry/metadata'
import { applyUpdates } from '../../../domain/entry/update'
import { type CheckedUpdate, checkUpdate, type UpdateDraft, updatedFields } from '../../../domain/entry/update-draft'
import { statusWarnings } from '../../../domain/entry/work'
import { noSuchEntry } from '../../../domain/errors'
import { Inspection } from '../../../domain/flaws'
import { checkVersion } from '../../../domain/history/version'
import type { Caller } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import { attempt, done, noteOutcomes, type Outcome, withRetries } from '../../outcome'
import { generateAnew, NotGenerated, withGenerated } from './generate-anew'
import { checkTaken, uploadImages, writeImages } from './image-transfer'
import type { WriteDependencies } from './store-entries'
import { patchedTo, report, type UpdatedEntry } from './updated-entry'

/** How updates that are checked are applied. */
interface ApplyOptions {
  /** One bad update means that nothing changes. */
  readonly atomic: boolean
  /** Reads the entries instead of the store. @throws Problem */
  readonly read?: (ids: readonly number[]) => Promise<readonly EntryToChange[]>
  /** Whether the one entry is returned as it is after the write (`after`). */
  readonly shows?: boolean
}

export type UpdateEntries = ReturnType<typeof createUpdateEntries>

/** A patch of plain keys alone: the database merges it into whatever stands there, so it loses no race but to a deletion. */
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
            const wrong = new Inspection()
            const { images: given, ...rest } = { ...update.value, ...checkUpdate(update.value, wrong, limits.indexed) }
            const images = given && (await decodeImages(given, limits, { spent, wrong }))
            wrong.end()
            checkTaken(store, images)
            return images === undefined ? rest : { ...rest, images }
          })
        : update
      if (outcome.ok) spent += (outcome.value.images ?? []).reduce((sum, image) => sum + image.size, 0)
      checked.push(outcome)
      if (outcome.ok) await scheduler.tick(outcome.value.text?.length ?? 0)
    }
    return checked
  }

  /** Reads the rows, applies the updates in order, writes all rows in one guarded batch. */
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
    const generated = await generateAnew(generate, [...changes.values()], { rows, known })
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
      // Vectors that could not be written are made again.
      if (made?.vectors && changed[i]?.searchable === false)
        generated.set(id, { ...made, vectors: null, queued: [...made.queued, 'embed'] })
    }
    const reports = outcomes.map((outcome) => report(outcome, rows, generated, retitled))
    noteOutcomes(caller, reports)
    return reports
  }

  /** As `updateEntries`, of updates that are checked. */
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
   * Updates entries in order; one id may occur several times. With `atomic`, one bad update means that nothing changes:
   * the bad ones come back with their problem, the others as null.
   *
   * @throws Problem conflict after five lost races, unavailable when a dependency fails, whose message says what can have changed
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
          // What follows from the receipt's effect alone needs no note.
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

/** Updates without those that need what could not be made: of such an entry its new texts, or what else has it embedded. */
function without(updates: readonly Outcome<CheckedUpdate>[], { ids, problem }: NotGenerated): Outcome<CheckedUpdate>[] {
  const rewritten = new Set(updates.flatMap((one) => (one.ok && one.value.text !== undefined ? [one.value.id] : [])))
  const needs = ({ id, text }: CheckedUpdate) => ids.has(id) && (text !== undefined || !rewritten.has(id))
  return updates.map((one) => (one.ok && needs(one.value) ? { ok: false, problem } : one))
}

/** The states that a change and the one before it lead through; of a text that does not stay no summary is made. */
const passing = ({ between = [], ...last }: EntryChange, row: EntryToChange): readonly EntryChange[] => [
  ...between,
  last.text && last.text.hash !== row.textHash ? { ...last, generated: NOTHING_GENERATED } : last,
]
