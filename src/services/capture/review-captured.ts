// How does somebody keep, merge, drop what hooks have captured, and take that back?
import type { Reviewed, ReviewedEntry, ReviewQuery } from '../../domain/capture/review'
import { isKind, KINDS } from '../../domain/entry/kind'
import type { JsonObject } from '../../domain/entry/metadata'
import { invalidInput, noSuchEntry, Problem } from '../../domain/errors'
import { checkVersion } from '../../domain/history/version'
import type { Caller, Scope } from '../../domain/identity/scope'
import type { RememberArguments } from '../../domain/pack/remember'
import { note } from '../../domain/receipts/notes'
import { trim } from '../../domain/text'
import type { CaptureStore } from '../../ports/capture'
import type { EntryStore } from '../../ports/entry-store'
import { done, onlyValue } from '../outcome'
import type { Remember } from '../pack/remember'
import type { DeleteEntries } from '../writing/entries/delete-entries'
import type { RestoreEntries } from '../writing/entries/restore-entries'
import type { UpdateEntries } from '../writing/entries/update-entries'

/** Versions that a caller has seen, by ids of entries. */
type SeenVersions = Readonly<Record<string, number>>

interface KeepArguments {
  readonly kind?: string | undefined
  readonly title?: string | undefined
  readonly expectedVersion?: number | undefined
}

interface MergeArguments extends Pick<RememberArguments, 'title' | 'kind' | 'content' | 'audience'> {
  readonly ids: readonly number[]
  readonly expectedVersions: SeenVersions
}

/** What a keep has done that left the entry at this version. */
export const keptAt = (id: number, version: number): Reviewed => ({ did: 'keep', id, version: version - 1 })

/** The call in whose name a merge drops its sources, which is not its own: each can be taken back. */
const droppedBy = ({ changeId }: { readonly changeId: string }): string => `d${changeId}`

/** What a merge has done that made this entry. */
export const mergedInto = (id: number, call: { readonly changeId: string }): Reviewed => ({
  ...{ did: 'merge', id, version: 1, dropped: droppedBy(call) },
})

const MAX_REVIEWED = 20
const MOST_TITLE = 200

/** What was done, and the entry that it made or kept, at its version after that. */
export interface Review {
  readonly id: number
  readonly version: number
  readonly reviewed: Reviewed
}

export type ReviewCaptured = ReturnType<typeof createReviewCaptured>

export function createReviewCaptured({
  store,
  entries,
  deleteEntries,
  updateEntries,
  restoreEntries,
  remember,
}: {
  readonly store: Pick<CaptureStore, 'review'>
  readonly entries: Pick<EntryStore, 'readToChange'>
  readonly deleteEntries: Pick<DeleteEntries, 'delete'>
  readonly updateEntries: UpdateEntries
  readonly restoreEntries: RestoreEntries
  readonly remember: Remember
}) {
  /** Captured entries that are the caller's to change, in the order of the ids. @throws Problem not_found, conflict */
  async function captured(caller: Caller, ids: readonly number[], seen: SeenVersions) {
    if (ids.length === 0 || ids.length > MAX_REVIEWED)
      throw invalidInput(`ids must be a list of 1 to ${MAX_REVIEWED} ids of captured entries`)
    const found = new Map((await entries.readToChange(caller, ids)).map((entry) => [entry.id, entry]))
    return ids.map((id) => {
      const entry = found.get(id)
      if (entry?.captured !== true) throw noSuchEntry(id)
      checkVersion(entry, seen[String(id)])
      return entry
    })
  }

  /** A further write of the same call, which has no receipt of its own. */
  const further = ({ receipt: _, ...caller }: Caller, changeId: string): Caller => ({ ...caller, changeId })

  async function dropSources(caller: Caller, ids: readonly number[]): Promise<void> {
    await deleteEntries.delete(further(caller, droppedBy(caller)), { ids })
    note(caller, 'dropped', true)
  }

  /** @throws Problem unavailable while not everything is back */
  async function bringBack(caller: Caller, reviewed: Reviewed): Promise<void> {
    if (reviewed.did === 'keep') return
    const { remaining } = await restoreEntries(caller, { changeId: reviewed.dropped })
    if (remaining > 0) throw new Problem('unavailable', 'Not everything has come back; try again')
  }

  function patchOf({ kind, title }: KeepArguments): JsonObject {
    if (kind !== undefined && !isKind(kind)) throw invalidInput(`kind must be one of: ${KINDS.join(', ')}`)
    const name = title === undefined ? undefined : trim(title)
    if (name === '' || (name?.length ?? 0) > MOST_TITLE)
      throw invalidInput(`title must have 1 to ${MOST_TITLE} characters`)
    return { captured: false, ...(kind === undefined ? {} : { kind }), ...(name === undefined ? {} : { title: name }) }
  }

  return {
    list: (scope: Scope, query: ReviewQuery): Promise<readonly ReviewedEntry[]> => store.review(scope, query),

    /** Makes a captured entry one like any other: listed, found by words and meaning, without an end. */
    async keep(caller: Caller, id: number, given: KeepArguments): Promise<Review> {
      const { expectedVersion } = given
      const metadataPatch = patchOf(given)
      await captured(caller, [id], {})
      const update = { id, metadataPatch, ...(expectedVersion === undefined ? {} : { expectedVersion }) }
      const { version } = onlyValue(await updateEntries(caller, [done(update)], true))
      return { id, version, reviewed: keptAt(id, version) }
    },

    /** Remembers one entry that says what several captured ones do, and drops these. It is read by whom they are, unless told otherwise. */
    async merge(caller: Caller, { ids, expectedVersions, ...given }: MergeArguments): Promise<Review> {
      const sources = await captured(caller, ids, expectedVersions)
      const [first] = sources
      const isPrivate = sources.some(({ reader }) => reader !== '')
      const { id } = await remember(caller, {
        ...given,
        ...(given.audience === undefined && isPrivate ? { audience: 'private' } : {}),
        ...(first?.project == null ? {} : { project: first.project }),
        ...{ from: ids, diary: false },
      })
      await dropSources(caller, ids)
      return { id, version: 1, reviewed: mergedInto(id, caller) }
    },

    /** Drops what a merge was made of, whose server died between. */
    finishMerge: dropSources,

    async drop(caller: Caller, ids: readonly number[], seen: SeenVersions): Promise<Reviewed> {
      await captured(caller, ids, seen)
      await deleteEntries.delete(caller, { ids })
      return { did: 'drop', dropped: caller.changeId }
    },

    /**
     * Takes back what a review did: what was kept is captured again as it was, what was made is gone, what was dropped is back.
     *
     * @throws Problem conflict when the entry that was kept or made has changed since
     */
    async undo(caller: Caller, reviewed: Reviewed): Promise<void> {
      if (reviewed.did === 'keep') {
        const { id, version } = reviewed
        const { restored } = await restoreEntries(caller, { ids: [id], version }, version + 1)
        if (restored.length === 0) throw noSuchEntry(id)
        return
      }
      if (reviewed.did === 'merge') {
        const { id, version } = reviewed
        const [made] = await entries.readToChange(caller, [id])
        const selection = { ids: [id], expectedVersion: version }
        if (made !== undefined) await deleteEntries.delete(further(caller, `u${caller.changeId}`), selection)
      }
      await bringBack(caller, reviewed)
    },

    /** Brings back what an undo has left, whose server died before its end, or which has told so. */
    finishUndo: bringBack,
  }
}
