import type { Outbox } from '../../ports/outbox'
import type { VectorSpace } from '../../ports/vector-index'
import type { OutboxWork } from './outbox-work'
import type { SyncVectors } from './sync-vectors'

/**
 * What the writes of one request leave to be done behind its answer. Their vector index is told at once, by one round trip; the row that
 * they have queued for it stays, so that further writes need not queue another, until the schedule finds nothing left to tell. Other
 * work costs three trips more and is sought where a write has seen some that is due.
 */
export function createLeftWork(dependencies: {
  readonly work: OutboxWork
  readonly outbox: Pick<Outbox, 'missed'>
  readonly sync: SyncVectors
  /** The vectors of an org; null where nothing is searched by meaning. */
  readonly spaceOf: ((org: string) => VectorSpace) | null
}) {
  const { work, outbox, sync, spaceOf } = dependencies
  const orgs = new Set<string>()
  let isDue = false

  async function tell(space: VectorSpace): Promise<void> {
    try {
      await sync(space)
    } catch (error) {
      await outbox.missed(
        { org: space.org, topic: 'vector_sync', key: space.model },
        error instanceof Error ? error.message : String(error),
      )
    }
  }

  return {
    /** Entries of an org were written. */
    note(org: string, due: boolean): void {
      orgs.add(org)
      isDue ||= due
    },
    /** Does what was noted since it was last called. */
    async workOff(): Promise<void> {
      const written = [...orgs]
      orgs.clear()
      if (isDue) {
        isDue = false
        await work(1, ['vector_sync'])
      }
      if (spaceOf !== null) await Promise.all(written.map((org) => tell(spaceOf(org))))
    },
  }
}
