// Tries the server with the clients that people really use: `COMMONPLACE_URL=… node test/clients/run.mjs [folder]`. They are
// installed in a folder of their own, because nothing of ours needs them.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const folder = resolve(process.argv[2] ?? join(tmpdir(), 'commonplace-clients'))
mkdirSync(folder, { recursive: true })
copyFileSync(join(here, 'package.json'), join(folder, 'package.json'))
const run = (program, args) => spawnSync(program, args, { cwd: folder, stdio: 'inherit' }).status ?? 1
if (run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']) !== 0) process.exit(1)
const failed = [
  'libraries.mjs',
  'image.mjs',
  'question.mjs',
  'pack.mjs',
  'setup.mjs',
  'resources.mjs',
  'inspector.mjs',
].filter((name) => run(process.execPath, [join(here, name)]) !== 0)
process.exit(failed.length === 0 ? 0 : 1)
