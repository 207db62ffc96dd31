import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashAgainAndAgain, startServer } from '../../bench/faults/crashes.mjs'
import { freePort } from '../../scripts/ports.mjs'
import { ROOT } from '../support/build'

/** A server that is killed while agents write. More crashes, and PostgreSQL: `node bench/faults/crash.mjs`. */
const CRASHES = 2
const SEED = Number(process.env.CRASH_SEED ?? 20261122)

it('holds every acknowledged write, and none twice, after kill -9 of everything in the middle of work', async () => {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true })
  const state = mkdtempSync(join(ROOT, '.tmp', 'crash-'))
  try {
    const port = await freePort()
    const result = await crashAgainAndAgain({
      start: () => startServer({ port, state }),
      crashes: CRASHES,
      writers: 3,
      seed: SEED,
      most: 40,
    })
    expect([SEED, result.wrong]).toEqual([SEED, []])
    expect(result.acknowledged).toBeGreaterThanOrEqual(CRASHES)
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
})
