// `commonplace doctor [client]`: checks everything that memory needs. One line per check, with a remedy if it fails.
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
 * The result of a check. `ok` null: no error, but nothing to check.
 *
 * @typedef {{ name: string, ok: boolean | null, detail: string, todo?: string, isAll?: boolean }} Finding isAll: further checks depend on it
 *
 * @typedef {object} Around the input of checks
 * @property {string} url of the server
 * @property {string} key empty for none
 * @property {string} from the place that sets both
 * @property {string | null} client the one to check; null for all
 * @property {{ role: string, projects: string[] | null, capture: boolean } | null} known the server's answer about the key, once requested
 * @property {string[]} hooked clients that run our hooks, once checked
 * @property {Record<string, { backend: string, ok: boolean, problem?: string }>} [parts] the state of each backend from `/ready`, once requested
 */

/** Checks in this order; one file each. @type {readonly ((around: Around) => Promise<Finding[]>)[]} */
export const CHECKS = [checkServer, checkKey, checkModel, checkClients, checkFiles, checkSpool, checkCapture]

const MARKS = { true: 'ok', false: '!!', null: '--' }
const COLORS = /** @type {const} */ ({ true: 'green', false: 'red', null: 'yellow' })

/** Colors a status green, red or yellow in a terminal. @param {boolean | null} ok */
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
 * @param {{ namedUrl?: string, key?: string, json?: boolean, 'check-updates'?: boolean }} options key: of the named URL, if known
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
    // Checks append their own paths; an address such as /mcp/core refers to its server.
    url: resolved.url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, ''),
    key: options.key ?? resolved.key,
    ...(flaw !== null && { from: `${resolved.from}; ${flaw}` }),
    client: client ?? null,
    known: null,
    hooked: [],
  })
  if (options['check-updates']) findings.push(await (await import('./updates.mjs')).checkUpdates())
  // `told` is the field's name in 1.0.0-rc.1, and programs read it.
  const wire = findings.map(({ detail: told, ...finding }) => ({ ...finding, told }))
  if (options.json) console.log(JSON.stringify(wire, null, 2))
  else
    for (const { name, ok, detail, todo } of findings)
      console.log(
        `${markOf(ok)}  ${name.padEnd(11)} ${detail}${todo === undefined ? '' : `\n                → ${todo}`}`,
      )
  if (findings.some(({ ok }) => ok === false)) process.exitCode = 1
}
