import { EVENTS_RETAINED_MS, SILENT_MS, USES_KEPT_MS } from '../../domain/capture/hook-event'
import type { Principal } from '../../domain/identity/scope'
import { DAY_MS } from '../../domain/time'
import type { CaptureStore, PendingSession } from '../../ports/capture'
import type { Clock } from '../../ports/clock'
import { attempt } from '../outcome'
import type { WriteSession } from './write-session'

/**
 * Time that a session is retained after its entry expires, so that a late event does not recreate an approved or dropped entry.
 */
const LONGER_MS = 7 * DAY_MS

/** Returns the owner whose key captured the session, limited to its project. */
const principalOf = ({ org, owner, keyId, agent, gathered }: PendingSession): Principal => ({
  ...{ org, owner: owner === '' ? null : owner, keyId, agent, role: 'writer' },
  projects: gathered.place.project === null ? null : [gathered.place.project],
})

export function createFinishSessions({
  store,
  writeSession,
  captureDays,
  clock,
  log,
}: {
  readonly store: CaptureStore
  readonly writeSession: WriteSession
  readonly captureDays: number
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
}) {
  return {
    /**
     * Writes sessions that received no events for a while.
     *
     * @param limit maximum number of sessions
     * @returns the number of sessions that were due
     */
    async finish(limit: number): Promise<number> {
      const due = await store.due(clock.now() - SILENT_MS, limit)
      for (const session of due) {
        if (!(await store.claim(session))) continue
        const outcome = await attempt(() => writeSession(principalOf(session), session))
        // A session whose writing failed is due again when its lease ends; other sessions are not delayed.
        if (!outcome.ok) log('capture_not_written', { org: session.org, code: outcome.problem.code })
      }
      return due.length
    },

    /** Deletes one batch of expired events, sessions and uses; see `CaptureStore.forget`. */
    forget: (cursor: string | null) =>
      store.forget(
        {
          events: clock.now() - EVENTS_RETAINED_MS,
          sessions: clock.now() - (captureDays * DAY_MS + LONGER_MS),
          uses: clock.now() - USES_KEPT_MS,
        },
        cursor,
      ),
  }
}
