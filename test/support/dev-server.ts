import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { ROOT } from './build'

export interface DevServer {
  readonly url: URL
  /** Everything it printed. */
  output(): string
  stop(): Promise<void>
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

/** Ends the whole process group: the signal to one process would leave workerd behind. */
const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.pid === undefined) return resolve()
    child.once('exit', () => resolve())
    process.kill(-child.pid, 'SIGTERM')
  })

/**
 * `npm start` as the README says, on a free port and with data of its own.
 *
 * @param script another npm script that serves, with more environment for it
 */
export async function startDevServer(
  persistTo: string,
  script = 'start',
  env: Readonly<Record<string, string>> = {},
): Promise<DevServer> {
  const port = await freePort()
  const child = spawn('npm', ['run', script, '--', '--persist-to', persistTo, '--inspector-port', '0'], {
    cwd: ROOT,
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('Commonplace is ready')) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (code) => reject(new Error(`npm run ${script} ended with ${code}:\n${output}`)))
  })
  await ready
  return { url: new URL(`http://localhost:${port}/mcp`), output: () => output, stop: () => end(child) }
}
