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

/** Objects younger than this may belong to a write that is still on its way, and marks may be unknown to one. */
const WRITE_IS_OVER = DAY_MS

/** Entries that expire in one statement: each takes tags, words, vectors and links with it. */
const EXPIRED = 200
/** Semantic memories that are looked at in one round. */
const DECAYING = 500
/** Rows of logs and marks that go in one statement. */
const ROWS = 1000
/** Old states that go in one statement: each may hold a megabyte, and images. */
const VERSIONS = 500
/** Links that go in one statement, from entries all over the store. */
const LINKS = 2_000
/** Entries whose words are written anew in one round. */
const INDEXED = 200
/** Files of code whose vectors are made in one round. */
const CODE_FILES = 20

/** What is left to be done when a bounded part removed as many as it may; without a limit, when it removed any. */
const rest = (done: number, limit = 1): StepResult => ({ done, next: done < limit ? null : 'more' })

/**
 * What the schedule does, in this order. Each round stays far below the statements and seconds that one run may use, also
 * with every other step in the same run: D1 takes 1,000 statements.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one list of the steps, in their order
export function scheduleSteps(dependencies: {
  readonly retention: Retention
  readonly work: OutboxWork
  readonly outbox: Outbox
  readonly images: ImageStore
  readonly index: IndexMaintenance
  /** Null when semantic search is switched off. */
  readonly generation: BackgroundGeneration | null
  /** Whether vectors are made here, without any service. */
  readonly embedsHere?: boolean
  /** Whether a model of this machine makes vectors: behind all answers, as often as the process that runs it asks. */
  readonly embedsBehind?: boolean
  /** Makes vectors of code that could not be made when it was stored; of so many files. */
  readonly embedCode: (limit: number) => Promise<number>
  readonly clock: Clock
  /** How many days the change log is kept. */
  readonly changesDays: number
  /** How many days the audit log is kept. */
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
      // Of one org after the other.
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
      // Objects whose row was never written, because the write failed after its images were put.
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
      // What it may merge follows from all of the index, so it does not look in every run.
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
            // A pass for each model: vectors that a change of the model, or a failure, left to be made.
            name: `vectors of ${embedding}`,
            every: DAY_MS,
            rounds: 8,
            // Of another's model they may cost money, and whoever chose it knows that it is new.
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

/**
 * Tokens and grants that are over.
 *
 * @param purge removes some, and says whether there may be more
 */
export const grantsStep = (purge: () => Promise<boolean>): Step => ({
  name: 'grants of OAuth',
  every: DAY_MS,
  rounds: 2,
  round: async () => ({ done: 0, next: (await purge()) ? 'more' : null }),
})

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
