// The entry of a server that other machines may call: workerd does not report the address of a connection to the Worker, so Node
// accepts the connections and passes the address in a header. A server for this machine only does not need it: all clients have one address.
import { Agent, createServer, request } from 'node:http'

/** Headers of one connection, and those that a client must not forward: workerd takes `cf` from the last. */
const NOT_FORWARDED = /^(?:connection|keep-alive|proxy-connection|te|trailer|upgrade|expect|mf-cf-blob)$/i

/** More than the Worker accepts (32 KB), so that the Worker refuses larger headers with its own message. */
const MAX_HEADER_BYTES = 65_536

/** workerd closes a connection that was idle for 5 s. */
const IDLE_MS = 4_000

/**
 * @param {readonly string[]} raw names and values in turn
 * @param {string} [dropped] a further name
 */
function forwarded(raw, dropped) {
  const kept = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = String(raw[at])
    if (!NOT_FORWARDED.test(name) && name.toLowerCase() !== dropped) kept.push(name, String(raw[at + 1]))
  }
  return kept
}

/** @param {string | undefined} address IPv4, also if an IPv6 socket accepted it */
const plain = (address = '') => address.replace(/^::ffff:(?=\d+\.)/i, '')

/**
 * @param {{ hostname: string, port: string }} target the Worker's address on this machine
 * @param {string} addressHeader lower-case; overwritten, whatever a client sends under that name
 * @returns {import('node:http').Server} not listening yet
 */
export function createEntry({ hostname, port }, addressHeader) {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0 }, (incoming, outgoing) => {
    const headers = forwarded(incoming.rawHeaders, addressHeader)
    headers.push(addressHeader, plain(incoming.socket.remoteAddress))
    const sent = request({
      hostname,
      port,
      agent,
      method: incoming.method,
      path: incoming.url,
      headers,
      setHost: false,
    })
    sent.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwarded(answer.rawHeaders))
      outgoing.flushHeaders()
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    sent.on('error', () => {
      // The answer may have been sent before the request was read to its end.
      if (outgoing.headersSent) return outgoing.writableEnded ? undefined : void outgoing.destroy()
      const error = { code: 'unavailable', message: 'The server does not respond; try again', retryable: true }
      outgoing.writeHead(503, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error }))
    })
    sent.on('close', () => {
      incoming.unpipe(sent)
      incoming.resume()
    })
    outgoing.on('close', () => sent.destroy())
    incoming.on('error', () => sent.destroy())
    incoming.pipe(sent)
  })
}

/**
 * @param {import('node:http').Server} entry
 * @param {{ ip: string, port: number }} options
 * @returns {Promise<void>} rejected with the system's message, such as `address already in use`
 */
export const listen = (entry, { ip, port }) =>
  new Promise((resolve, reject) => {
    entry.once('error', reject)
    entry.listen({ port, host: ip.replace(/^\[(.*)\]$/, '$1') }, () => {
      entry.off('error', reject)
      resolve()
    })
  })
