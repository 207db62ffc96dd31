// `npm run dev:postgres [-- arguments as of npm start]`: runs the Worker on PostgreSQL, on this machine, in one command. Starts a
// database behind PgBouncer (or uses DATABASE_URL, and DATABASE_POOL_URL), migrates it and serves. A database started here is stopped at the end; its data is not deleted.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { begin } from './begin.mjs'
import { environment, nodePath, root } from './install.mjs'
import { serve } from './serve.mjs'

const options = await begin(undefined, 'all')
const { databaseFromEnvironment, pooledUrl, servingUrl, UsageError } = await import('../src/cli/postgres/url.mjs')
const { dataFolder, spawnServer } = await import('./postgres.mjs')

/** The database of this checkout, or the configured one. */
async function database() {
  const given = databaseFromEnvironment(process.env)
  if (given) {
    const pooled = servingUrl(pooledUrl(process.env, given.url), process.env, given.name)
    return { url: given.url, pooled, where: `in the database of ${given.name}`, stop: async () => {} }
  }
  const data = dataFolder()
  const server = await spawnServer('serve', '--data', data, '--pgbouncer')
  return { ...server, pooled: server.pooledUrl ?? server.url, where: `in ${data}` }
}

const { url, pooled, where, stop } = await database().catch((error) => {
  if (error instanceof UsageError) {
    console.error(error.message)
    process.exit(2)
  }
  // The reason was already printed.
  console.error('Set DATABASE_URL to a PostgreSQL with pgvector 0.8 instead.')
  process.exit(1)
})
const shown = (/** @type {string} */ address) => address.replace(/:[^:@/]*@/, ':…@')
console.log(
  `PostgreSQL is at ${shown(url)}${new URL(pooled).host === new URL(url).host ? '' : `, used through the pooler at ${shown(pooled)}`}`,
)
const migrated = spawnSync(nodePath(), [join(root, 'src/cli/migrate-postgres.mjs')], {
  cwd: root,
  // Passed in the environment: every process of the machine can read arguments.
  env: environment({ DATABASE_URL: url }),
  stdio: 'inherit',
})
const code =
  migrated.status ||
  (await serve({
    options,
    config: 'wrangler.postgres.toml',
    hyperdrive: pooled,
    dataLine: `Entries are stored ${where}, images in ${options.shownState}; both survive a restart.`,
  }))
await stop()
process.exit(code)
