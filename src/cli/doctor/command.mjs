// `commonplace doctor [client]`: is everything there that memory needs? One line for each thing, and what to do where it is not.
import { CAPTURE_CLIENTS } from '../capture/clients.mjs'
import { didYouMean } from '../nearest.mjs'
import { resolveServer } from '../resolve-server.mjs'
import { paint } from '../terminal.mjs'
import { checkCapture } from './capture.mjs'
import { checkClients } from './clients.mjs'
import { checkFiles } from './files.mjs'
import { checkKey } from './key.mjs'
import { checkModel } from './model.mjs'
import { checkServer } from './server.mjs'
import { checkSpool } from './spool.mjs'

/**
 * What a check found. `ok` null: nothing is wrong, and nothing is there to be judged.
 *
 * @typedef {{ name: string, ok: boolean | null, detail: string, todo?: string, isAll?: boolean }} Finding isAll: without it no further check makes sense
 *
 * @typedef {object} Around what checks look at
 * @property {string} url of the server
 * @property {string} key empty for none
 * @property {string} from where both are named
 * @property {string | null} client the one that is asked about; null for all
 * @property {{ role: string, projects: string[] | null, capture: boolean } | null} known what the server knows of the key, once it was asked
 * @property {string[]} hooked clients that run our hooks, once they were looked for
 * @property {Record<string, { backend: string, ok: boolean, problem?: string }>} [parts] what `/ready` says of each backend, once it was asked
 */

/** In this order; one file each. @type {readonly ((around: Around) => Promise<Finding[]>)[]} */
export const CHECKS = [checkServer, checkKey, checkModel, checkClients, checkFiles, checkSpool, checkCapture]

const MARKS = { true: 'ok', false: '!!', null: '--' }
const COLORS = /** @type {const} */ ({ true: 'green', false: 'red', null: 'yellow' })

/** In green, red or yellow for a person at a terminal. @param {boolean | null} ok */
function markOf(ok) {
  const name = /** @type {'true' | 'false' | 'null'} */ (String(ok))
  return paint(COLORS[name], MARKS[name])
}

/** @param {Around} around @returns {Promise<Finding[]>} */
export async function examine(around) {
  const findings = []
  for (const check of CHECKS) {
    const found = await check(around)
    findings.push(...found)
    if (found.some(({ ok, isAll }) => ok === false && isAll)) break
  }
  return findings
}

/**
 * @param {{ namedUrl?: string, key?: string, json?: boolean, 'check-updates'?: boolean }} options key: of the named URL, where it is known
 * @param {string | undefined} client
 * @param {(problem: string) => never} usage
 */
export async function doctor(options, client, usage) {
  if (client !== undefined && !Object.hasOwn(CAPTURE_CLIENTS, client))
    usage(
      `unknown client: ${client}.${didYouMean(client, Object.keys(CAPTURE_CLIENTS))} Known clients: ${Object.keys(CAPTURE_CLIENTS).join(', ')}`,
    )
  const { flaw, ...resolved } = await resolveServer(options.namedUrl)
  const findings = await examine({
    ...resolved,
    // Checks add their own paths; an endpoint such as /mcp/core names its server.
    url: resolved.url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, ''),
    key: options.key ?? resolved.key,
    ...(flaw !== null && { from: `${resolved.from}; ${flaw}` }),
    client: client ?? null,
    known: null,
    hooked: [],
  })
  if (options['check-updates']) findings.push(await (await import('./updates.mjs')).checkUpdates())
  // `told` is the name that 1.0.0-rc.1 gave it, and what programs read.
  const wire = findings.map(({ detail: told, ...finding }) => ({ ...finding, told }))
  if (options.json) console.log(JSON.stringify(wire, null, 2))
  else
    for (const { name, ok, detail, todo } of findings)
      console.log(
        `${markOf(ok)}  ${name.padEnd(11)} ${detail}${todo === undefined ? '' : `\n                → ${todo}`}`,
      )
  if (findings.some(({ ok }) => ok === false)) process.exitCode = 1
}
