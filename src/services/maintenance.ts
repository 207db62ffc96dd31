import type { Clock } from '../ports/clock'
import type { ImageStore } from '../ports/image-store'
import type { IndexMaintenance } from '../ports/index-maintenance'
import type { Outbox, WorkItem, WorkTopic } from '../ports/outbox'
import type { BackgroundGeneration } from './background-generation'

/** Objects younger than this may belong to a write that is still on its way. */
const ORPHAN_AGE_MS = 24 * 3_600_000
/** Items of work taken at once. */
const CLAIM = 50
/** How long the change log is kept. */
const CHANGES_MS = 30 * 24 * 3_600_000
/** Index rows a run of the schedule rewrites at most, in steps that stay well below D1's 1,000 statements. */
const REBUILD_STEP = 200
const REBUILD_STEPS = 2

export interface Maintenance {
  /**
   * Does queued work that is due. Called after writes that may have queued some, and by the schedule.
   *
   * @param rounds how often 50 items are taken, while there are more
   */
  work(rounds?: number): Promise<void>
  /** Removes expired entries and old change rows. */
  sweep(): Promise<void>
  /** Rewrites part of the search index when FTS_LANGUAGE has changed since it was written. */
  rebuildIndex(): Promise<void>
  /** Queues the removal of objects whose row was never written, because the write failed after its images were put. */
  collectOrphans(): Promise<void>
}

export function createMaintenance(dependencies: {
  readonly outbox: Outbox
  readonly images: ImageStore
  readonly index: IndexMaintenance
  /** Null when semantic search is switched off; then there is nothing to make. */
  readonly generation: BackgroundGeneration | null
  /** @throws while the index has not confirmed everything; then it is tried again later */
  readonly syncOrg: (org: string, model: string) => Promise<void>
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): Maintenance {
  const { outbox, images, index, generation, syncOrg, clock, log } = dependencies

  const numbered = (items: readonly WorkItem[]): number[] => items.map(({ key }) => Number(key))

  /** What each topic asks for; embeddings are made together, the others one by one. */
  async function perform(topic: WorkTopic, items: readonly WorkItem[]): Promise<void> {
    for (const item of topic === 'embed' ? [] : items) {
      if (topic === 'image_delete') await images.delete({ org: item.org, projects: null, owner: null }, item.key)
      else if (topic === 'vector_sync') await syncOrg(item.org, item.key)
      else await generation?.summarize(Number(item.key))
    }
    if (topic === 'embed') await generation?.embed(numbered(items))
  }

  async function attemptAll(topic: WorkTopic, items: readonly WorkItem[]): Promise<void> {
    try {
      await perform(topic, items)
      await outbox.finish(items)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log('outbox_retry', { topic, items: items.length, attempts: items[0]?.attempts, message })
      for (const item of items) await outbox.retry(item, message)
    }
  }

  async function workOnce(): Promise<number> {
    const items = await outbox.claim(CLAIM)
    const groups = new Map<string, WorkItem[]>()
    for (const item of items) {
      const group = item.topic === 'embed' ? 'embed' : `${item.topic} ${item.id}`
      groups.set(group, [...(groups.get(group) ?? []), item])
    }
    for (const group of groups.values()) await attemptAll((group[0] as WorkItem).topic, group)
    return items.length
  }

  return {
    async work(rounds = 1) {
      for (let round = 0; round < rounds; round++) if ((await workOnce()) < CLAIM) return
    },

    async sweep() {
      const expired = await outbox.sweep(clock.now() - CHANGES_MS)
      if (expired > 0) log('swept', { expired })
    },

    async rebuildIndex() {
      for (let step = 0; step < REBUILD_STEPS; step++) {
        const rewritten = await index.rebuild(REBUILD_STEP)
        if (rewritten > 0) log('index_rebuilt', { rewritten })
        if (rewritten < REBUILD_STEP) return
      }
    },

    async collectOrphans() {
      let cursor: string | null = null
      let queued = 0
      do {
        const page = await images.list(cursor)
        const old = page.objects.filter(({ uploadedAt }) => uploadedAt < clock.now() - ORPHAN_AGE_MS)
        queued += await outbox.queueUnused(old)
        cursor = page.cursor
      } while (cursor !== null)
      if (queued > 0) log('orphans_queued', { queued })
    },
  }
}
