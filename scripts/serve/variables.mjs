// What did the person who starts the server set? On top of [vars] of wrangler.toml come .dev.vars or .env, then the environment,
// then --var. Nobody who said AUTH_MODE=required is served openly.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { VARIABLES } from '../../src/variables.mjs'
import { isLoopback, UsageError } from './arguments.mjs'

/**
 * @param {readonly string[]} files
 * @param {boolean} areNamed what a person named has to be there
 * @returns {Record<string, unknown>} later files count more
 * @throws {UsageError}
 */
export function readEnvFiles(files, areNamed) {
  return Object.assign(
    {},
    ...files.map((file) => {
      try {
        return parseEnv(readFileSync(file, 'utf8'))
      } catch {
        if (areNamed) throw new UsageError(`--env-file ${file} cannot be read.`)
        return {}
      }
    }),
  )
}

/**
 * @typedef {object} Said
 * @property {Record<string, unknown>} file of .dev.vars or .env
 * @property {Record<string, string | undefined>} environment of this process; only what the Worker knows is taken from it
 * @property {Record<string, string>} args of --var
 *
 * @param {Said} said
 * @returns {Record<string, unknown> & { AUTH_MODE: string }}
 */
export function chooseVariables({ file, environment, args }) {
  const known = VARIABLES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))
  const chosen = { ...file, ...Object.fromEntries(known), ...args }
  return { ...chosen, AUTH_MODE: String(chosen.AUTH_MODE || 'open') }
}

/**
 * Names of --var that nothing reads, so that a slip sets nothing in silence; files and the environment hold those of other programs too.
 *
 * @param {Record<string, string>} args
 */
export const unknownNames = (args) =>
  Object.keys(args).filter((name) => !(/** @type {readonly string[]} */ (VARIABLES).includes(name)))

/** @param {{ AUTH_MODE: string }} variables */
export const isOpen = ({ AUTH_MODE }) => AUTH_MODE.trim().toLowerCase() === 'open'

/**
 * A line a request is for those who watch a deployment; here it would hide what matters, unless somebody says what is to be logged.
 *
 * @param {string} line of the log
 * @param {Record<string, unknown>} said to the Worker
 */
export const isHidden = (line, { LOG_LEVEL }) => !LOG_LEVEL && /^\{"level":"INFO","event":"request"/.test(line)

/**
 * Who is not asked for a key must sit at this machine.
 *
 * @param {{ AUTH_MODE: string }} variables
 * @param {string} ip
 * @throws {UsageError}
 */
export function refuseOpenDoor(variables, ip) {
  if (isOpen(variables) && !isLoopback(ip))
    throw new UsageError(
      `Without keys (AUTH_MODE=open) only this machine is served, so --ip ${ip} is refused; add --var ` +
        'AUTH_MODE:required, or leave --ip out.',
    )
}
