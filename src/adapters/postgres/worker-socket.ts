// How do bytes travel between a Worker and PostgreSQL? The driver's own socket copies what it receives number by number, writes each
// message by itself and waits for the event loop before it says the first word.
import { connect } from 'cloudflare:sockets'
import { EventEmitter } from 'node:events'
import type { ClientConfig } from 'pg'

/** So much is taken up at once; answers of most calls are smaller. */
const READ_BYTES = 65_536

/** As the driver takes them. */
type Sockets = NonNullable<ClientConfig['stream']>

type Done = (error?: unknown) => void

/** What the driver asks of a socket, over one of a Worker; without TLS, which a Hyperdrive binding never speaks. */
class WorkerSocket extends EventEmitter {
  writable = false
  private socket: Socket | null = null
  private writer: WritableStreamDefaultWriter<Uint8Array> | null = null
  /** What waits to be written with what follows it; null where nothing is held back. */
  private held: Uint8Array[] | null = null

  /** Says at once that it is connected: what is written before that is true waits in the socket, so that the greeting leaves first. */
  connect(port: number, hostname: string): this {
    const socket = connect({ hostname, port: Number(port) })
    this.socket = socket
    this.writer = socket.writable.getWriter()
    this.writable = true
    socket.opened.catch(() => {})
    socket.closed.then(() => this.over(), this.failed)
    this.listen(socket).catch(this.failed)
    queueMicrotask(() => this.emit('connect'))
    return this
  }

  /** Holds back what is written until `uncork`, which writes it in one go. */
  cork(): void {
    this.held ??= []
  }

  uncork(): void {
    const held = this.held ?? []
    this.held = null
    if (held.length > 0) this.send(Buffer.concat(held), () => {})
  }

  write(data: Uint8Array | string, ...rest: readonly unknown[]): boolean {
    const done = rest.find((one): one is Done => typeof one === 'function') ?? (() => {})
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    if (bytes.length === 0) done()
    else if (this.held === null) this.send(bytes, done)
    else {
      this.held.push(bytes)
      done()
    }
    return true
  }

  end(): this {
    this.writable = false
    this.socket?.close().then(() => this.over(), this.failed)
    return this
  }

  destroy(): this {
    return this.end()
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  private send(bytes: Uint8Array, done: Done): void {
    this.writer?.write(bytes).then(() => done(), done)
  }

  private async listen({ readable }: Socket): Promise<void> {
    const reader = (readable as ReadableStream<Uint8Array>).getReader({ mode: 'byob' })
    for (;;) {
      // Each time another one, since the driver keeps what it has not yet read to the end.
      const { done, value } = await reader.read(new Uint8Array(READ_BYTES))
      if (done) return
      this.emit('data', Buffer.from(value.buffer, value.byteOffset, value.byteLength))
    }
  }

  private over(): void {
    this.writable = false
    if (this.socket === null) return
    this.socket = null
    this.emit('close')
  }

  private readonly failed = (error: unknown): void => {
    this.writable = false
    this.emit('error', error)
  }
}

/**
 * Makes sockets for connections of the driver.
 *
 * @returns undefined where TLS is asked for, which the driver's own socket speaks
 */
export const workerSocketsTo = (connectionString: string): Sockets | undefined =>
  new URL(connectionString).searchParams.get('sslmode') === 'disable'
    ? () => new WorkerSocket() as unknown as ReturnType<Sockets>
    : undefined
