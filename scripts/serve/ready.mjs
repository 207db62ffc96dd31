// Is the server ready, and what is the person at the terminal told?
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
 * @returns {Promise<Readiness>} what /ready says first
 */
export async function askReadiness(origin) {
  const response = await fetch(`${origin}/ready`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  return /** @type {Readiness} */ (await response.json())
}

/**
 * What an upgrade left to be made goes a part further with each answer: asks on until nothing is left, and tells of it.
 *
 * @param {string} origin
 * @param {Readiness['unfinished']} unfinished as it was when the server started
 * @param {readonly string[]} [left] what answers take further; the built-in model makes vectors by itself
 */
export async function finishUpgrade(origin, unfinished, left = ['words', 'vectors']) {
  const isLeft = (/** @type {Readiness['unfinished']} */ missed) => missed?.some((what) => left.includes(what)) === true
  if (!isLeft(unfinished)) return
  console.log(
    'What searches go by is being made anew after an upgrade; until that is done they may miss older entries.',
  )
  while (isLeft((await askReadiness(origin)).unfinished));
  console.log('Searches find every entry again.')
}

/**
 * @param {Record<string, Check>} checks
 * @returns {string[]} one line for each part that does not answer
 */
export const troubles = (checks) =>
  Object.entries(checks)
    // The built-in model reports its own troubles, when they happen.
    .filter(([, { backend, ok }]) => !ok && backend !== 'builtin')
    .map(([name, { backend, problem }]) => `! ${name} (${backend}): ${problem ?? 'does not answer'}`)

/**
 * @param {{ url: string, open: boolean, adminToken: boolean, dataLine: string, troubles: string[] }} facts
 */
export function welcome({ url, open, adminToken, dataLine, troubles: lines }) {
  const header = open ? '' : ' --header "Authorization: Bearer $KEY"'
  const make = adminToken
    ? `With ADMIN_TOKEN set, make one: ${TYPED.command} orgs create ORG, then ${TYPED.command} keys create NAME --org ORG`
    : 'Keys are made with ADMIN_TOKEN, which is not set.'
  const mode = open
    ? 'Open to this machine only, without a key (AUTH_MODE=open).'
    : `Every request brings a key (AUTH_MODE=required). ${make}`
  return [
    '',
    `Commonplace is ready:  ${url}`,
    '',
    `  Claude Code   claude mcp add --transport http commonplace ${url}/core${header}`,
    `  others        ${isPackaged ? `${TYPED.command} setup CLIENT` : 'docs/clients/README.md'}`,
    `  people        ${new URL('/', url).href}`,
    '',
    mode,
    ...lines,
    `${dataLine} Stop with Ctrl-C.`,
    '',
  ].join('\n')
}
