// Replaces PostgreSQL with PGlite where no server is available. PGlite has one session, which is lent to one TCP client at a time:
// from its first message until the backend reports that it is idle, so that messages of two clients do not mix.
import { createServer } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const CANCEL_REQUEST = 80_877_102
const TERMINATE = 0x58
const READY_FOR_QUERY = 0x5a
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** Lends the backend to one client after the other, in the order of their requests. */
class Lease {
  #holder = null
  #waiting = []

  async take(who) {
    if (this.#holder === who) return
    if (this.#holder === null) {
      this.#holder = who
      return
    }
    await new Promise((resolve) => this.#waiting.push({ who, resolve }))
  }

  give(who) {
    if (this.#holder !== who) return false
    const next = this.#waiting.shift()
    this.#holder = next?.who ?? null
    next?.resolve()
    return true
  }

  isHeldBy = (who) => this.#holder === who
}

/** Reads the transaction status from the backend's messages, which may arrive in pieces. */
class StatusReader {
  #rest = Buffer.alloc(0)
  /** @type {string | null} state of the last ReadyForQuery: I, T or E */
  status = null

  read(chunk) {
    let data = Buffer.concat([this.#rest, chunk])
    while (data.length >= 5) {
      const size = data.readInt32BE(1) + 1
      if (data.length < size) break
      if (data[0] === READY_FOR_QUERY) this.status = String.fromCharCode(data[5])
      data = data.subarray(size)
    }
    this.#rest = data
  }
}

/** @returns a function that splits a client's bytes into complete messages; the first has no type byte */
function messageReader() {
  let rest = Buffer.alloc(0)
  let started = false
  return function* read(chunk) {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const size = rest.readInt32BE(head) + head
      if (rest.length < size) return
      const message = rest.subarray(0, size)
      rest = rest.subarray(size)
      const code = started ? null : message.readInt32BE(4)
      if (code === SSL_REQUEST || code === GSS_REQUEST) yield { refuse: true }
      else if (code === CANCEL_REQUEST || (started && message[0] === TERMINATE)) yield { end: true }
      else {
        started = true
        yield { message }
      }
    }
  }
}

function serveClient(database, lease, socket) {
  const client = {}
  const messages = messageReader()
  let work = Promise.resolve()
  let gone = false

  async function pass(message) {
    await lease.take(client)
    if (gone) return
    const status = new StatusReader()
    try {
      await database.execProtocolRawStream(new Uint8Array(message), {
        onRawData(data) {
          const chunk = Buffer.from(data)
          status.read(chunk)
          if (!socket.destroyed) socket.write(chunk)
        },
      })
    } catch (error) {
      socket.destroy(error)
    }
    if (status.status === 'I') lease.give(client)
  }

  /** Rolls back an open transaction of a disconnected client before the next one. */
  async function leave() {
    gone = true
    await work
    if (lease.isHeldBy(client)) {
      await database.execProtocolRaw(new Uint8Array(SYNC)).catch(() => {})
      await database.exec('ROLLBACK').catch(() => {})
      lease.give(client)
    }
  }

  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    for (const { refuse, end, message } of messages(chunk)) {
      if (refuse) socket.write('N')
      else if (end) socket.end()
      else work = work.then(() => pass(message))
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => void leave())
}

/**
 * Runs a PGlite in memory behind a port of this machine.
 *
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function servePglite() {
  const database = await PGlite.create('memory://', { extensions: { vector } })
  const lease = new Lease()
  const server = createServer((socket) => serveClient(database, lease, socket))
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    async close() {
      server.close()
      await database.close()
    },
  }
}
