import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href)
export const WORKER_DIR = `${ROOT}.tmp/worker`

/** Bundles the Worker once for all tests that talk to it over HTTP. */
export default function setup(): void {
  execFileSync(
    process.execPath,
    [`${ROOT}node_modules/wrangler/bin/wrangler.js`, 'deploy', '--dry-run', '--outdir', WORKER_DIR],
    { cwd: ROOT, stdio: 'pipe', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
}
