import { readableVector } from '../../domain/meaning/vector'
import { scheduler } from '../../domain/scheduler'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import type { VectorRows } from '../../ports/vector-rows'

/** Vectors told to an index in one step. */
const STEP = 500
/** Steps of one run; what is left is found by searches in the rows, and sent by the next run. */
const STEPS = 40

export type SyncVectors = ReturnType<typeof createSyncVectors>

/**
 * Brings an index up to the rows. A stored vector that cannot be read is left out, and made again. Safe to run twice, or in two places at
 * once.
 */
export function createSyncVectors({
  index,
  rows,
  log = () => {},
}: {
  readonly index: VectorIndex
  readonly rows: VectorRows
  readonly log?: (event: string, fields: Record<string, unknown>) => void
}) {
  /** @returns whether the index has confirmed everything */
  return async (space: VectorSpace, steps = STEPS): Promise<boolean> => {
    for (let step = 0; step < steps; step++) {
      const changes = await rows.changesSince(space, await index.state(space), STEP)
      if (changes === null) return index.settle(space)
      const unreadable = changes.added.filter(({ data }) => readableVector(data) === null)
      if (unreadable.length > 0) {
        log('unreadable_vectors', { org: space.org, model: space.model, count: unreadable.length })
        await rows.rebuild(unreadable.map(({ id }) => id))
      }
      const added = changes.added.filter((one) => !unreadable.includes(one))
      await index.apply(space, { ...changes, added })
      await scheduler.yield()
      if (changes.added.length < STEP && changes.removed.length < STEP) return index.settle(space)
    }
    return false
  }
}
