// Starts the server of a package or a container, with data in the user's folder, or on the PostgreSQL of DATABASE_URL.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { databaseFromEnvironment, pooledUrl, servingUrl, UsageError } from '../../src/cli/postgres/url.mjs'
import { begin } from '../begin.mjs'
import { environment, nodePath, root } from '../install.mjs'
import { serve } from '../serve.mjs'

/** Returns the URL for requests; null if an error was printed. @param {{ url: string, name: string }} database */
function readUrl({ url, name }) {
  try {
    const pooled = pooledUrl(process.env, url)
    return servingUrl(pooled, process.env, pooled === url ? name : 'DATABASE_POOL_URL')
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(error.message)
    return null
  }
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} exit code
 */
export async function start(args) {
  const options = await begin(args)
  const kept = `in ${options.shownState}`
  const backend = options.vars.STORAGE_BACKEND ?? process.env.STORAGE_BACKEND ?? ''
  const database = /^postgres/i.test(backend) ? databaseFromEnvironment(process.env) : null
  if (database === null)
    return serve({ options, config: 'wrangler.toml', dataLine: `Data is stored ${kept} and survives a restart.` })
  const hyperdrive = readUrl(database)
  if (hyperdrive === null) return 2
  const migrated = spawnSync(nodePath(), [join(root, 'src', 'cli', 'migrate-postgres.mjs')], {
    // Passed in the environment: every process of the machine can read arguments.
    env: environment({ DATABASE_URL: database.url }),
    stdio: 'inherit',
  })
  if (migrated.status !== 0) return migrated.status ?? 1
  return serve({
    options,
    config: 'wrangler.postgres.toml',
    hyperdrive,
    dataLine: `Entries are stored in the database of ${database.name}, images ${kept}; both survive a restart.`,
  })
}
