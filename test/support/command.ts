import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './build'

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `commonplace` as a person does, with these credentials in its environment and no others. */
export function runCommand(args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const { ADMIN_TOKEN: _, COMMONPLACE_KEY: __, COMMONPLACE_URL: ___, ...inherited } = process.env
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'src', 'cli', 'commonplace.mjs'), ...args], {
      env: { ...inherited, ...environment },
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.once('close', (code) => resolve({ code, out, err }))
  })
}
