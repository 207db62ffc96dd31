// Runs the wrangler of this checkout, without prompts.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, nodePath, root } from '../install.mjs'
import { blocked } from './failures.mjs'

/**
 * @typedef {{ code: number, said: string, out: string }} Answer `out` is standard output, `said` both outputs
 * @typedef {(args: readonly string[], env?: Record<string, string>) => Promise<Answer>} Wrangler
 */

/** @type {Wrangler} */
export const runWrangler = (args, env = {}) =>
  new Promise((resolve, reject) => {
    const program = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    // CI: wrangler does not prompt and uses its defaults.
    const child = spawn(nodePath(), [program, ...args], {
      cwd: root,
      env: environment({ CI: 'true', NO_COLOR: '1', ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, said] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
      said += chunk
    })
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, out, said }))
  })

/**
 * @param {Wrangler} wrangler
 * @param {string} what the attempted action, after "could not"
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<string>} standard output
 * @throws {import('./failures.mjs').Blocked}
 */
export async function must(wrangler, what, args, env) {
  const { code, out, said } = await wrangler(args, env)
  if (code !== 0) throw blocked(what, said)
  return out
}

/** Output of `--json`, before which wrangler may print a notice. @param {string} out @returns {any} */
export function parsed(out) {
  const begin = out.search(/[[{]/)
  try {
    return JSON.parse(begin < 0 ? 'null' : out.slice(begin))
  } catch {
    return null
  }
}
