// Checks a packed release as a user would: installs the tarball in an empty folder, starts it, stores a memory and finds it.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../ports.mjs'

const READY_MS = 120_000
const TEXT = 'A release is checked from the outside.'

/** Waits until a server answers. @param {string} url @param {import('node:child_process').ChildProcess} server */
async function untilReady(url, server) {
  for (const end = Date.now() + READY_MS; Date.now() < end; await setTimeout(250)) {
    if (server.exitCode !== null) throw new Error(`the installed server ended with exit code ${server.exitCode}`)
    const answer = await fetch(`${url}/ready`).catch(() => null)
    if (answer?.ok) return
  }
  throw new Error(`the installed server was not ready after ${READY_MS / 1000} seconds`)
}

/** Stops a server, and waits until it has ended. @param {import('node:child_process').ChildProcess} server */
async function end(server) {
  const ended = new Promise((resolve) => server.once('exit', resolve))
  if (server.exitCode === null && server.kill('SIGTERM')) await ended
}

/**
 * Installs a package from its tarball in an empty folder, starts its server on a free port, and stores and finds a memory. Needs npm and
 * its registry for packages that are not bundled. Leaves nothing behind.
 *
 * @param {string} tarball path of the packed package
 * @param {string} version that the installed program must report
 * @throws if a step fails
 */
export async function checkOutside(tarball, version) {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-outside-'))
  const shell = process.platform === 'win32'
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = { ...process.env, HOME: folder, COMMONPLACE_DATA: join(folder, 'data'), EMBEDDING_PROVIDER: 'local' }
  /** @param {string[]} args */
  const npx = (...args) =>
    execFileSync('npx', ['--no-install', 'commonplace', ...args, '--url', url], {
      ...{ cwd: folder, env, encoding: 'utf8', shell },
    })
  const program = join(folder, 'node_modules', 'commonplace-mcp', 'src', 'cli', 'bin.mjs')
  /** @type {import('node:child_process').ChildProcess | null} */
  let server = null
  try {
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], {
      ...{ cwd: folder, shell, stdio: 'pipe' },
    })
    // Its output is not read, and would stop it in a pipe that is full.
    server = spawn(process.execPath, [program, 'start', '--port', String(port)], { cwd: folder, env, stdio: 'ignore' })
    await untilReady(url, server)
    const health = /** @type {{ version?: string }} */ (await (await fetch(`${url}/health`)).json())
    if (health.version !== version) throw new Error(`the installed server is ${health.version}, not ${version}`)
    npx('remember', TEXT)
    if (!npx('search', 'outside').includes(TEXT)) throw new Error('the installed server does not find what it stored')
  } finally {
    if (server !== null) await end(server)
    rmSync(folder, { recursive: true, force: true })
  }
}
