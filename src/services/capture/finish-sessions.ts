// Who writes the sessions of clients that were killed, and forgets what need not be known any more?
import { EVENTS_RETAINED_MS, SILENT_MS, USES_KEPT_MS } from '../../domain/capture/hook-event'
import type { Principal } from '../../domain/identity/scope'
import { DAY_MS } from '../../domain/time'
import type { CaptureStore, PendingSession } from '../../ports/capture'
import type { Clock } from '../../ports/clock'
import { attempt } from '../outcome'
import type { WriteSession } from './write-session'

/** A session is remembered longer than its entry, so that a late event writes nothing anew that was kept or dropped. */
const LONGER_MS = 7 * DAY_MS

/** A session belongs to the owner whose key captured it, in its project alone. */
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
    /** Writes so many of the sessions of which nothing has arrived for a while. @returns how many were due */
    async finish(limit: number): Promise<number> {
      const due = await store.due(clock.now() - SILENT_MS, limit)
      for (const session of due) {
        if (!(await store.claim(session))) continue
        const outcome = await attempt(() => writeSession(principalOf(session), session))
        // It is due again once its claim is over; others are not held up.
        if (!outcome.ok) log('capture_not_written', { org: session.org, code: outcome.problem.code })
      }
      return due.length
    },

    /** A round of it: see `CaptureStore.forget`. */
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
