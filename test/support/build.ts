import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorker } from '../../scripts/serve/bundle.mjs'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href)
export const WORKER_DIR = `${ROOT}.tmp/worker`

/** This module is loaded once for each project of a run, and they meet in the process. */
const shared = globalThis as { commonplaceBuilt?: Promise<void> }

/** A copy of the bundle that `npm start` serves and keeps until a source changes: to make one is some seconds of work. */
async function build(): Promise<void> {
  const bundle = await bundleWorker()
  rmSync(WORKER_DIR, { recursive: true, force: true })
  cpSync(bundle, WORKER_DIR, { recursive: true })
}

/** Bundles the Worker once for all tests that talk to it over HTTP, of whichever project. */
export default function setup(): Promise<void> {
  shared.commonplaceBuilt ??= build()
  return shared.commonplaceBuilt
}
