import { vi } from 'vitest'
import { commonplace } from '../../src/cli/command-line.mjs'
import { type Outcome, surroundings } from './command'

/** Ends a command where the program would exit. */
class Ended extends Error {}

let before: Promise<unknown> = Promise.resolve()

/**
 * Runs `runCommand` in this process, for tests that need no separate program, because starting one takes most of a command's
 * time. Commands use the environment of the process, so only one runs at a time, and none that waits to be stopped.
 */
export function runHere(args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const run = before.then(() => runAlone(args, environment))
  before = run.catch(() => undefined)
  return run
}

async function runAlone(args: readonly string[], environment: Record<string, string>): Promise<Outcome> {
  const [own, exitCode] = [{ ...process.env }, process.exitCode]
  const said = { out: '', err: '' }
  let ended: number | null = null
  // A program does not print anything after its exit.
  const hear = (where: keyof typeof said, end: string) => (text: unknown) => {
    if (ended === null) said[where] += `${text}${end}`
    return true
  }
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(hear('out', '\n')),
    vi.spyOn(console, 'error').mockImplementation(hear('err', '\n')),
    vi.spyOn(process.stdout, 'write').mockImplementation(hear('out', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(hear('err', '')),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      ended ??= Number(code ?? process.exitCode ?? 0)
      throw new Ended()
    }),
  ]
  const surround = (all: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(process.env)) if (all[name] === undefined) delete process.env[name]
    Object.assign(process.env, all)
  }
  surround(surroundings(environment))
  process.exitCode = undefined
  try {
    await commonplace(args)
    return { code: ended ?? Number(process.exitCode ?? 0), ...said }
  } catch (error) {
    if (ended === null) throw error
    return { code: ended, ...said }
  } finally {
    surround(own)
    process.exitCode = exitCode
    for (const spy of spies) spy.mockRestore()
  }
}
