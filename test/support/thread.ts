import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { ROOT } from './build'

/** A thread has an environment of its own, but Node looks for the home of the person in that of the process. */
const OWN_HOME = `data:text/javascript,${encodeURIComponent(`
  import os from 'node:os'
  import { syncBuiltinESMExports } from 'node:module'
  const { HOME } = process.env
  if (HOME) os.homedir = () => HOME
  syncBuiltinESMExports()`)}`

/**
 * Runs a program of this repository in a thread of this process, with a command line, an environment and an exit code of its own: to start
 * a process is twice the work. Not for what hears signals, or is known by the number of its process.
 *
 * @param script from the root of the repository
 * @param input what it reads
 * @param before what Node loads before it, as `--import` names it
 */
export async function runThread(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { input = '', before = [] }: { input?: string; before?: readonly string[] } = {},
) {
  const execArgv = [OWN_HOME, ...before].flatMap((url) => ['--import', url])
  const streams = { stdin: true, stdout: true, stderr: true }
  const thread = new Worker(join(ROOT, script), { argv: [...args], env: { ...env }, execArgv, ...streams })
  thread.stdin?.end(input)
  const ended = new Promise<number>((resolve, reject) => thread.once('exit', resolve).once('error', reject))
  const [code, out, err] = await Promise.all([ended, text(thread.stdout), text(thread.stderr)])
  return { code, out, err }
}
