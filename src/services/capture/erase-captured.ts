// How is what hooks have captured of a project erased, for good?
import { type Caller, mayAct } from '../../domain/identity/scope'
import type { CaptureStore } from '../../ports/capture'
import type { DeleteEntries } from '../writing/entries/delete-entries'

/** Entries that one batch erases; each takes its history with it. */
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
   * Erases what was captured of a project, what was dropped of it included: a writer's own, an administrator everybody's, unread.
   *
   * @returns how many entries went
   */
  return async (caller: Caller, project: string): Promise<number> => {
    const owner = mayAct(caller.role, 'admin') ? null : (caller.owner ?? caller.keyId)
    // What is still being gathered goes first, so that nothing is written of it behind.
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
