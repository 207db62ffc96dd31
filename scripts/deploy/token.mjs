// Makes ADMIN_TOKEN once; later deployments do not change it. It is stored next to the checkout, in a folder that git ignores, so that an
// interrupted deployment can continue, and the next one can run the proof.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { blocked } from './failures.mjs'
import { parsed } from './wrangler.mjs'

/** @param {import('./command.mjs').Deploying} deploying */
const fileOf = ({ folder, names }) => join(folder, `${names.worker}.token`)

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @returns {Promise<{ exists: boolean, hasToken: boolean }>} whether a Worker of this name exists and has a token
 */
export async function lookAtWorker({ wrangler, env, names }) {
  const { code, out, said } = await wrangler(['secret', 'list', '--name', names.worker, '--format', 'json'], env)
  if (code === 0)
    return {
      exists: true,
      hasToken: parsed(out)?.some((/** @type {{ name: string }} */ { name }) => name === 'ADMIN_TOKEN') === true,
    }
  if (/\[code: 10007\]|not found|does not exist/i.test(said)) return { exists: false, hasToken: false }
  throw blocked('read the Worker', said)
}

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @param {boolean} hasToken whether the Worker has one
 * @returns {{ token: string | null, isNew: boolean }} null if it has one that is unknown here
 */
export function chooseToken(deploying, hasToken) {
  const given = deploying.env.ADMIN_TOKEN
  const file = fileOf(deploying)
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : null
  if (hasToken) return { token: given || kept, isNew: false }
  const token = given || kept || randomBytes(32).toString('base64url')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${token}\n`, { mode: 0o600 })
  deploying.say('token', `made ADMIN_TOKEN; it is stored in ${file}, which only you can read`)
  return { token, isNew: true }
}

/**
 * Sets the secret through a file that only the user can read, never an argument.
 *
 * @template T
 * @param {string} token
 * @param {(file: string) => Promise<T>} then
 */
export async function withSecretsFile(token, then) {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-deploy-'))
  try {
    const file = join(folder, 'secrets.json')
    writeFileSync(file, JSON.stringify({ ADMIN_TOKEN: token }), { mode: 0o600 })
    return await then(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {import('./command.mjs').Deploying} deploying */
export const forgetToken = (deploying) => rmSync(fileOf(deploying), { force: true })
