import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** The commands of docs/rest.md, run in their order on a new server. */
let server: RunningServer
beforeAll(async () => {
  server = await startPlace()
})
afterAll(() => server?.stop())

const commands = [...readFileSync(join(ROOT, 'docs/rest.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .filter((line) => line.startsWith('curl '))
const run = promisify(execFile)

it('[PLATFORM-96] runs each command of docs/rest.md', async () => {
  expect(commands.length).toBeGreaterThan(10)
  const { origin } = new URL(server.url)
  for (const command of commands) {
    const line = command
      .replace('curl ', 'curl --silent --show-error --fail-with-body ')
      .replaceAll('http://localhost:8787', origin)
    const { stdout } = await run('sh', ['-c', line], { env: { ...process.env, API: `${origin}/api/v1/orgs/-` } })
    expect(JSON.parse(stdout), command).toBeTypeOf('object')
  }
})
