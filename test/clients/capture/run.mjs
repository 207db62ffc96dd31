// `npm run test:capture-clients [-- folder]`: installs the coding agents in a folder outside of this repository (1 GB), then tries with
// each of them what its hooks capture and recall, plays the demonstration with them, and measures what they cost.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const folder = resolve(process.argv[2] ?? join(tmpdir(), 'commonplace-capture-clients'))
mkdirSync(folder, { recursive: true })
copyFileSync(join(here, 'package.json'), join(folder, 'package.json'))
const run = (program, args) => spawnSync(program, args, { cwd: folder, stdio: 'inherit' }).status ?? 1
if (run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']) !== 0) process.exit(1)
const demo = fileURLToPath(new URL('../../../scripts/demo-capture.mjs', import.meta.url).href)
const parts = [[join(here, 'hooks.mjs')], [demo, '--clients', folder]]
const failed = parts.filter((args) => run(process.execPath, args) !== 0)
process.exit(failed.length === 0 ? 0 : 1)
