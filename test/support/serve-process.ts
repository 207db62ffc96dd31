import { spawn } from 'node:child_process'

const { npm_lifecycle_event: _, ADMIN_TOKEN: __, COMMONPLACE_KEY: ___, ...inherited } = process.env

/** The environment of programs in tests, without variables that redirect them. */
export const INHERITED = inherited

export interface ServeProcess {
  readonly origin: string
  readonly said: () => string
  stop(): Promise<void>
}

export interface ServeOptions {
  readonly cwd: string
  readonly env: Record<string, string>
  readonly uid?: number
}

/** Starts a server in its own process group; resolves when it prints that it is ready. */
export async function serveProcess(
  [command = '', ...args]: readonly string[],
  port: number,
  { cwd, env, uid }: ServeOptions,
): Promise<ServeProcess> {
  const child = spawn(command, args, {
    ...{ cwd, detached: true, ...(uid !== undefined && { uid, gid: uid }) },
    env: { ...inherited, ...env },
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        if (said.includes('Commonplace is ready')) resolve()
      })
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${said}`)))
  })
  return {
    origin: `http://localhost:${port}`,
    said: () => said,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        process.kill(-(child.pid ?? 0), 'SIGTERM')
      }),
  }
}
