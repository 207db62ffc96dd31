// `npm run dev:postgres [-- wrangler arguments]`: the Worker on PostgreSQL, on this machine, in one command. Starts a database
// (or takes DATABASE_URL), migrates it and serves. A database that was started here is stopped at the end; its data stay.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'
import { dataFolder, spawnServer } from './postgres.mjs'
import { serve } from './serve.mjs'

installMissing()

/** The database of this checkout, or the one that is named. */
async function database() {
  const given = process.env.DATABASE_URL
  if (given) return { url: given, where: 'in the database of DATABASE_URL', stop: async () => {} }
  const data = dataFolder()
  const server = await spawnServer('serve', '--data', data)
  return { ...server, where: `in ${data}` }
}

const { url, where, stop } = await database().catch((error) => {
  console.error(`${error.message}\nSet DATABASE_URL to a PostgreSQL with pgvector 0.8 instead.`)
  process.exit(1)
})
console.log(`PostgreSQL is at ${url.replace(/:[^:@/]*@/, ':…@')}`)
const migrated = spawnSync(nodePath(), [join(root, 'src/cli/migrate-postgres.mjs'), url], {
  cwd: root,
  env: environment(),
  stdio: 'inherit',
})
/** What shapes the tables has to be the same for the migration and for the Worker. */
const shared = ['POSTGRESQL_SCHEMA', 'METADATA_INDEXED_FIELDS'].flatMap((name) =>
  process.env[name] ? ['--var', `${name}:${process.env[name]}`] : [],
)
const code =
  migrated.status ||
  (await serve({
    args: ['--config', 'wrangler.postgres.toml', ...shared, ...process.argv.slice(2)],
    env: { CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HYPERDRIVE: url },
    dataLine: `Entries live ${where}, images in .wrangler/state; both survive a restart.`,
  }))
await stop()
process.exit(code)
