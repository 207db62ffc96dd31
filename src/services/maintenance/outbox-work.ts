import type { Millis } from '../../domain/time'
import type { LongTexts } from '../../ports/entry-texts'
import type { ImageStore } from '../../ports/image-store'
import type { Outbox, TopicBatch, WorkItem, WorkTopic } from '../../ports/outbox'
import type { IndexMaintenance } from '../../ports/retention'
import type { UnfinishedDeletes } from '../../ports/unfinished-deletes'
import type { BackgroundGeneration } from './background-generation'

/** Topics that are also processed after writes. */
type QueuedTopic = Exclude<WorkTopic, 'propose'>

/** Items that are leased per topic, and the size of one step: a model embeds many texts in one call. */
const LANES: readonly (TopicBatch & { readonly topic: QueuedTopic; readonly step: number })[] = [
  { topic: 'delete', limit: 2, step: 1 },
  { topic: 'image_delete', limit: 50, step: 1 },
  { topic: 'vector_sync', limit: 20, step: 1 },
  { topic: 'index', limit: 10, step: 1 },
  { topic: 'text', limit: 20, step: 1 },
  { topic: 'words', limit: 1, step: 1 },
  { topic: 'embed', limit: 50, step: 25 },
  { topic: 'summarize', limit: 20, step: 1 },
]

/**
 * Processes queued work, each topic independently, so that a slow or failing topic delays no other.
 *
 * Runs after writes that may have queued work, and by the schedule.
 *
 * @param rounds maximum batches per topic
 * @param without topics to skip
 * @throws the database error; topics that could continue have continued
 */
export type OutboxWork = (rounds?: number, without?: readonly WorkTopic[]) => Promise<void>

/** Lock of one isolate for computing vectors, so that a slow model receives one batch at a time. */
export interface EmbeddingTurn {
  isTaken(): boolean
  /** Extends the lock; called with every progress. */
  take(): void
  leave(): void
}

/** Time without progress after which the lock expires. */
const TURN_MS = 60_000

export function createEmbeddingTurn(now: () => Millis): EmbeddingTurn {
  let until = 0
  return {
    isTaken: () => now() < until,
    take: () => {
      until = now() + TURN_MS
    },
    leave: () => {
      until = 0
    },
  }
}

export function createOutboxWork(dependencies: {
  readonly outbox: Outbox
  readonly images: ImageStore
  /** Writes the words of entries whose writer died after its commit, and removes those of erased entries. */
  readonly index: Pick<IndexMaintenance, 'write' | 'forget'>
  readonly deletes: UnfinishedDeletes
  readonly longTexts: Pick<LongTexts, 'withdraw'>
  /** Null if semantic search is switched off. */
  readonly generation: BackgroundGeneration | null
  /** Sends changes to the vector index. @throws if the index has not confirmed everything; it is retried later */
  readonly syncOrg: (org: string, model: string) => Promise<void>
  readonly turn?: EmbeddingTurn
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): OutboxWork {
  const { outbox, images, index, deletes, longTexts, generation, syncOrg, log } = dependencies
  const { turn = createEmbeddingTurn(() => 0) } = dependencies

  /** Each answered model request extends the lease. */
  async function embed(items: readonly WorkItem[]): Promise<void> {
    turn.take()
    await generation?.embed(
      items.map(({ key }) => Number(key)),
      async () => {
        turn.take()
        await outbox.hold(items)
      },
    )
  }

  const perform: Record<QueuedTopic, (items: readonly WorkItem[]) => Promise<void>> = {
    delete: async (items) => {
      for (const { org, key } of items) await deletes.finish(org, key)
    },
    image_delete: async (items) => {
      for (const { org, key } of items) await images.delete({ org, projects: null, owner: null }, key)
    },
    vector_sync: async (items) => {
      for (const { org, key } of items) await syncOrg(org, key)
    },
    index: async (items) => {
      for (const { org, key } of items) await index.write(org, Number(key))
    },
    text: async (items) => {
      for (const { org, key } of items) await longTexts.withdraw(org, key)
    },
    words: async (items) => {
      for (const { org, key } of items) await index.forget(org, key)
    },
    embed,
    summarize: async (items) => {
      for (const { key } of items) await generation?.summarize(Number(key))
    },
  }

  async function attemptStep(topic: QueuedTopic, items: readonly WorkItem[]): Promise<void> {
    try {
      await perform[topic](items)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log('outbox_retry', { topic, items: items.length, attempts: items[0]?.attempts, message })
      return outbox.retry(items, message)
    }
    await outbox.finish(items)
  }

  /** Processes leased items in steps. Extends the lease before each step, and skips items that another worker took over. */
  async function workOff(items: readonly WorkItem[], topic: QueuedTopic, step: number): Promise<void> {
    for (let i = 0; i < items.length; i += step) {
      const rest = items.slice(i)
      const held = new Set((await outbox.hold(rest)).map(({ id }) => id))
      const part = rest.slice(0, step).filter(({ id }) => held.has(id))
      if (part.length > 0) await attemptStep(topic, part)
    }
  }

  return async (rounds = 1, without = []) => {
    const shut: readonly WorkTopic[] = turn.isTaken() ? [...without, 'embed'] : without
    const open = LANES.filter(({ topic }) => !shut.includes(topic))
    const first = await outbox.claim(open)
    const lanes = open.map(async ({ topic, limit, step }) => {
      let items = first.filter((item) => item.topic === topic)
      try {
        for (let round = 1; items.length > 0; round++) {
          await workOff(items, topic, step)
          if (items.length < limit || round >= rounds) return
          items = await outbox.claim([{ topic, limit }])
        }
      } finally {
        if (topic === 'embed') turn.leave()
      }
    })
    const failure = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }
}
