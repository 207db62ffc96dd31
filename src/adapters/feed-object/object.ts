import { DurableObject } from 'cloudflare:workers'
import { actionFor, type Sight } from '../../domain/history/feed'
import type { Listener, OpenStream, Woken } from '../../ports/change-bell'

/** What was told lately, for those who look into the database between two waits. */
const REMEMBERED = 256
/** A stream that was not heard of for so long is over, whatever became of it: one that lives waits anew every few seconds. */
const STREAM_FORGOTTEN_MS = 20_000

/** Null: more than could be said. */
type News = readonly Sight[] | null

interface Waiting {
  readonly listener: Listener
  readonly wake: (told: boolean) => void
}

const concerns = (news: News, { scope, filters }: Listener): boolean =>
  news === null || news.some((sight) => filters.some((filter) => actionFor(scope, filter, sight) !== null))

/**
 * The bell of one org, in memory alone: an object that has forgotten everything has another name for its marks, and whoever
 * brings an old one is woken to look for themselves. A wait keeps the object in memory.
 */
export class FeedObject extends DurableObject {
  private readonly life = crypto.randomUUID()
  private told = 0
  private readonly lately: News[] = []
  private readonly waiting = new Set<Waiting>()
  private readonly streams = new Map<string, { readonly key: string; seen: number }>()

  tell(news: News): void {
    this.told++
    this.lately.push(news)
    if (this.lately.length > REMEMBERED) this.lately.shift()
    for (const one of [...this.waiting]) if (concerns(news, one.listener)) one.wake(true)
  }

  mark(): string {
    return `${this.life} ${this.told}`
  }

  async wait(listener: Listener, since: string, ms: number): Promise<Woken> {
    if (listener.stream !== undefined) this.note(listener.stream)
    const told = this.missed(listener, since) || (await this.woken(listener, ms))
    return { told, mark: this.mark() }
  }

  /** @returns whether the key has fewer than `most` others open */
  admit(stream: OpenStream, most: number): boolean {
    const now = Date.now()
    for (const [id, { seen }] of this.streams) if (now - seen > STREAM_FORGOTTEN_MS) this.streams.delete(id)
    const open = [...this.streams.values()].filter(({ key }) => key === stream.key).length
    if (open >= most) return false
    this.note(stream)
    return true
  }

  leave({ id }: OpenStream): void {
    this.streams.delete(id)
  }

  private note({ id, key }: OpenStream): void {
    this.streams.set(id, { key, seen: Date.now() })
  }

  /** Whether something was told since a mark that concerns the listener, or may have been. */
  private missed(listener: Listener, since: string): boolean {
    const [life, count] = since.split(' ')
    const missed = this.told - Number(count)
    if (life !== this.life || !(missed >= 0) || missed > this.lately.length) return true
    return missed > 0 && this.lately.slice(-missed).some((news) => concerns(news, listener))
  }

  private woken(listener: Listener, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const one: Waiting = {
        listener,
        wake: (told) => {
          clearTimeout(timer)
          this.waiting.delete(one)
          resolve(told)
        },
      }
      const timer = setTimeout(() => one.wake(false), ms)
      this.waiting.add(one)
    })
  }
}
