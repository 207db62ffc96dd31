import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../../scripts/ports.mjs'
import { ROOT } from './build'

export interface DevServer {
  readonly url: URL
  /** Process id of npm, which leads the group of everything but the server itself. */
  readonly npm: number
  /** Its output so far. */
  output(): string
  /** Connections beyond loopback that it attempted. They are refused, and `stop` fails. */
  connections(): string[]
  stop(): Promise<void>
}

/** A file that records connections beyond this machine, and the environment variables for it. */
function watched(env: Readonly<Record<string, string>>) {
  const file = join(mkdtempSync(join(tmpdir(), 'commonplace-connections-')), 'connections')
  const guard = `--import ${pathToFileURL(join(ROOT, 'test', 'support', 'connections.mjs')).href}`
  return {
    env: {
      ...process.env,
      ...env,
      NODE_OPTIONS: [process.env.NODE_OPTIONS, env.NODE_OPTIONS, guard].filter(Boolean).join(' '),
      COMMONPLACE_CONNECTIONS: file,
    },
    connections: (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  }
}

/** Ends the process group: a signal to one process would leave workerd running. */
const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve()
    child.once('exit', () => resolve())
    process.kill(-child.pid, 'SIGTERM')
  })

/**
 * Runs `npm start` as in the README, on a free port and with its own data.
 * @param script another npm script that serves, with further environment variables
 * @param args arguments after `npm start --`
 * @param mayConnect whether refused connections beyond loopback are expected
 */
export async function startDevServer(
  persistTo: string,
  script = 'start',
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  mayConnect = false,
): Promise<DevServer> {
  const port = await freePort()
  const { env: environment, connections } = watched(env)
  const child = spawn('npm', ['run', script, '--', '--persist-to', persistTo, ...args], {
    cwd: ROOT,
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      if (/Commonplace (is ready|waits)/.test(output)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (code) => reject(new Error(`npm run ${script} ended with ${code}:\n${output}`)))
  })
  await ready
  return {
    url: new URL(`http://localhost:${port}/mcp`),
    npm: child.pid as number,
    output: () => output,
    connections,
    async stop() {
      await end(child)
      const beyond = connections()
      if (beyond.length > 0 && !mayConnect) throw new Error(`A start connected beyond loopback:\n${beyond.join('\n')}`)
    },
  }
}

/** A start that must fail, without npm: exit code and output. */
export const failToStart = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<{ code: number | null; said: string }>((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.mjs'), ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
    child.once('close', (code) => resolve({ code, said: said.trim() }))
  })

/** The process that serves an address, the leader of its process group. */
export async function serverProcess(url: URL): Promise<number> {
  const { runningServers } = (await import(`${ROOT}src/cli/running.mjs`)) as typeof import('../../src/cli/running.mjs')
  const server = (await runningServers()).find(({ origin }) => origin === url.origin)
  if (server === undefined) throw new Error(`No server has announced itself at ${url.origin}`)
  return server.pid
}

/** Whether a process of this group still runs. */
export function groupLives(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}
