import type { GenerationTopic } from '../domain/entry/entry'
import type { Millis } from '../domain/time'
import type { StoredObject } from './image-store'

/**
 * `image_delete`: an image hash. `vector_sync`: the model whose index is behind. `index`, `embed`, `summarize`: an entry id.
 * `delete`: the change_id of a call that deleted more than one transaction removes. `text`: the hash of a long text that was sent
 * ahead of the transaction that needs it, and is to go when that never came. `words`: the index is to forget what was erased.
 * `propose`: the entry of a captured session, due once the session is silent; the schedule alone works it off.
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
  /** What the topic is done to. */
  readonly key: string
  readonly attempts: number
  /** Of the claim that took it; the next claim of the same row has another. */
  readonly token: string
}

/** How much of one topic is taken at once. */
export interface Lane {
  readonly topic: WorkTopic
  readonly limit: number
}

/**
 * Rows of work to be done by another service, retried until it succeeds. Work is fenced: a claim ends when nobody holds on
 * to it for a while, and whoever lost it to another can neither finish nor postpone what the other holds. Items that are
 * passed together are of one claim.
 */
export interface Outbox {
  /**
   * Claims due work of each lane. An image that is in use again is dropped from the list instead of claimed, in the same
   * transaction that looks; a claimed one is marked, so that no write commits that put its bytes before.
   */
  claim(lanes: readonly Lane[]): Promise<WorkItem[]>
  /** Prolongs a claim; the items of it that are still held. To be asked before each step of the work. */
  hold(items: readonly WorkItem[]): Promise<WorkItem[]>
  /** The work is done; an item that was queued again meanwhile, or that another has claimed, stays. */
  finish(items: readonly WorkItem[]): Promise<void>
  /**
   * The work failed; it is tried again later, ever more slowly, and counts as failed after ten tries. Nothing happens to an
   * item that is not held any more.
   */
  retry(items: readonly WorkItem[], error: string): Promise<void>
  /** Lets claimed work wait, without counting the attempt. */
  putOff(items: readonly WorkItem[], until: Millis): Promise<void>
  /** What queued this has tried to do it at once, and failed: it is tried again later, and counts as tried. */
  missed(item: Pick<WorkItem, 'org' | 'topic' | 'key'>, error: string): Promise<void>
  /** Queues the removal of those objects that no entry uses. */
  queueUnused(objects: readonly StoredObject[]): Promise<number>
}
