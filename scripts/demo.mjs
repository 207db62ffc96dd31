// `npm run demo`: starts a server on a new store with six weeks of four agents' work, to explore the dashboard.
import './local-vectors.mjs'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { begin } from './begin.mjs'
import { environment, nodePath, root } from './install.mjs'
import { serve } from './serve.mjs'

const options = await begin()
const state = join(root, '.wrangler/demo')
rmSync(state, { recursive: true, force: true })
console.log('Filling a store for the demo …')
const seed = fileURLToPath(new URL('demo/seed.mjs', import.meta.url).href)
const { status } = spawnSync(nodePath(), [seed, state], { cwd: root, env: environment({}), stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
process.exit(
  await serve({
    options: { ...options, state },
    config: 'wrangler.toml',
    dataLine: 'The demo data is in .wrangler/demo and is replaced at each start.',
  }),
)
