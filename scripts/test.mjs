// `npm test`: installs what is missing, then runs what every change must pass; with `--nightly` what plays longer and broader. What was left out is said last, where it is seen.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

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

installMissing()
const folder = scratch()
const notes = join(folder, 'notes')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const asked = process.argv.slice(2)
// `--nightly`, or a file of that tier.
const isNightly = asked.some((word) => word === '--nightly' || word.includes('test/nightly'))
const words = asked.filter((word) => word !== '--nightly')
const { status } = spawnSync(nodePath(), [vitest, 'run', ...words], {
  cwd: root,
  env: environment({
    COMMONPLACE_TEST_NOTES: notes,
    TMPDIR: folder,
    ...(isNightly && { COMMONPLACE_TIER: 'nightly' }),
  }),
  stdio: 'inherit',
})
if (existsSync(notes)) console.error(readFileSync(notes, 'utf8'))
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
process.exit(status ?? 1)
