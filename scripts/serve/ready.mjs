// Waits until the server is ready, and prints its state for the user.
import { isPackaged, TYPED } from '../../src/cli/place.mjs'

/**
 * @typedef {object} Check
 * @property {string} backend
 * @property {boolean} ok
 * @property {string} [problem] what to do about it
 *
 * @typedef {{ checks?: Record<string, Check>, unfinished?: string[], error?: { message: string } }} Readiness
 */

const PATIENCE_MS = 60_000

/**
 * @param {string} origin
 * @returns {Promise<Readiness>} the first answer of /ready
 */
export async function askReadiness(origin) {
  const response = await fetch(`${origin}/ready`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  return /** @type {Readiness} */ (await response.json())
}

/**
 * Finishes work that an upgrade left: each request of /ready does a further part. Repeats until nothing is left, and reports it.
 *
 * @param {string} origin
 * @param {Readiness['unfinished']} unfinished the state at the start
 * @param {readonly string[]} [left] the parts that requests continue; the built-in model makes vectors by itself
 */
export async function finishUpgrade(origin, unfinished, left = ['words', 'vectors']) {
  const isLeft = (/** @type {Readiness['unfinished']} */ missed) => missed?.some((what) => left.includes(what)) === true
  if (!isLeft(unfinished)) return
  console.log('Rebuilding the search index after an upgrade; until that is done searches may miss older entries.')
  while (isLeft((await askReadiness(origin)).unfinished));
  console.log('Searches find every entry again.')
}

/**
 * @param {Record<string, Check>} checks
 * @returns {string[]} one line for each part that does not respond
 */
export const troubles = (checks) =>
  Object.entries(checks)
    // The built-in model reports its own errors when they happen.
    .filter(([, { backend, ok }]) => !ok && backend !== 'builtin')
    .map(([name, { backend, problem }]) => `! ${name} (${backend}): ${problem ?? 'does not respond'}`)

/**
 * @param {{ url: string, open: boolean, adminToken: boolean, dataLine: string, troubles: string[] }} facts
 */
export function welcome({ url, open, adminToken, dataLine, troubles: lines }) {
  const header = open ? '' : ' --header "Authorization: Bearer $KEY"'
  const make = adminToken
    ? `To make one, set ADMIN_TOKEN and run: ${TYPED.command} orgs create ORG, then ${TYPED.command} keys create NAME --org ORG`
    : 'Keys are made with ADMIN_TOKEN, which is not set.'
  const mode = open
    ? 'Open to this machine only, without a key (AUTH_MODE=open).'
    : `Every request needs a key (AUTH_MODE=required). ${make}`
  return [
    '',
    `Commonplace is ready:  ${url}`,
    '',
    `  Claude Code   claude mcp add --transport http commonplace ${url}${header}`,
    `  others        ${isPackaged ? `${TYPED.command} setup CLIENT` : 'docs/clients/README.md'}`,
    `  people        ${new URL('/', url).href}`,
    '',
    mode,
    ...lines,
    `${dataLine} Stop with Ctrl-C.`,
    '',
  ].join('\n')
}
