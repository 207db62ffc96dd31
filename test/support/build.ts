import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorker } from '../../scripts/serve/bundle.mjs'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href)
export const WORKER_DIR = `${ROOT}.tmp/worker`

/** This module is loaded once for each project of a run; they share the state in the process. */
const shared = globalThis as { commonplaceBuilt?: Promise<void> }

/**
 * A copy of the bundle that `npm start` serves and keeps until a source changes: to make one is some seconds of work. It is made as from a
 * home that cannot be written to, which a server of `npm start` may have (`e2e/start`).
 */
async function build(): Promise<void> {
  const { HOME = '' } = process.env
  process.env.HOME = '/dev/null/home'
  const bundle = await bundleWorker().finally(() => {
    process.env.HOME = HOME
  })
  rmSync(WORKER_DIR, { recursive: true, force: true })
  cpSync(bundle, WORKER_DIR, { recursive: true })
}

/** Bundles the Worker once for all tests that talk to it over HTTP, in any project. */
export default function setup(): Promise<void> {
  shared.commonplaceBuilt ??= build()
  return shared.commonplaceBuilt
}
