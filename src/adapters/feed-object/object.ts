import { DurableObject } from 'cloudflare:workers'
import { actionFor, type VisibilityChange } from '../../domain/history/feed'
import type { Millis } from '../../domain/time'
import type { Listener, OpenStream, Woken } from '../../ports/change-notifier'

/** One who waits, since a mark, as it is sent. */
export interface Wait {
  readonly listener: Listener
  readonly since: string
}

/** Until the bell rings, or so long; the object need not be in memory meanwhile. @throws when the object breaks off */
export async function waited(
  object: { fetch(address: string, init: RequestInit): Promise<Response> },
  wait: Wait,
  ms: Millis,
): Promise<Woken> {
  const { webSocket: socket } = await object.fetch('https://feed/', { headers: { upgrade: 'websocket' } })
  if (socket === null) throw new Error('the feed object gave no socket')
  socket.accept()
  const { promise, resolve, reject } = Promise.withResolvers<Woken>()
  const timer = setTimeout(() => resolve({ notified: false, mark: wait.since }), ms)
  socket.addEventListener('message', ({ data }) => resolve({ notified: true, mark: String(data) }))
  const brokenOff = () => reject(new Error('the feed object broke off a wait'))
  socket.addEventListener('close', brokenOff)
  socket.addEventListener('error', brokenOff)
  socket.send(JSON.stringify(wait))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

/** What was told lately, for those who look into the database between two waits. */
const REMEMBERED = 256
/** A stream that was not heard of for so long is over, whatever became of it: one that lives waits anew every few seconds. */
const STREAM_FORGOTTEN_MS = 20_000

/** Null: more than could be said. */
type News = readonly VisibilityChange[] | null

/** What a socket keeps of who waits behind it while the object is out of memory. */
interface Waiting {
  /** Null for one that is woken by everything, because there is more to say of it than a socket keeps. */
  readonly listener: Listener | null
  readonly stream: OpenStream | null
}
/** Bytes of JSON, with room for what a socket's own format takes of its 2,048. */
const MOST_KEPT = 1_800

function waitingOf(listener: Listener): Waiting {
  const fits = new TextEncoder().encode(JSON.stringify(listener)).length <= MOST_KEPT
  return { listener: fits ? listener : null, stream: listener.stream ?? null }
}

const concerns = (news: News, listener: Listener | null): boolean =>
  news === null ||
  listener === null ||
  news.some((sight) => listener.filters.some((filter) => actionFor(listener.scope, filter, sight) !== null))

/**
 * The bell of one org, in memory alone: an object that has forgotten everything has another name for its marks, and whoever
 * brings an old one is woken to look for themselves. Who waits holds a socket behind which the object may leave memory, which is not
 * billed; they keep the time themselves, since a timer or a call under way would hold the object.
 */
export class FeedObject extends DurableObject {
  private readonly life = crypto.randomUUID()
  private notifications = 0
  private readonly lately: News[] = []
  private readonly streams = new Map<string, { readonly key: string; seen: number }>()

  tell(news: News): void {
    this.notifications++
    this.lately.push(news)
    if (this.lately.length > REMEMBERED) this.lately.shift()
    for (const [socket, { listener }] of this.waiting()) if (concerns(news, listener)) this.wake(socket)
  }

  mark(): string {
    return `${this.life} ${this.notifications}`
  }

  /** Opens a socket; what is waited for comes on it as its first message, since it may be longer than an address. */
  override async fetch(): Promise<Response> {
    const { 0: theirs, 1: own } = new WebSocketPair()
    this.ctx.acceptWebSocket(own)
    return new Response(null, { status: 101, webSocket: theirs })
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    const { listener, since }: Wait = JSON.parse(String(message))
    if (listener.stream !== undefined) this.note(listener.stream)
    if (this.missed(listener, since)) this.wake(socket)
    else socket.serializeAttachment(waitingOf(listener))
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close()
  }

  /** @returns whether the key has fewer than `most` others open */
  admit(stream: OpenStream, most: number): boolean {
    const now = Date.now()
    for (const [id, { seen }] of this.streams) if (now - seen > STREAM_FORGOTTEN_MS) this.streams.delete(id)
    const open = new Map([...this.streams].map(([id, { key }]) => [id, key]))
    for (const [, { stream: waits }] of this.waiting()) if (waits !== null) open.set(waits.id, waits.key)
    if ([...open.values()].filter((key) => key === stream.key).length >= most) return false
    this.note(stream)
    return true
  }

  leave({ id }: OpenStream): void {
    this.streams.delete(id)
    for (const [socket, waits] of this.waiting())
      if (waits.stream?.id === id) socket.serializeAttachment({ ...waits, stream: null })
  }

  private note({ id, key }: OpenStream): void {
    this.streams.set(id, { key, seen: Date.now() })
  }

  /** Whether something was told since a mark that concerns the listener, or may have been. */
  private missed(listener: Listener, since: string): boolean {
    const [life, count] = since.split(' ')
    const missed = this.notifications - Number(count)
    if (life !== this.life || !(missed >= 0) || missed > this.lately.length) return true
    return missed > 0 && this.lately.slice(-missed).some((news) => concerns(news, listener))
  }

  /** Who waits and has said for what. */
  private *waiting(): Generator<[WebSocket, Waiting]> {
    for (const socket of this.ctx.getWebSockets()) {
      const waits: Waiting | null = socket.readyState === WebSocket.OPEN ? socket.deserializeAttachment() : null
      if (waits !== null) yield [socket, waits]
    }
  }

  private wake(socket: WebSocket): void {
    socket.send(this.mark())
    socket.close()
  }
}
