// Warns and checks before `npx wrangler dev`: wrangler runs this before it builds (`[build]` of wrangler.toml), and stops
// if it fails, as `npm start` does when its port would serve other machines without keys. Other commands are not affected.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isLoopback, UsageError } from './serve/arguments.mjs'
import { refuseOpenDoor } from './serve/variables.mjs'

const CONFIG = fileURLToPath(new URL('../wrangler.toml', import.meta.url).href)
/** Shells between this process and wrangler. */
const GENERATIONS = 5

const NOTE =
  'Open mode: only programs on this machine can call /mcp, without a key. wrangler dev does not run the schedule and ' +
  'adds its own pages to the Worker; npm start runs the schedule and serves only the Worker.'

/**
 * @param {number} pid
 * @returns {{ args: string[], parent: number } | null} null if the system does not report it
 */
function processOf(pid) {
  try {
    const args = readFileSync(join('/proc', String(pid), 'cmdline'), 'utf8').split('\0')
    const [, rest = ''] = readFileSync(join('/proc', String(pid), 'stat'), 'utf8').split(') ')
    return { args, parent: Number(rest.split(' ')[1]) }
  } catch {
    const said = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
    const [parent, ...args] = said.trim().split(/\s+/)
    return args.length === 0 ? null : { args, parent: Number(parent) }
  }
}

/** @returns {string[]} the arguments of `wrangler dev`; empty if unknown */
function argumentsOfWrangler() {
  let pid = process.ppid
  for (let i = 0; i < GENERATIONS && pid > 1; i++) {
    const found = processOf(pid)
    if (found === null) return []
    const at = found.args.indexOf('dev')
    if (at > 0 && /wrangler/.test(found.args.slice(0, at).join(' '))) return found.args.slice(at + 1)
    pid = found.parent
  }
  return []
}

/** @param {string[]} args */
async function check(args) {
  const { values } = parseArgs({
    args: args.filter((one) => one !== ''),
    options: {
      ip: { type: 'string' },
      env: { type: 'string', short: 'e' },
      var: { type: 'string', multiple: true },
      'env-file': { type: 'string', multiple: true },
    },
    strict: false,
    allowPositionals: true,
  })
  const ip = String(values.ip ?? 'localhost')
  if (isLoopback(ip)) return console.log(NOTE)
  // Deployments require keys.
  if (values.env !== undefined) return
  const { unstable_getVarsForDev } = await import('wrangler')
  const files = /** @type {string[] | undefined} */ (values['env-file'])
  const inFile = unstable_getVarsForDev(CONFIG, files, {}, undefined, true).AUTH_MODE
  const said = /** @type {string[]} */ (values.var ?? []).findLast((one) => one.startsWith('AUTH_MODE:'))?.slice(10)
  const mode = said ?? (inFile !== undefined && 'value' in inFile ? String(inFile.value) : 'open')
  refuseOpenDoor({ AUTH_MODE: mode }, ip)
}

if (process.env.WRANGLER_COMMAND === 'dev')
  try {
    await check(argumentsOfWrangler())
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(error.message)
    process.exit(1)
  }
