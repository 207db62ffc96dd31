// `node scripts/run.mjs <program> [arguments]`: installs what is missing, then runs a program of a package (or `node`, the one that
// the packages need) with the arguments as they are. This is how every npm script works on a fresh clone.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

const [name, ...args] = process.argv.slice(2)
if (name === undefined) {
  console.error('usage: node scripts/run.mjs <program> [arguments]')
  process.exit(2)
}
// The command line needs what the server needs.
await installMissing(args[0]?.startsWith('src/cli/') ? 'serving' : 'all')
const isWindows = process.platform === 'win32'
const program = name === 'node' ? nodePath() : join(root, 'node_modules', '.bin', isWindows ? `${name}.cmd` : name)
const child = spawn(program, args, { env: environment(), stdio: 'inherit', shell: isWindows && name !== 'node' })
// Ctrl-C reaches the child by itself, and it decides; what else ends this ends the child.
process.on('SIGINT', () => {})
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal))
child.once('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
