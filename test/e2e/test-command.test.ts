import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** Questions of a file, and the memories that must and must not come back. */
describe('commonplace test', () => {
  let server: RunningServer
  const home = mkdtempSync(join(tmpdir(), 'commonplace-test-'))
  const file = join(home, 'memory.test.yaml')
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true })
  })
  const run = (args: string[]) => runHere([...args, '--url', server.url.origin], { HOME: home })
  const remember = async (...args: string[]): Promise<number> =>
    JSON.parse((await run(['remember', ...args, '--json'])).out).id

  it('[OPERATE-98] fails where a memory does not come back, with the cause, and where one must not', async () => {
    const port = await remember('The metrics exporter listens on port 9464.', '--project', 'ferry', '--title', 'Port')
    const tea = await remember('The kitchen has green tea.', '--project', 'office', '--title', 'Tea')
    const tests = [
      { name: 'port', goal: 'which port has the metrics exporter', project: 'ferry', must: ['port'], within: 1 },
      {
        name: 'text',
        query: 'metrics exporter',
        project: 'ferry',
        must: [{ id: port, contains: 'Port  9464' }],
        must_not: ['Tea'],
      },
    ]
    writeFileSync(file, JSON.stringify({ tests }))
    const good = await run(['test', file, '--junit', join(home, 'good.xml')])
    expect([good.code, good.out]).toEqual([0, expect.stringMatching(/✓ port[\s\S]*✓ text[\s\S]*2 of 2 passed/)])
    expect(readFileSync(join(home, 'good.xml'), 'utf8')).toContain('tests="2" failures="0" errors="0"')
    const bad = [
      { goal: 'green tea of the kitchen', project: 'ferry', must: [tea] },
      { query: 'metrics exporter', must_not: [port] },
      { query: 'metrics exporter', must: [{ id: port, contains: '9100' }] },
      { query: 'metrics exporter', must: [port], kind: 'nonsense' },
    ]
    writeFileSync(file, JSON.stringify({ tests: bad }))
    const failed = await run(['test', file, '--json', '--junit', join(home, 'bad.xml')])
    const { passed, tests: outcomes } = JSON.parse(failed.out)
    expect([failed.code, passed]).toEqual([1, 0])
    expect(outcomes).toMatchObject([
      { failures: [expect.stringContaining(`memory ${tea} was not returned (project: It belongs to project office`)] },
      { failures: [expect.stringContaining(`memory ${port} was returned, as number 1`)] },
      { failures: [`memory ${port} no longer contains "9100"`] },
      { failures: [], error: expect.stringContaining('nonsense') },
    ])
    expect(readFileSync(join(home, 'bad.xml'), 'utf8')).toContain('tests="4" failures="3" errors="1"')
  })

  it('[OPERATE-99] pins texts and places, and fails after an edit', async () => {
    const id = await remember('Backups run at two in the night.', '--title', 'Backups')
    writeFileSync(file, `tests:\n  - query: when do backups run # the night\n    must: [${id}]\n`)
    expect(await run(['test', file, '--pin'])).toMatchObject({ code: 0, out: expect.stringContaining('Pinned 1') })
    expect(readFileSync(file, 'utf8')).toContain('# the night')
    expect((await run(['test', file])).code).toBe(0)
    const response = await fetch(new URL('/mcp/core', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'update', arguments: { id, content: 'Backups run at three in the night.' } },
      }),
    })
    expect(await response.text()).not.toContain('"isError":true')
    const edited = await run(['test', file])
    expect(edited).toMatchObject({ code: 1, out: expect.stringContaining(`the text of memory ${id} has changed`) })
    const newer = await remember('Backups run at noon.', '--title', 'Noon')
    expect((await run(['stale', 'replaces', `${newer}`, `${id}`])).code).toBe(0)
    expect((await run(['test', file])).out).toContain(`memory ${id} is replaced by ${newer}`)
    writeFileSync(file, 'tests:\n  - query: backups\n    must: [999999]\n')
    expect((await run(['test', file, '--pin'])).code).toBe(1)
    expect(readFileSync(file, 'utf8')).not.toContain('sha256')
  })

  it('[OPERATE-97] ends with exit code 2 for a file without tests', async () => {
    writeFileSync(file, 'tests: []')
    expect(await run(['test', file])).toMatchObject({ code: 2, err: expect.stringContaining('at least one test') })
    const absent = join(home, 'absent.yaml')
    expect(await run(['test', absent])).toMatchObject({
      ...{ code: 2, err: expect.stringContaining(`${absent} does not exist. docs/memory-tests.md shows how`) },
    })
  })
})
