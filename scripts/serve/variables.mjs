// Collects the variables of a server: [vars] of wrangler.toml, then .dev.vars or .env, then the environment,
// then --var. AUTH_MODE=required is never lowered.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { VARIABLES } from '../../src/variables.mjs'
import { isLoopback, UsageError } from './arguments.mjs'

/**
 * @param {readonly string[]} files
 * @param {boolean} areNamed whether the user named the files, so that they must exist
 * @returns {Record<string, unknown>} later files take precedence
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
 * @property {Record<string, string | undefined>} environment of this process; only the Worker's variables are used
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
 * Returns names of --var that the Worker does not read, to report typos; files and the environment also hold those of other programs.
 *
 * @param {Record<string, string>} args
 */
export const unknownNames = (args) =>
  Object.keys(args).filter((name) => !(/** @type {readonly string[]} */ (VARIABLES).includes(name)))

/** @param {{ AUTH_MODE: string }} variables */
export const isOpen = ({ AUTH_MODE }) => AUTH_MODE.trim().toLowerCase() === 'open'

/**
 * Returns whether a log line is shown: request lines would hide important ones here, unless LOG_LEVEL is set.
 *
 * @param {string} line of the log
 * @param {Record<string, unknown>} said variables of the Worker
 */
export const isHidden = (line, { LOG_LEVEL }) => !LOG_LEVEL && /^\{"level":"INFO","event":"request"/.test(line)

/**
 * Refuses open mode on an address that other machines can reach.
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
