import type { Millis } from '../../domain/time'

/**
 * Tracks the memory of vectors in an isolate, which several objects of the class may share. When one needs memory, the least recently used
 * vectors of others are dropped, and loaded again by their next search.
 */

/** Time after which an object that is loading and has not reported counts as stopped. */
const STOPPED_MS: Millis = 30_000

interface Holder {
  bytes: number
  readonly free: () => void
  /** Time of the last report while it is loading, during which it cannot be freed; null afterwards. */
  loading: Millis | null
}

export class IsolateMemory {
  /** In the order of their last use. */
  private readonly holders = new Map<string, Holder>()

  /** @param bound maximum bytes of all together; a single object may use more */
  constructor(public bound: number) {}

  get bytes(): number {
    return [...this.holders.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Reserves memory for vectors to be loaded, unless other objects that are loading use it.
   *
   * @param free drops the loaded vectors; if an object was restarted in this isolate, its former vectors are dropped at once
   */
  reserve(key: string, bytes: number, free: () => void, now: Millis): boolean {
    this.giveUp(key)
    const loading = [...this.holders.values()].filter(
      (holder) => holder.loading !== null && now - holder.loading < STOPPED_MS,
    )
    const taken = loading.reduce((sum, holder) => sum + holder.bytes, 0)
    if (loading.length > 0 && taken + bytes > this.bound) return false
    this.evict(this.bound - bytes, (holder) => !loading.includes(holder))
    this.holders.set(key, { bytes, free, loading: now })
    return true
  }

  /** Reports that it is still loading. */
  renew(key: string, now: Millis): void {
    const holder = this.holders.get(key)
    if (holder !== undefined && holder.loading !== null) holder.loading = now
  }

  /** Reports the memory in use, after loading and after each change. */
  hold(key: string, bytes: number): void {
    const holder = this.holders.get(key)
    if (holder === undefined) return
    holder.bytes = bytes
    holder.loading = null
    this.evict(this.bound, (other) => other !== holder && other.loading === null)
  }

  /** Reports a use. */
  touch(key: string): void {
    const holder = this.holders.get(key)
    if (holder === undefined) return
    this.holders.delete(key)
    this.holders.set(key, holder)
  }

  giveUp(key: string): void {
    const holder = this.holders.get(key)
    this.holders.delete(key)
    holder?.free()
  }

  private evict(most: number, mayGo: (holder: Holder) => boolean): void {
    let { bytes } = this
    for (const [key, holder] of [...this.holders]) {
      if (bytes <= most) return
      if (!mayGo(holder)) continue
      bytes -= holder.bytes
      this.giveUp(key)
    }
  }
}
