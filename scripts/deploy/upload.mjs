// Uploads the Worker: schema first, then code, so that code never runs on an older schema.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Blocked } from './failures.mjs'
import { withSecretsFile } from './token.mjs'
import { must } from './wrangler.mjs'

/** @param {import('./command.mjs').Deploying} deploying @param {string} file the configuration */
export async function applyMigrations({ wrangler, env, names, say }, file) {
  await must(
    wrangler,
    'apply the migrations',
    ['d1', 'migrations', 'apply', names.database, '--remote', '--config', file],
    env,
  )
  say('schema', 'the database has the schema of this release')
}

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @param {string} file the configuration
 * @param {string | null} token to set; null if it is set
 * @returns {Promise<string>} the address of the Worker
 */
export async function upload({ wrangler, env, names, say }, file, token) {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-deploy-'))
  const report = join(folder, 'report.ndjson')
  const run = (/** @type {string[]} */ more) =>
    must(wrangler, 'deploy the Worker', ['deploy', '--config', file, ...more], {
      ...env,
      WRANGLER_OUTPUT_FILE_PATH: report,
    })
  try {
    const out = await (token === null ? run([]) : withSecretsFile(token, (secrets) => run(['--secrets-file', secrets])))
    say('worker', `deployed ${names.worker}`)
    const origin =
      targetsIn(report).find((target) => target.startsWith('https://')) ?? out.match(/https:\/\/[^\s]+/)?.[0]
    if (origin === undefined)
      throw new Blocked(
        'The Worker is deployed but has no address. Add a route, or set workers_dev = true in wrangler.toml.',
      )
    return new URL(origin).origin
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} report of wrangler, one object per line @returns {string[]} */
function targetsIn(report) {
  try {
    return readFileSync(report, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .flatMap((event) => (event.type === 'deploy' ? (event.targets ?? []) : []))
      .map((/** @type {string} */ target) => (/^https?:/.test(target) ? target : `https://${target}`))
  } catch {
    return []
  }
}
