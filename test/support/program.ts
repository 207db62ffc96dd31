import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ROOT } from './build'

/**
 * Runs a program of this repository to its end.
 * @param script path from the root of the repository
 * @param input standard input
 * @param before module that Node loads first (`--import`)
 * @returns its exit code, null if it was killed, and its output
 */
export async function runProgram(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { input = '', before = [] }: { input?: string; before?: readonly string[] } = {},
) {
  const imports = before.flatMap((url) => ['--import', url])
  const child = spawn(process.execPath, [...imports, join(ROOT, script), ...args], { env: { ...env } })
  // A program that has ended does not read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: code as number | null, out, err }
}
