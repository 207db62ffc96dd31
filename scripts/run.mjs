// `node scripts/run.mjs <program> [arguments]`: installs missing packages, then runs a program of a package (or `node`, the version that
// the packages need) with unchanged arguments. Every npm script runs this way, so that it works in a fresh clone.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

const [name, ...args] = process.argv.slice(2)
if (name === undefined) {
  console.error('usage: node scripts/run.mjs <program> [arguments]')
  process.exit(2)
}
// The command line needs the packages of the server.
await installMissing(args[0]?.startsWith('src/cli/') ? 'serving' : 'all')
const isWindows = process.platform === 'win32'
const program = name === 'node' ? nodePath() : join(root, 'node_modules', '.bin', isWindows ? `${name}.cmd` : name)
const child = spawn(program, args, { env: environment(), stdio: 'inherit', shell: isWindows && name !== 'node' })
// Ctrl-C also reaches the child, which decides; other signals are passed on to it.
process.on('SIGINT', () => {})
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(signal, () => child.kill(signal))
child.once('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
