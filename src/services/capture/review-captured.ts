import {
  type AddressingEntry,
  APPROVED_AUDIENCE,
  MAX_REVIEWED,
  MOST_WAITING,
  type Reviewed,
  type ReviewedEntry,
  type ReviewQuery,
} from '../../domain/capture/review'
import type { EntryToChange } from '../../domain/entry/entry'
import { isKind, KINDS } from '../../domain/entry/kind'
import { AUDIENCES, type JsonObject, own } from '../../domain/entry/metadata'
import { titleOf } from '../../domain/entry/title'
import { invalidInput, noSuchEntry, notFound, Problem } from '../../domain/errors'
import { checkVersion } from '../../domain/history/version'
import { type Caller, mayAct, type Scope } from '../../domain/identity/scope'
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

/** Versions that a caller has seen, by entry ID. */
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

/** Returns the change of an approval that left the entry at this version. */
export const approvalOf = (id: number, version: number): Reviewed => ({ did: 'keep', id, version: version - 1 })

/** Returns the change of a merge that created this entry from a number of sources. */
export const mergedInto = (id: number, sources: number, { changeId }: { readonly changeId: string }): Reviewed => ({
  ...{ did: 'merge', id, version: 1, dropped: changeId, sources },
})

const MOST_TITLE = 200

/** The patch that approves an entry. A proposal may name who can read it from then on. */
function approvalPatch({ metadata }: Pick<EntryToChange, 'metadata'>): JsonObject {
  const named = own(metadata, APPROVED_AUDIENCE)
  const audience = AUDIENCES.find((known) => known === named)
  return { captured: false, ...(audience === undefined ? {} : { audience, [APPROVED_AUDIENCE]: null }) }
}

/** A review's change, and the entry that it created or approved, at its new version. */
export interface Review {
  readonly id: number
  readonly version: number
  readonly reviewed: Reviewed
}

export type ReviewCaptured = ReturnType<typeof createReviewCaptured>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createReviewCaptured({
  store,
  entries,
  deleteEntries,
  updateEntries,
  restoreEntries,
  remember,
  isApproved = false,
}: {
  readonly store: Pick<CaptureStore, 'review' | 'waiting' | 'addressing' | 'approve'>
  readonly entries: Pick<EntryStore, 'readToChange'>
  readonly deleteEntries: Pick<DeleteEntries, 'delete'>
  readonly updateEntries: UpdateEntries
  readonly restoreEntries: RestoreEntries
  readonly remember: Remember
  /** Whether packs and hooks contain only approved entries (PACK_TRUST=approved). */
  readonly isApproved?: boolean
}) {
  /** Reads captured entries that the caller can change, in the order of the IDs. @throws Problem not_found, conflict */
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

  /** Returns the caller for a further write of the same call, without a receipt. */
  const further = ({ receipt: _, ...caller }: Caller, changeId: string): Caller => ({ ...caller, changeId })

  /**
   * Restores the entries of a change.
   *
   * @throws Problem not_found if fewer than `least` can be restored, then none is; unavailable if not all are restored yet
   */
  async function bringBack(caller: Caller, changeId: string, least: number): Promise<void> {
    const { remaining } = await restoreEntries(caller, { changeId }, undefined, least)
    if (remaining > 0) throw new Problem('unavailable', 'Not all entries were restored; try again')
  }

  async function undoKeep(caller: Caller, id: number, version: number): Promise<void> {
    const { restored } = await restoreEntries(caller, { ids: [id], version }, version + 1)
    if (restored.length > 0) return
    const [kept] = await entries.readToChange(caller, [id])
    if (kept === undefined) throw noSuchEntry(id)
    checkVersion(kept, version + 1)
    throw notFound(`The captured version of entry ${id} is no longer retained or has expired; the entry is unchanged`)
  }

  /** Undoes the approval of several entries: all of them, or none if one has changed since or cannot be restored. */
  async function undoKeepAll(caller: Caller, kept: readonly (readonly [id: number, version: number])[]): Promise<void> {
    const [ids, versions] = [kept.map(([id]) => id), kept.map(([, version]) => version)]
    const approved = versions.map((version) => version + 1)
    await restoreEntries(caller, { ids, version: versions }, approved, new Set(ids).size)
  }

  function patchOf({ kind, title }: KeepArguments): JsonObject {
    if (kind !== undefined && !isKind(kind)) throw invalidInput(`kind must be one of: ${KINDS.join(', ')}`)
    const name = title === undefined ? undefined : trim(title)
    if (name === '' || (name?.length ?? 0) > MOST_TITLE)
      throw invalidInput(`title must have 1 to ${MOST_TITLE} characters`)
    return { ...(kind === undefined ? {} : { kind }), ...(name === undefined ? {} : { title: name }) }
  }

  return {
    list: (scope: Scope, query: ReviewQuery): Promise<readonly ReviewedEntry[]> => store.review(scope, query),

    /**
     * Returns captured entries that the caller can change, in the order of the IDs, each with the audience that approval gives it.
     *
     * @throws Problem not_found, conflict
     */
    async look(
      caller: Caller,
      ids: readonly number[],
      seen: SeenVersions,
    ): Promise<readonly { readonly id: number; readonly title: string; readonly audience: string | null }[]> {
      return (await captured(caller, ids, seen)).map(({ id, title, text, metadata }) => {
        const audience = own(metadata, APPROVED_AUDIENCE)
        return {
          id,
          title: titleOf({ title, text: text ?? '' }),
          audience: typeof audience === 'string' ? audience : null,
        }
      })
    },

    /** Counts the owner's sessions that await review, at most 100. */
    waiting: async (scope: Scope): Promise<number> => (await store.waiting(scope, MOST_WAITING)).length,

    /**
     * Lists entries whose texts address an agent and that no person has approved.
     *
     * With PACK_TRUST=approved, lists all entries that await approval.
     */
    addressing: (scope: Scope, limit: number): Promise<readonly AddressingEntry[]> =>
      store.addressing(scope, limit, isApproved),

    /**
     * Approves a version of an entry, so that hooks include it.
     *
     * @throws Problem conflict if it has changed or cannot be reached
     */
    async approve(caller: Caller, id: number, version: number): Promise<void> {
      if (!(await store.approve(caller, id, version)))
        throw new Problem(
          'conflict',
          `Entry ${id} has changed since you opened it, or you may not change it. Reload the page`,
        )
    },

    /**
     * Approves a captured entry: it becomes a normal entry that is listed, searchable by words and meaning, and does not expire.
     */
    async keep(caller: Caller, id: number, given: KeepArguments): Promise<Review> {
      const { expectedVersion } = given
      const patch = patchOf(given)
      const [found] = await captured(caller, [id], {})
      const metadataPatch = { ...patch, ...(found === undefined ? {} : approvalPatch(found)) }
      const update = { id, metadataPatch, ...(expectedVersion === undefined ? {} : { expectedVersion }) }
      const { version } = onlyValue(await updateEntries(caller, [done(update)], true))
      return { id, version, reviewed: approvalOf(id, version) }
    },

    /** Approves several captured entries without changes: all or none. @throws Problem not_found, conflict */
    async keepAll(
      caller: Caller,
      ids: readonly number[],
      seen: SeenVersions,
    ): Promise<Extract<Reviewed, { did: 'keep_all' }>> {
      const found = await captured(caller, ids, seen)
      const updates = found.map(({ id, version, metadata }) => ({
        id,
        metadataPatch: approvalPatch({ metadata }),
        expectedVersion: seen[String(id)] ?? version,
      }))
      const outcomes = await updateEntries(caller, updates.map(done), true)
      const failed = outcomes.find(({ ok }) => !ok)
      if (failed?.ok === false) throw failed.problem
      return { did: 'keep_all', kept: found.map(({ id, version }) => [id, version]) }
    },

    /**
     * Stores one entry that summarizes several captured ones, and drops these in the same batch.
     *
     * It has the readers of its sources unless the arguments name others.
     */
    async merge(caller: Caller, { ids, expectedVersions, ...given }: MergeArguments): Promise<Review> {
      const sources = await captured(caller, ids, expectedVersions)
      const [first] = sources
      const isPrivate = sources.some(({ reader }) => reader !== '')
      const memory = {
        ...given,
        ...(given.audience === undefined && isPrivate ? { audience: 'private' } : {}),
        ...(first?.project == null ? {} : { project: first.project }),
        ...{ from: ids, diary: false },
      }
      try {
        const { id } = await remember(
          caller,
          memory,
          sources.map((source) => [source.id, source.version]),
        )
        return { id, version: 1, reviewed: mergedInto(id, ids.length, caller) }
      } catch (error) {
        // A call that lost a race reports the state of its sources.
        if (error instanceof Problem && error.code === 'conflict') await captured(caller, ids, expectedVersions)
        throw error
      }
    },

    async drop(caller: Caller, ids: readonly number[], seen: SeenVersions): Promise<Reviewed> {
      await captured(caller, ids, seen)
      await deleteEntries.delete(caller, { ids, captured: ids.map((id) => [id, seen[String(id)] ?? 0]) })
      return { did: 'drop', dropped: caller.changeId }
    },

    /**
     * Undoes a review: an approved entry is captured again, a created one is deleted, dropped ones are restored. Continues an
     * interrupted undo.
     *
     * @throws Problem conflict if the approved or created entry has changed since, not_found if the old state is not retained
     */
    async undo(caller: Caller, reviewed: Reviewed): Promise<void> {
      if (reviewed.did === 'keep') return undoKeep(caller, reviewed.id, reviewed.version)
      if (reviewed.did === 'keep_all') return undoKeepAll(caller, reviewed.kept)
      if (reviewed.did === 'drop') return bringBack(caller, reviewed.dropped, 1)
      const { id, version, dropped, sources } = reviewed
      const [made] = await entries.readToChange(caller, [id])
      if (made !== undefined) checkVersion(made, version)
      await bringBack(caller, dropped, sources)
      // Deleted last, so that the memory is not lost if the sessions cannot be restored.
      const selection = { ids: [id], expectedVersion: version }
      if (made !== undefined) await deleteEntries.delete(further(caller, `u${caller.changeId}`), selection)
      note(caller, 'undone', true)
    },
  }
}

/** Entries that one batch erases with their history. */
const AT_ONCE = 100

export type EraseCaptured = ReturnType<typeof createEraseCaptured>

export function createEraseCaptured({
  store,
  deleteEntries,
}: {
  readonly store: Pick<CaptureStore, 'captured' | 'forgetSessions'>
  readonly deleteEntries: Pick<DeleteEntries, 'erase'>
}) {
  /**
   * Erases captured entries of a project, including dropped ones: a writer's own, or for an administrator those of all users,
   * without reading them.
   *
   * @returns the number of erased entries
   */
  return async (caller: Caller, project: string): Promise<number> => {
    const owner = mayAct(caller.role, 'admin') ? null : (caller.owner ?? caller.keyId)
    // Collected sessions are deleted first, so that none is written afterwards.
    await store.forgetSessions(caller, project, owner)
    let erased = 0
    for (;;) {
      const found = await store.captured(caller, project, owner, AT_ONCE)
      if (found.length === 0) return erased
      let count = 0
      for (const [whose, own] of Map.groupBy(found, (one) => one.owner)) {
        const outcome = await deleteEntries.erase({ ...caller, owner: whose }, { ids: own.map(({ id }) => id) })
        count += outcome.count
      }
      if (count === 0) return erased
      erased += count
    }
  }
}
