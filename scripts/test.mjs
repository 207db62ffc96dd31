// `npm test`: installs what is missing, then runs every test.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

installMissing()
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const { status } = spawnSync(nodePath(), [vitest, 'run', ...process.argv.slice(2)], {
  cwd: root,
  env: environment(),
  stdio: 'inherit',
})
process.exit(status ?? 1)
