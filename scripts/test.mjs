// `npm test`: installs what is missing, then runs what every change must pass; with `--nightly` what plays longer and broader. What was left out is said last, where it is seen.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'
import { installPostgres } from './postgres/install.mjs'
import { spawnServer } from './postgres.mjs'

/** Bytes that must be free: the log of PostgreSQL may grow to one gigabyte, and each test file that plays on it has a database or two. */
const ROOM = 5e9

/** A folder of this run alone, which the user that PostgreSQL runs as may pass too. */
function ownFolder(parent) {
  const folder = mkdtempSync(join(parent, 'commonplace-test-'))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * Where the tests keep their databases: in memory where the system has a folder that is, with room in it and leave to run what
 * tests put there. Nothing that is kept here outlives the run; on a disk, files that write much were measured to take a sixth more.
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
    // There is no such folder, or not for us.
  }
  return ownFolder(tmpdir())
}

/**
 * The whole of a tier plays in two at once. To load the product into a workerd is ten seconds of work, so that half of the processors have
 * one each, two at least, since each often waits for a database; files of Node, which wait for servers of their own, play beside them.
 */
const cores = availableParallelism()
const PARTS = [
  ['--project', 'unit', '--project', 'properties', '--project', 'node*', '--maxWorkers', Math.max(3, cores - 2)],
  ['--project', 'worker*', '--maxWorkers', Math.max(2, Math.ceil(cores / 2))],
].map((words) => words.map(String))

/**
 * Plays one part.
 *
 * @param {readonly string[]} words for vitest
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} waits whether what it says is held back until it is over, so that two do not speak at once
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
// Ctrl-C reaches them by itself, and what they kept goes with them.
process.on('SIGINT', () => {})
const parts = words.length > 0 ? [words] : PARTS
/**
 * Of PostgreSQL, for both parts: to make one is some seconds of work. In the nightly tier each has its own, since rows are counted there, and
 * what is dead in an index is read, and counted, as long as a session of the server may still look at it.
 */
let server
if (parts.length > 1 && !process.env.PG_URL)
  try {
    process.env.TMPDIR = folder
    // Once, since both would do so at once.
    if (isNightly) installPostgres()
    else {
      server = await spawnServer('serve', '--pgbouncer')
      Object.assign(env, { PG_URL: server.url, ...(server.pooledUrl && { PG_POOLED_URL: server.pooledUrl }) })
    }
  } catch {
    // Each part tries again, and says what it does without.
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
