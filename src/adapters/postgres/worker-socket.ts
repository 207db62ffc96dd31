// A socket between a Worker and PostgreSQL. The driver's own socket copies received bytes one by one, writes each message separately, and
// waits for the event loop before its first message.
import { connect } from 'cloudflare:sockets'
import { EventEmitter } from 'node:events'
import type { ClientConfig } from 'pg'

/** Bytes read at once; most responses are smaller. */
const READ_BYTES = 65_536

/** The socket option of the driver. */
type Sockets = NonNullable<ClientConfig['stream']>

type Done = (error?: unknown) => void

/** Implements the driver's socket over a Worker's socket, without TLS, which a Hyperdrive binding never uses. */
class WorkerSocket extends EventEmitter {
  writable = false
  private socket: Socket | null = null
  private writer: WritableStreamDefaultWriter<Uint8Array> | null = null
  /** Writes held back to be sent together; null when none are held back. */
  private held: Uint8Array[] | null = null

  /**
   * Reports at once that it is connected: the socket buffers writes until it is, so that the greeting is sent first.
   */
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

  /** Holds back writes until `uncork`, which sends them together. */
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
      // A new buffer each time, since the driver keeps bytes that it has not parsed.
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
 * Returns the sockets for connections of the driver.
 *
 * @returns undefined if TLS is required, which the driver's own socket supports
 */
export const workerSocketsTo = (connectionString: string): Sockets | undefined =>
  new URL(connectionString).searchParams.get('sslmode') === 'disable'
    ? () => new WorkerSocket() as unknown as ReturnType<Sockets>
    : undefined
