import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href)
export const WORKER_DIR = `${ROOT}.tmp/worker`

/** This module is loaded once for each project of a run, and they meet in the process. */
const shared = globalThis as { commonplaceBuilt?: true }

/** Bundles the Worker once for all tests that talk to it over HTTP, of whichever project. */
export default function setup(): void {
  if (shared.commonplaceBuilt) return
  execFileSync(
    process.execPath,
    [`${ROOT}node_modules/wrangler/bin/wrangler.js`, 'deploy', '--dry-run', '--outdir', WORKER_DIR],
    { cwd: ROOT, stdio: 'pipe', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  shared.commonplaceBuilt = true
}
