import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorker } from '../../scripts/serve/bundle.mjs'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href)
export const WORKER_DIR = `${ROOT}.tmp/worker`

/** State shared by all projects of a run, because each loads this module. */
const shared = globalThis as { commonplaceBuilt?: Promise<void> }

/**
 * Copies the bundle that `npm start` caches until a source changes. It is built with a read-only home folder, as a
 * server of `npm start` may have (`e2e/start`).
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
