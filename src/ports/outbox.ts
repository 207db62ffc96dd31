import type { GenerationTopic } from '../domain/entry'
import type { StoredObject } from './image-store'

/**
 * `image_delete`: an image hash. `vector_sync`: the model whose index is behind. `embed`, `summarize`: an entry id.
 */
export type WorkTopic = 'image_delete' | 'vector_sync' | GenerationTopic

/** Work recorded in the transaction that causes it. */
export interface WorkItem {
  readonly id: number
  readonly org: string
  readonly topic: WorkTopic
  /** What the topic is done to. */
  readonly key: string
  readonly attempts: number
}

/** Rows of work to be done by another service, retried until it succeeds. */
export interface Outbox {
  /**
   * Claims due work. An image that is in use again is dropped from the list instead of claimed, in the same statement
   * that looks, and a claimed image refuses new uses until it is finished or released.
   */
  claim(limit: number): Promise<WorkItem[]>
  /** The work is done; an item that was queued again meanwhile stays. */
  finish(items: readonly WorkItem[]): Promise<void>
  /** The work failed; it is tried again later, ever more slowly, and counts as failed after ten tries. */
  retry(item: WorkItem, error: string): Promise<void>
  /** Queues the removal of those objects that no entry uses. */
  queueUnused(objects: readonly StoredObject[]): Promise<number>
  /** Removes entries that have expired and change rows older than the given instant. Returns how many entries went. */
  sweep(changesBefore: number): Promise<number>
}
