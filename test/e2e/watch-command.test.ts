import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect } from '../support/clients'
import { PROGRAM, runCommand, startCommand, surroundings } from '../support/command'
import { type RunningServer, startServer } from '../support/server'

/** `commonplace watch`, as a person runs it next to their agents. */
describe('commonplace watch', () => {
  const folder = mkdtempSync(join(tmpdir(), 'watch-command-'))
  let server: RunningServer
  let port = 0
  const start = async () => {
    server = await startServer({}, undefined, { kept: { folder, port } })
    port = Number(server.url.port)
  }
  beforeAll(start)
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const url = () => `http://127.0.0.1:${port}`
  async function store(text: string, more: Record<string, unknown> = {}): Promise<number> {
    const client = await (CLIENTS['SDK v1'] as Connect)(server.url)
    const args = { thread_id: 'release', source: 'agent', text, ...more }
    const { data } = await client.call('store_context', args)
    await client.close()
    return data.context_id
  }

  it('[HISTORY-51] prints changes as they happen, and continues after the server was killed', async () => {
    const watching = startCommand(['watch', '--url', url(), '--thread', 'release', '--json'])
    const next = async () => JSON.parse(await watching.line())
    try {
      await watching.said(/Watching/)
      const first = await store('before the server is killed')
      expect(await next()).toMatchObject({
        action: 'stored',
        context_id: first,
        preview: 'before the server is killed',
      })
      await server.stop()
      await start()
      await store('in another thread', { thread_id: 'other' })
      const stored = [await store('after it'), await store('and once more')]
      expect([(await next()).context_id, (await next()).context_id]).toEqual(stored)
    } finally {
      expect(await watching.stop()).toBe(0)
    }
    // Every retained change, as a person reads it; control characters of texts are escaped.
    const told = await store('bell \u0007 and \u001b[31mred', { metadata: { project: 'apollo', agent_name: 'ci-bot' } })
    const whole = startCommand(['watch', '--url', url(), '--project', 'apollo', '--after', 'start'])
    try {
      expect(await whole.line()).toMatch(
        new RegExp(
          `^\\S+Z {2}stored {3}${told} v1 {2}release · apollo by ci-bot {2}bell \\\\u0007 and \\\\u001b\\[31mred$`,
        ),
      )
    } finally {
      expect(await whole.stop()).toBe(0)
    }
  })

  it('prints a change in one line, the breaks of its text as spaces', async () => {
    await store('Error: boom\n\n\tat a.ts', { metadata: { project: 'lines' } })
    const watching = startCommand(['watch', '--url', url(), '--project', 'lines', '--after', 'start'])
    try {
      expect(await watching.line()).toMatch(/ {2}release · lines {2}Error: boom at a\.ts$/)
    } finally {
      expect(await watching.stop()).toBe(0)
    }
  })

  it('exits without an error when the reader of its output exits', async () => {
    const heads = { metadata: { project: 'heads' } }
    await store('the first', heads)
    const words = ['watch', '--url', url(), '--project', 'heads', '--after', 'start', '--json']
    // As `| head -1` does: later output is not read.
    const reader = '{ read -r line; echo "$line"; exec <&-; echo closed; }'
    const piped = ['-c', `"$@" | ${reader}`, 'sh', process.execPath, join(ROOT, PROGRAM), ...words]
    const watching = spawn('sh', piped, { env: surroundings({}) })
    const ended = once(watching, 'close')
    const complaints = text(watching.stderr)
    const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toContain('the first')
    expect((await lines.next()).value).toBe('closed')
    await store('the second', heads)
    await ended
    expect(await complaints).toBe(`Watching ${url()}; stop with Ctrl-C.\n`)
  })

  it('reports the error, and exits', async () => {
    expect(await runCommand(['watch', '--full', '--url', url()])).toMatchObject({
      code: 2,
      err: expect.stringContaining('watch takes no --full'),
    })
    expect(await runCommand(['watch', '--after', 'yesterday', '--url', url()])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The cursor in --after has expired'),
    })
    expect(await runCommand(['watch', '--url', url()], { COMMONPLACE_KEY: 'cp_wrong' })).toMatchObject({ code: 1 })
    expect(await runCommand(['watch', '--org', 'others', '--url', url()])).toMatchObject({
      code: 1,
      err: expect.stringContaining('No such organization'),
    })
  })
})
