import { DurableObject } from 'cloudflare:workers'
import { actionFor, type VisibilityChange } from '../../domain/history/feed'
import type { Millis } from '../../domain/time'
import type { Listener, OpenStream, Woken } from '../../ports/change-notifier'

/** A waiting listener and its position, as sent to the object. */
export interface Wait {
  readonly listener: Listener
  readonly since: string
}

/**
 * Waits for a notification or until the time is over; the object may leave memory meanwhile. @throws when the object closes the connection
 */
export async function waited(
  object: { fetch(address: string, init: RequestInit): Promise<Response> },
  wait: Wait,
  ms: Millis,
): Promise<Woken> {
  const { webSocket: socket } = await object.fetch('https://feed/', { headers: { upgrade: 'websocket' } })
  if (socket === null) throw new Error('the feed object returned no socket')
  socket.accept()
  const { promise, resolve, reject } = Promise.withResolvers<Woken>()
  const timer = setTimeout(() => resolve({ notified: false, mark: wait.since }), ms)
  socket.addEventListener('message', ({ data }) => resolve({ notified: true, mark: String(data) }))
  const brokenOff = () => reject(new Error('the feed object closed the connection of a waiting reader'))
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

/** Number of remembered changes, for listeners that read the database between two waits. */
const REMEMBERED = 256
/** A stream that was silent for this long counts as closed; an open one waits again every few seconds. */
const STREAM_FORGOTTEN_MS = 20_000

/** Published changes; null when there were too many to list. */
type Publication = readonly VisibilityChange[] | null

/** State of a waiting listener, stored with its socket while the object is out of memory. */
interface Waiting {
  /** Null for a listener that is too large to store: every change wakes it. */
  readonly listener: Listener | null
  readonly stream: OpenStream | null
}
/** Maximum JSON bytes of a stored listener. A socket stores 2,048 bytes, including the format's own. */
const MAX_STORED = 1_800

function waitingOf(listener: Listener): Waiting {
  const fits = new TextEncoder().encode(JSON.stringify(listener)).length <= MAX_STORED
  return { listener: fits ? listener : null, stream: listener.stream ?? null }
}

const concerns = (news: Publication, listener: Listener | null): boolean =>
  news === null ||
  listener === null ||
  news.some((sight) => listener.filters.some((filter) => actionFor(listener.scope, filter, sight) !== null))

/**
 * Notifies the waiting listeners of one organization. Its state is in memory only: after a restart its positions have another prefix, and a
 * listener with an old position is woken to read the database. Listeners hold a hibernatable socket, which is not billed, and keep the time
 * themselves, since a timer or a pending call would keep the object in memory.
 */
export class FeedObject extends DurableObject {
  private readonly life = crypto.randomUUID()
  private notifications = 0
  private readonly lately: Publication[] = []
  private readonly streams = new Map<string, { readonly key: string; seen: number }>()

  tell(news: Publication): void {
    this.notifications++
    this.lately.push(news)
    if (this.lately.length > REMEMBERED) this.lately.shift()
    for (const [socket, { listener }] of this.waiting()) if (concerns(news, listener)) this.wake(socket)
  }

  mark(): string {
    return `${this.life} ${this.notifications}`
  }

  /** Opens a socket. Its first message is the listener, which may be too long for a URL. */
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

  /** Registers a stream. @returns false if the key has `most` others open */
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

  /** Returns whether a change that matches the listener was, or may have been, published since a position. */
  private missed(listener: Listener, since: string): boolean {
    const [life, count] = since.split(' ')
    const missed = this.notifications - Number(count)
    if (life !== this.life || !(missed >= 0) || missed > this.lately.length) return true
    return missed > 0 && this.lately.slice(-missed).some((news) => concerns(news, listener))
  }

  /** Yields the sockets that have sent their listener. */
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
