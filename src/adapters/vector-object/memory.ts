import type { Millis } from '../../domain/time'

/**
 * What vectors take of an isolate. Several objects of the class may share one, and none knows of the others: here they are counted, and
 * what was not asked for longest goes when another needs its room. It comes back by its next search.
 */

/** Who loads and has not been heard of for so long is gone with its object. */
const GONE_MS: Millis = 30_000

interface Holder {
  bytes: number
  readonly free: () => void
  /** Until it has loaded it cannot be freed: when it was last heard of. */
  loading: Millis | null
}

export class IsolateMemory {
  /** What was not asked for longest comes first. */
  private readonly holders = new Map<string, Holder>()

  /** @param bound bytes that all may take together; one alone may take more */
  constructor(public bound: number) {}

  get bytes(): number {
    return [...this.holders.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Takes room for what is to be loaded, where others that load leave some.
   *
   * @param free gives up what is held; of an object that began anew in this isolate, what it had before is given up at once
   */
  reserve(key: string, bytes: number, free: () => void, now: Millis): boolean {
    this.giveUp(key)
    const loading = [...this.holders.values()].filter(
      (holder) => holder.loading !== null && now - holder.loading < GONE_MS,
    )
    const taken = loading.reduce((sum, holder) => sum + holder.bytes, 0)
    if (loading.length > 0 && taken + bytes > this.bound) return false
    this.evict(this.bound - bytes, (holder) => !loading.includes(holder))
    this.holders.set(key, { bytes, free, loading: now })
    return true
  }

  /** Still loading. */
  renew(key: string, now: Millis): void {
    const holder = this.holders.get(key)
    if (holder !== undefined && holder.loading !== null) holder.loading = now
  }

  /** What it really takes, once it has loaded and whenever that changes. */
  hold(key: string, bytes: number): void {
    const holder = this.holders.get(key)
    if (holder === undefined) return
    holder.bytes = bytes
    holder.loading = null
    this.evict(this.bound, (other) => other !== holder && other.loading === null)
  }

  /** It was asked for now. */
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
