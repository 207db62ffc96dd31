// Loaded before a program (`--import`): refuses each connection beyond this machine, and records it in the file that
// COMMONPLACE_CONNECTIONS names.
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { isIP, Socket } from 'node:net'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|0\.0\.0\.0|::)$/i
const file = process.env.COMMONPLACE_CONNECTIONS

/** @param {string} host */
function refuse(host) {
  if (file) appendFileSync(file, `${host} ${process.argv.slice(1).join(' ')}\n`)
  return Object.assign(new Error(`A test does not connect to ${host}`), { code: 'ECONNREFUSED' })
}

const connect = Socket.prototype.connect
/** @param {any[]} args */
Socket.prototype.connect = function (...args) {
  // As net.connect calls it: its arguments normalized, in one array.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  const isPath = typeof first === 'string' && Number.isNaN(Number(first))
  const options = typeof first === 'object' && first !== null ? first : { port: first, host: second }
  const host = options.host ?? 'localhost'
  if (isPath || options.path || LOOPBACK.test(host)) return connect.apply(this, /** @type {any} */ (args))
  const error = refuse(host)
  process.nextTick(() => this.destroy(error))
  return this
}

const { lookup } = dns
/** @param {any[]} args */
const guarded = (hostname, ...args) => {
  if (LOOPBACK.test(hostname) || isIP(hostname) > 0) return lookup(hostname, .../** @type {any} */ (args))
  const error = refuse(hostname)
  process.nextTick(() => args.at(-1)(error))
}
dns.lookup = /** @type {any} */ (guarded)
