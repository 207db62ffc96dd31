import { DAY_MS, HOUR_MS } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { ImageStore } from '../../ports/image-store'
import type { Outbox } from '../../ports/outbox'
import type { IndexMaintenance, Retention } from '../../ports/retention'
import type { VectorSpace } from '../../ports/vector-index'
import type { BackgroundGeneration } from './background-generation'
import type { OutboxWork } from './outbox-work'
import type { Step, StepResult } from './schedule'
import type { SyncVectors } from './sync-vectors'

/** Age after which no write is in progress any more, so that unused objects and tombstones can be removed. */
const WRITE_IS_OVER = DAY_MS

/** Entries that one statement expires; each also removes tags, words, vectors and links. */
const EXPIRED = 200
/** Semantic memories that one batch checks. */
const DECAYING = 500
/** Rows of logs and tombstones that one statement deletes. */
const ROWS = 1000
/** Old versions that one statement deletes; each may have a megabyte and images. */
const VERSIONS = 500
/** Links that one statement deletes. */
const LINKS = 2_000
/** Entries whose words one batch rewrites. */
const INDEXED = 200
/** Files of code whose vectors one batch computes. */
const CODE_FILES = 20

/** Returns the result of a batch: more remains if it reached its limit; without a limit, if it removed any. */
const rest = (done: number, limit = 1): StepResult => ({ done, next: done < limit ? null : 'more' })

/**
 * Returns the steps of the schedule in their order.
 *
 * Each batch stays far below the limits of one run, even with all other steps in it: D1 allows 1,000 statements.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one list of the steps, in their order
export function scheduleSteps(dependencies: {
  readonly retention: Retention
  readonly work: OutboxWork
  readonly outbox: Outbox
  readonly images: ImageStore
  readonly index: IndexMaintenance
  /** Null if semantic search is switched off. */
  readonly generation: BackgroundGeneration | null
  /** Whether vectors are computed locally without a service. */
  readonly embedsHere?: boolean
  /** Whether a local model computes vectors after answers, whenever its process asks for work. */
  readonly embedsBehind?: boolean
  /** Computes missing vectors of code. @param limit maximum number of files */
  readonly embedCode: (limit: number) => Promise<number>
  readonly clock: Clock
  /** Days that the change log is retained. */
  readonly changesDays: number
  /** Days that the audit log is retained. */
  readonly auditDays: number
}): Step[] {
  const { retention, work, outbox, images, index, generation, embedCode, clock, changesDays, auditDays } = dependencies
  const { embedsHere = false, embedsBehind = false } = dependencies
  const always: Step[] = [
    {
      name: 'expired entries',
      every: 0,
      rounds: 20,
      round: async () => rest(await retention.expireEntries(EXPIRED)),
    },
    {
      name: 'decayed memories',
      every: DAY_MS,
      daily: true,
      rounds: 5,
      round: async (cursor) => {
        const { archived, last } = await retention.archiveDecayed(Number(cursor ?? 0), DECAYING)
        return { done: archived, next: last === null ? null : String(last) }
      },
    },
    {
      name: 'outbox',
      every: 0,
      rounds: 1,
      round: async () => {
        await work(20)
        return { done: 0, next: null }
      },
    },
    {
      name: 'removed vectors',
      every: DAY_MS,
      rounds: 10,
      round: async () => rest(await retention.forgetRemovedVectors(ROWS), ROWS),
    },
    {
      name: 'change log',
      every: DAY_MS,
      rounds: 10,
      round: async () => rest(await retention.forgetChanges(clock.now() - changesDays * DAY_MS, ROWS), ROWS),
    },
    {
      // Processes one organization after the other.
      name: 'audit log',
      every: DAY_MS,
      rounds: 20,
      round: async (cursor) => {
        const { removed, last } = await retention.forgetAudit(cursor ?? '', clock.now() - auditDays * DAY_MS, ROWS)
        return { done: removed, next: last }
      },
    },
    {
      name: 'kept versions',
      every: DAY_MS,
      rounds: 30,
      round: async () => rest(await retention.forgetVersions(VERSIONS)),
    },
    {
      name: 'links to deleted entries',
      every: 0,
      rounds: 20,
      round: async () => rest(await retention.forgetDanglingLinks(LINKS)),
    },
    {
      name: 'receipts',
      every: HOUR_MS,
      rounds: 10,
      round: async () => rest(await retention.forgetReceipts(ROWS), ROWS),
    },
    {
      name: 'marks of image removals',
      every: DAY_MS,
      rounds: 10,
      round: async () => rest(await retention.forgetImageRemovals(clock.now() - WRITE_IS_OVER, ROWS), ROWS),
    },
    {
      // Removes image objects without a row, whose write failed after the upload.
      name: 'orphaned images',
      every: DAY_MS,
      rounds: 2,
      round: async (cursor) => {
        const page = await images.list(cursor)
        const old = page.objects.filter(({ uploadedAt }) => uploadedAt < clock.now() - WRITE_IS_OVER)
        return { done: await outbox.queueUnused(old), next: page.cursor }
      },
    },
    {
      name: 'search index',
      every: 0,
      rounds: 2,
      missed: 'words',
      round: async () => {
        const { written, more } = await index.rebuild(INDEXED)
        return { done: written, next: more ? 'more' : null }
      },
    },
    {
      // Merging reads the complete index, so it does not run every time.
      name: 'merged words',
      every: HOUR_MS,
      rounds: 20,
      round: async () => ({ done: 0, next: (await index.merge()) ? 'more' : null }),
    },
    {
      name: 'vectors of code',
      every: 0,
      rounds: 2,
      round: async () => rest(await embedCode(CODE_FILES), CODE_FILES),
    },
  ]
  const embedding = generation?.model ?? null
  return [
    ...always,
    ...(generation === null || embedding === null
      ? []
      : [
          {
            // A pass for each model computes vectors that are missing after a change of the model or a failure.
            name: `vectors of ${embedding}`,
            every: DAY_MS,
            rounds: 8,
            // Vectors of a remote model may cost money, so requests do not compute them.
            ...(embedsHere || embedsBehind ? { missed: 'vectors' as const } : {}),
            ...(embedsBehind ? { behind: true as const } : {}),
            round: async (cursor: string | null): Promise<StepResult> => {
              const { made, next } = await generation.embedNext(null, Number(cursor ?? 0))
              return { done: made, next: next === null ? null : String(next) }
            },
          },
        ]),
  ]
}

/** Deletes expired tokens and grants. @param purge deletes some, and returns whether there may be more */
export const grantsStep = (purge: () => Promise<boolean>): Step => ({
  name: 'grants of OAuth',
  every: DAY_MS,
  rounds: 2,
  round: async () => ({ done: 0, next: (await purge()) ? 'more' : null }),
})

/**
 * Collects the work that writes of one request leave for after its answer.
 *
 * The vector index is notified immediately with one round trip. Its queued row stays until the schedule finds no changes, so that
 * further writes need not queue another. Other work takes three more round trips, and runs only if a write reported pending work.
 */
export function createAfterWrite(dependencies: {
  readonly work: OutboxWork
  readonly outbox: Pick<Outbox, 'missed'>
  readonly sync: SyncVectors
  /** Returns the vectors of an organization; null without semantic search. */
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
    /** Records that entries of an organization were written. */
    note(org: string, due: boolean): void {
      orgs.add(org)
      isDue ||= due
    },
    /** Processes the work recorded since the last call. */
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
