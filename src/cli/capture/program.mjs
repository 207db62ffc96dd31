// Runs programs of clients, by name on the PATH.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const LONGEST_MS = 120_000

/** @param {string} name @returns {string | null} its file */
export function programOf(name) {
  const endings = process.platform === 'win32' ? ['.cmd', '.exe', ''] : ['']
  const files = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => endings.map((end) => join(folder, name + end)))
  return files.find((file) => existsSync(file)) ?? null
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ input?: string, env?: Record<string, string | undefined>, cwd?: string, longestMs?: number }} [options]
 * @returns {Promise<{ code: number | null, out: string, err: string }>} code: null if it could not be started or timed out
 */
export function run(program, args, { input = '', env = process.env, cwd, longestMs = LONGEST_MS } = {}) {
  return new Promise((resolve) => {
    const shell = process.platform === 'win32' && program.endsWith('.cmd')
    const child = spawn(program, args, { env, cwd, shell, timeout: longestMs, killSignal: 'SIGKILL' })
    let [out, err] = ['', '']
    child.stdout.on('data', (piece) => (out += piece))
    child.stderr.on('data', (piece) => (err += piece))
    child.on('error', (error) => resolve({ code: null, out, err: error.message }))
    child.on('close', (code) => resolve({ code, out, err }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Returns the version of a program. @param {string} name @returns {Promise<string | null>} the digits of its version */
export async function versionOf(name) {
  const file = programOf(name)
  if (file === null) return null
  const { out } = await run(file, ['--version'], { longestMs: 20_000 })
  return /\d+\.\d+(?:\.\d+)*/.exec(out)?.[0] ?? 'unknown'
}

/** Returns whether a version is this one or later. */
export function isFrom(version, least) {
  const [a, b] = [version, least].map((text) => text.split('.').map(Number))
  const at = b.findIndex((part, i) => (a[i] ?? 0) !== part)
  return at === -1 || (a[at] ?? 0) > b[at]
}
