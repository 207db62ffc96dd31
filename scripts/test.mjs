// `npm test`: installs what is missing, then runs every test. What was left out is said last, where it is seen.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

installMissing()
const folder = mkdtempSync(join(tmpdir(), 'commonplace-test-'))
const notes = join(folder, 'notes')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const { status } = spawnSync(nodePath(), [vitest, 'run', ...process.argv.slice(2)], {
  cwd: root,
  env: environment({ COMMONPLACE_TEST_NOTES: notes }),
  stdio: 'inherit',
})
if (existsSync(notes)) console.error(readFileSync(notes, 'utf8'))
rmSync(folder, { recursive: true, force: true })
process.exit(status ?? 1)
