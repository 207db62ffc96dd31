// `npm run dev:postgres [-- arguments as of npm start]`: the Worker on PostgreSQL, on this machine, in one command. Starts a
// database behind PgBouncer (or takes DATABASE_URL, and DATABASE_POOL_URL), migrates it and serves. A database that was started here is stopped at the end; its data stay.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { begin } from './begin.mjs'
import { environment, nodePath, root } from './install.mjs'
import { serve } from './serve.mjs'

const options = await begin(undefined, 'all')
const { databaseFromEnvironment, pooledUrl, servingUrl, UsageError } = await import('../src/cli/postgres/url.mjs')
const { dataFolder, spawnServer } = await import('./postgres.mjs')

/** The database of this checkout, or the one that is named. */
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
  // Its reason has been printed by itself.
  console.error('Set DATABASE_URL to a PostgreSQL with pgvector 0.8 instead.')
  process.exit(1)
})
const shown = (/** @type {string} */ address) => address.replace(/:[^:@/]*@/, ':…@')
console.log(
  `PostgreSQL is at ${shown(url)}${new URL(pooled).host === new URL(url).host ? '' : `, asked through the pooler at ${shown(pooled)}`}`,
)
const migrated = spawnSync(nodePath(), [join(root, 'src/cli/migrate-postgres.mjs')], {
  cwd: root,
  // By the environment: arguments are seen by every process of the machine.
  env: environment({ DATABASE_URL: url }),
  stdio: 'inherit',
})
const code =
  migrated.status ||
  (await serve({
    options,
    config: 'wrangler.postgres.toml',
    hyperdrive: pooled,
    dataLine: `Entries live ${where}, images in ${options.shownState}; both survive a restart.`,
  }))
await stop()
process.exit(code)
