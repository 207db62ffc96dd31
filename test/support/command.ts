import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from './build'
import { runProgram } from './program'

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The program of the command line, relative to the checkout. */
export const PROGRAM = join('src', 'cli', 'commonplace.mjs')

/** The environment of a command: that of this process, without variables that redirect it. */
export function surroundings(environment: Record<string, string>): Record<string, string> {
  const { ADMIN_TOKEN: _, COMMONPLACE_KEY: __, COMMONPLACE_URL: ___, ...inherited } = process.env
  return { ...(inherited as Record<string, string>), ...environment }
}

const start = (args: readonly string[], environment: Record<string, string>) =>
  spawn(process.execPath, [join(ROOT, PROGRAM), ...args], { env: surroundings(environment) })

/** Starts a `commonplace` command that runs until it is stopped. */
export function startCommand(args: readonly string[], environment: Record<string, string> = {}) {
  const child = start(args, environment)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let err = ''
  const heard = new EventEmitter()
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
    heard.emit('more')
  })
  return {
    /** The next line of its output. */
    line: async (): Promise<string> => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`the command has ended: ${err}`)
      return value
    },
    /** Waits for a text on standard error. */
    async said(what: RegExp): Promise<void> {
      while (!what.test(err)) await once(heard, 'more')
    },
    /** Stops it like Ctrl-C. @returns its exit code */
    async stop(): Promise<number | null> {
      if (child.exitCode !== null) return child.exitCode
      child.kill('SIGINT')
      const [code] = await once(child, 'exit')
      return code
    },
  }
}

/** Runs `commonplace` to its end, with only these credentials in its environment. */
export const runCommand = (args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> =>
  runProgram(PROGRAM, args, surroundings(environment))
