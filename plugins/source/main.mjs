// Commonplace's hook program: `node hook.mjs <client>` with an event on stdin, `statusline`, or `mcp`. Built from plugins/source.
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { bridge } from './bridge.mjs'
import { isFields, jsonIn } from './events.mjs'
import { handle, printed } from './run.mjs'
import { statusLine } from './told.mjs'

export { handle, statusLine }

/** Time limit of the whole program, in case of a stdin that is never closed. */
const LONGEST_RUN_MS = 2_500

async function hook(argument, around) {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const piece of process.stdin) text += piece
  const event = jsonIn(text)
  if (!isFields(event)) return
  if (argument === 'statusline') return void process.stdout.write(`${statusLine(around.home, event)}\n`)
  const { out, err } = printed(await handle(argument, event, around))
  if (err !== '') process.stderr.write(err)
  if (out !== '') await new Promise((resolve) => process.stdout.write(out, resolve))
}

async function main() {
  const argument = process.argv[2] ?? 'generic'
  const around = { env: process.env, home: homedir() }
  if (argument === 'mcp') {
    await bridge({ ...around, input: process.stdin, write: (line) => process.stdout.write(line) })
    return process.stdout.write('', () => process.exit(0))
  }
  setTimeout(() => process.exit(0), LONGEST_RUN_MS).unref()
  try {
    await hook(argument, around)
  } catch (error) {
    // A hook that fails would block or alarm the user; the reason is still in the output.
    process.stderr.write(`commonplace: ${error.message}\n`)
  }
  process.exit(0)
}

function isProgram() {
  try {
    return realpathSync(process.argv[1] ?? '') === realpathSync(fileURLToPath(import.meta.url))
  } catch {
    return false
  }
}

if (isProgram()) void main()
