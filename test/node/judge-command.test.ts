import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../support/build'

/** A chat model that finds that each later memory replaces the earlier one, if its text says "now". */
const server = createServer(async (request, response) => {
  const { messages } = JSON.parse(await text(request))
  const prompt: string = messages.at(-1).content
  const [, later, earlier] = /\{"later": (\d+), "earlier": (\d+)/.exec(prompt) ?? []
  const content = JSON.stringify({
    ...{ later: Number(later), earlier: Number(earlier) },
    verdict: prompt.includes('now') ? 'replaces' : 'both_hold',
  })
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ message: { content } }] }))
})
const folder = mkdtempSync(join(tmpdir(), 'pairs-'))
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const side = (content: string, date: string) => ({ title: 'Deploys', content, date })
  const pair = (label: string, later: string) =>
    JSON.stringify({ label, earlier: side('We deploy on Tuesdays.', '2026-01-01'), later: side(later, '2026-02-01') })
  writeFileSync(
    join(folder, 'pairs.jsonl'),
    [pair('amended', 'We now deploy on Thursdays.'), pair('lookalike', 'We test on Mondays.')].join('\n'),
  )
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

it('measures a chat model on pairs of memories, by the prompt of the server', async () => {
  const { port } = server.address() as AddressInfo
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['bench/models/judge.mjs', '--set', folder, '--provider', 'openai', '--model', 'a-model'],
    { cwd: ROOT, env: { ...process.env, OPENAI_API_BASE: `http://127.0.0.1:${port}/v1` } },
  )
  expect(stdout).toContain('| amended | 1 of 1 | 0 of 1 | 0 of 1 |')
  expect(stdout).toContain('| lookalike | 0 of 1 | 1 of 1 | 0 of 1 |')
})
