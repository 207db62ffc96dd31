// Parses the arguments of `npm start` and `npm run dev:postgres`, before anything is installed or started, so that an error
// is reported at once in one line.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { STATE, TYPED } from '../../src/cli/place.mjs'

/** Wrong usage; the message is one line. */
export class UsageError extends Error {}

export const DEFAULT_PORT = 8787
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

/** @param {string} host */
export const isLoopback = (host) => LOOPBACK.test(host)

/**
 * @typedef {object} ServeOptions
 * @property {number} port
 * @property {string} ip the address that is listened on
 * @property {string} state the folder in which D1, R2 and KV keep their data
 * @property {Record<string, string>} vars what --var said
 * @property {string[] | undefined} envFiles that replace .dev.vars and .env
 * @property {string | undefined} log a file with rotation that receives the output; undefined for the terminal
 * @property {number | undefined} inspectorPort a debugger is let in only when asked for
 *
 * @typedef {object} Surroundings
 * @property {string} root of the checkout
 * @property {string} [port] the value of PORT
 */

/** @type {import('node:util').ParseArgsConfig['options']} */
const OPTIONS = {
  port: { type: 'string' },
  ip: { type: 'string' },
  host: { type: 'string' },
  var: { type: 'string', multiple: true },
  'env-file': { type: 'string', multiple: true },
  'persist-to': { type: 'string' },
  log: { type: 'string' },
  'inspector-port': { type: 'string' },
  // Options of `wrangler dev` that change nothing here: everything is local, and LOG_LEVEL sets the log level.
  local: { type: 'boolean' },
  'log-level': { type: 'string' },
}

export const USAGE =
  'accepts --port N, --ip ADDRESS, --var NAME:VALUE, --env-file FILE, --persist-to FOLDER, --log FILE and --inspector-port N'

/** @param {string} name @param {string} text */
function readPort(name, text) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port >= 1 && port <= 65_535) return port
  throw new UsageError(`${name} is "${text}"; it must be a number from 1 to 65535.`)
}

/** @param {string} text */
function readVariable(text) {
  const at = text.indexOf(':')
  if (at < 1) throw new UsageError(`--var is "${text}"; write --var NAME:VALUE, such as --var LOG_LEVEL:DEBUG.`)
  return /** @type {const} */ ([text.slice(0, at), text.slice(at + 1)])
}

/**
 * @typedef {Partial<Record<'port' | 'ip' | 'host' | 'persist-to' | 'log' | 'inspector-port', string>>} Single
 * @typedef {Partial<Record<'var' | 'env-file', string[]>>} Multiple
 *
 * @param {readonly string[]} args
 * @returns {Single & Multiple}
 */
function parse(args) {
  try {
    return /** @type {any} */ (parseArgs({ args: [...args], options: OPTIONS }).values)
  } catch (error) {
    const [sentence] = error.message.split('. ')
    throw new UsageError(`${sentence}; ${TYPED.start} ${USAGE}.`)
  }
}

/**
 * @param {readonly string[]} args arguments after `npm start --`
 * @param {Surroundings} surroundings
 * @returns {ServeOptions}
 * @throws {UsageError}
 */
export function readServeArguments(args, { root, port }) {
  const values = parse(args)
  const inspector = values['inspector-port']
  const given = values.port ?? (port?.trim() || undefined)
  return {
    port: given === undefined ? DEFAULT_PORT : readPort(values.port === undefined ? 'PORT' : '--port', given),
    ip: values.ip ?? values.host ?? 'localhost',
    state: resolve(root, values['persist-to'] ?? STATE),
    vars: Object.fromEntries((values.var ?? []).map(readVariable)),
    envFiles: values['env-file'],
    log: values.log === undefined ? undefined : resolve(root, values.log),
    // 0 means any free port for wrangler, but no client would know that port.
    inspectorPort: inspector === undefined || inspector === '0' ? undefined : readPort('--inspector-port', inspector),
  }
}
