// Plain workerd as in workerd.mjs, with its own PostgreSQL instead of D1, stored in the state folder.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { environment, nodePath } from '../../scripts/install.mjs'
import { spawnServer } from '../../scripts/postgres.mjs'
import { letPass } from './folders.mjs'
import { family, killAll } from './processes.mjs'
import { startWorkerd } from './workerd.mjs'

/** @typedef {import('./server.mjs').ServerOptions} Options */

/**
 * A transaction pooler in between, whose connections are open before a request comes, like Hyperdrive. Without one, each
 * request pays for a new session of the database.
 *
 * @param {Options} options
 */
export const startPooled = (options) => startPostgres(options, ['--pgbouncer'])

/** @type {(options: Options, flags?: string[]) => Promise<import('./server.mjs').Server>} */
export async function startPostgres({ workspace, state, vars, port, without = [], inspected = false }, flags = []) {
  // The database does not run as root, and has to pass the folders above its own.
  for (const folder of [join(state, '..'), state]) letPass(folder)
  const data = join(state, 'postgres')
  mkdirSync(data, { recursive: true })
  const database = await spawnServer('serve', '--data', data, ...flags)
  try {
    const { status, stderr } = spawnSync(
      nodePath(),
      [join(workspace.sources, 'src', 'cli', 'migrate-postgres.mjs'), database.url],
      { cwd: workspace.sources, env: environment(), encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(`The database could not be migrated:\n${stderr}`)
    const worker = await startWorkerd({
      workspace,
      state,
      port,
      without,
      inspected,
      vars: { ...vars, STORAGE_BACKEND: 'postgresql' },
      hyperdrive: database.pooledUrl ?? database.url,
    })
    return {
      ...worker,
      database: database.url,
      stop: () => worker.stop().finally(database.stop),
      async crash() {
        await killAll(family(database.pid))
        await worker.crash?.()
        await database.stop()
      },
    }
  } catch (error) {
    await database.stop()
    throw error
  }
}
