// Runs a client in a home of its own, and ends it and what it started when it takes too long.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const LIMIT_MS = 90_000

/**
 * @param {string} program of those that are installed in this folder
 * @param {readonly string[]} args
 * @param {Record<string, string>} env in addition to PATH and HOME
 * @param {string} home
 * @returns {Promise<string>} the complete output
 */
export function runClient(program, args, env, home) {
  return new Promise((resolve) => {
    const child = spawn(join(process.cwd(), 'node_modules/.bin', program), args, {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), LIMIT_MS)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(output)
    })
  })
}
