// `npm test`: installs missing packages, then runs the tests that every change must pass; with `--nightly` the long ones. Skipped tests are reported at the end.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'
import { installPostgres } from './postgres/install.mjs'
import { spawnServer } from './postgres.mjs'

/** Free bytes that are required: the log of PostgreSQL may grow to one gigabyte, and each test file that uses it has a database or two. */
const ROOM = 5e9

/** A folder of this run, which the user of PostgreSQL may enter too. */
function ownFolder(parent) {
  const folder = mkdtempSync(join(parent, 'commonplace-test-'))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * Returns the folder of the test databases: in memory where the system has a folder for that, with enough space and permission to run
 * programs in it. Everything in it is deleted after the run.
 */
function scratch() {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (Math.min(bavail * bsize, process.availableMemory()) < ROOM) return ownFolder(tmpdir())
    const folder = ownFolder(memory)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    if (spawnSync(program).status === 0) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // The folder does not exist, or is not accessible.
  }
  return ownFolder(tmpdir())
}

/**
 * Both parts of a tier run in parallel. Loading the product into a workerd takes ten seconds, so half of the processors have
 * one each, at least two, since each often waits for a database; test files in Node, which wait for their own servers, run at the same time.
 */
const cores = availableParallelism()
const PARTS = [
  ['--project', 'unit', '--project', 'properties', '--project', 'node*', '--maxWorkers', Math.max(3, cores - 2)],
  ['--project', 'worker*', '--maxWorkers', Math.max(2, Math.ceil(cores / 2))],
].map((words) => words.map(String))

/**
 * Runs one part.
 *
 * @param {readonly string[]} words arguments for vitest
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} waits whether its output is held back until it has finished, so that outputs do not mix
 * @returns {Promise<{ status: number, said: string }>}
 */
const play = (words, env, waits) =>
  new Promise((resolve) => {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    /** @type {import('node:child_process').StdioOptions} */
    const stdio = waits ? ['ignore', 'pipe', 'pipe'] : 'inherit'
    const child = spawn(nodePath(), [vitest, 'run', ...words], { cwd: root, env, stdio })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        said += chunk
      })
    child.once('close', (code) => resolve({ status: code ?? 1, said }))
  })

await installMissing()
const folder = scratch()
const notes = join(folder, 'notes')
const asked = process.argv.slice(2)
// `--nightly`, or a file of that tier.
const isNightly = asked.some((word) => word === '--nightly' || word.includes('test/nightly'))
const words = asked.filter((word) => word !== '--nightly')
const env = environment({
  COMMONPLACE_TEST_NOTES: notes,
  TMPDIR: folder,
  ...(isNightly && { COMMONPLACE_TIER: 'nightly' }),
})
// Ctrl-C also reaches the child processes, which delete their files.
process.on('SIGINT', () => {})
const parts = words.length > 0 ? [words] : PARTS
/**
 * PostgreSQL for both parts, since starting one takes some seconds. In the nightly tier each part has its own: those tests count rows, and
 * dead rows of an index are read and counted as long as any session of the server may still see them.
 */
let server
if (parts.length > 1 && !process.env.PG_URL)
  try {
    process.env.TMPDIR = folder
    // Once, since both would do so at the same time.
    if (isNightly) installPostgres()
    else {
      server = await spawnServer('serve', '--pgbouncer')
      Object.assign(env, { PG_URL: server.url, ...(server.pooledUrl && { PG_POOLED_URL: server.pooledUrl }) })
    }
  } catch {
    // Each part tries again, and reports missing programs.
  }
const played = await Promise.all(parts.map((part, at) => play(part, env, at > 0)))
for (const { said } of played) process.stdout.write(said)
await server?.stop()
if (existsSync(notes)) console.error(readFileSync(notes, 'utf8'))
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
const failed = played.flatMap(({ status }, at) =>
  status === 0 ? [] : `vitest ${parts[at]?.join(' ')}: exit code ${status}`,
)
if (failed.length > 0) console.error(failed.join('\n'))
process.exitCode = Math.max(...played.map(({ status }) => status))
