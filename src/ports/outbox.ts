import type { GenerationTopic } from '../domain/entry/entry'
import type { Millis } from '../domain/time'
import type { StoredObject } from './image-store'

/**
 * `image_delete`: an image hash. `vector_sync`: the model whose index is behind. `index`, `embed`, `summarize`: an entry id. `delete`: the
 * change_id of a call that deletes more than one transaction can. `text`: the hash of a long text that was staged before a transaction, to
 * be deleted if that never runs. `words`: erased words must be removed from the index. `propose`: the entry of a captured session, due once
 * the session is silent; only the schedule processes it.
 */
export const WORK_TOPICS = [
  'delete',
  'image_delete',
  'vector_sync',
  'index',
  'text',
  'words',
  'embed',
  'summarize',
  'propose',
] as const satisfies readonly (string | GenerationTopic)[]

export type WorkTopic = (typeof WORK_TOPICS)[number]

/** Work recorded in the transaction that causes it. */
export interface WorkItem {
  readonly id: number
  readonly org: string
  readonly topic: WorkTopic
  /** The object of the work. */
  readonly key: string
  readonly attempts: number
  /** Fencing token of the lease; each lease of the same row has another. */
  readonly token: string
}

/** Maximum number of items of one topic in a lease. */
export interface TopicBatch {
  readonly topic: WorkTopic
  readonly limit: number
}

/**
 * A queue of work to be done after a commit, retried until it succeeds. Items are leased with a fencing token: a lease expires unless it is
 * extended, and a worker that lost it can neither finish nor postpone the item. Items that are
 * passed together are of one lease.
 *
 * @example
 * for (const item of await outbox.claim([{ topic: 'embed', limit: 50 }])) {
 *   if ((await outbox.hold([item])).length === 0) continue
 *   await embed(item).then(
 *     () => outbox.finish([item]),
 *     (error) => outbox.retry([item], String(error)),
 *   )
 * }
 */
export interface Outbox {
  /**
   * Leases due work of each topic. An image that is in use again is removed from the queue, in the same transaction; a leased one gets a
   * tombstone, so that no write commits that stored its bytes before.
   */
  claim(lanes: readonly TopicBatch[]): Promise<WorkItem[]>
  /** Extends a lease, and returns the items that are still held. Call it before each step of the work. */
  hold(items: readonly WorkItem[]): Promise<WorkItem[]>
  /** Removes finished work; an item that was queued again meanwhile, or that another worker holds, stays. */
  finish(items: readonly WorkItem[]): Promise<void>
  /**
   * Postpones failed work, with increasing delays; it counts as failed after ten tries. Items that are no longer held are not changed.
   */
  retry(items: readonly WorkItem[], error: string): Promise<void>
  /** Lets claimed work wait, without counting the attempt. */
  putOff(items: readonly WorkItem[], until: Millis): Promise<void>
  /** Records that an immediate attempt failed: the work is retried later, and the attempt counts. */
  missed(item: Pick<WorkItem, 'org' | 'topic' | 'key'>, error: string): Promise<void>
  /** Queues the removal of those objects that no entry uses. */
  queueUnused(objects: readonly StoredObject[]): Promise<number>
}
