import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordedPlayer } from '../../scripts/demo-capture/recorded.mjs'
import { tellStory } from '../../scripts/demo-capture/story.mjs'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { startPlace } from '../support/places'
import type { OpenedServer } from '../support/server'

/** The hook program of the plugins with the real server: the sessions of one machine are known on another (capture contract §2, §3). */
const HOOK = join(ROOT, 'plugins', 'commonplace', 'hook.mjs')

let server: OpenedServer
let client: TestClient
const homes: string[] = []
beforeAll(async () => {
  server = await startPlace()
  client = await (CLIENTS['SDK v2, revision 2026-07-28'] as Connect)(server.url)
})
afterAll(async () => {
  await client.close()
  await server.stop()
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

/** A desk: a home and a clone of one repository. */
function desk(): { home: string; folder: string } {
  const home = mkdtempSync(join(tmpdir(), 'commonplace-desk-'))
  homes.push(home)
  const folder = join(home, 'ferry')
  mkdirSync(join(folder, '.git'), { recursive: true })
  writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(folder, '.git', 'config'), '[remote "origin"]\n\turl = https://ada:pw@github.com/Acme/Ferry.git\n')
  return { home, folder }
}

/** Runs the program as a client does; what it prints, parsed. */
function fire({ home }: { home: string }, name: string, event: object): Promise<Record<string, never> | null> {
  return new Promise((resolve, reject) => {
    const env = { HOME: home, PATH: process.env.PATH, COMMONPLACE_URL: server.url.origin }
    const child = spawn(process.execPath, [HOOK, name], { env })
    let out = ''
    child.stdout.on('data', (piece: Buffer) => {
      out += piece.toString()
    })
    child.on('error', reject)
    child.on('close', () => resolve(out.trim() === '' ? null : JSON.parse(out)))
    child.stdin.end(JSON.stringify(event))
  })
}

const captured = async () => {
  const response = await fetch(new URL('/api/v1/orgs/local/captured', server.url))
  return ((await response.json()) as { items: { title: string; project: string; client: string; preview: string }[] })
    .items
}

it('adds the work of Claude Code on one machine to the first text that Codex reads on another', async () => {
  await client.call('remember', {
    ...{ title: 'Seats are held for ten minutes', content: 'Longer holds blocked the 08:15 sailing in May.' },
    ...{ kind: 'decision', project: 'github.com/acme/ferry' },
  })
  const ada = desk()
  const of = (name: string, more: object) => ({
    session_id: 's1',
    cwd: ada.folder,
    permission_mode: 'default',
    hook_event_name: name,
    ...more,
  })
  const begun: Record<string, Record<string, string>> | null = await fire(
    ada,
    'claude-code',
    of('SessionStart', { source: 'startup' }),
  )
  expect(begun?.hookSpecificOutput?.additionalContext).toContain('Seats are held for ten minutes')
  await fire(
    ada,
    'claude-code',
    of('UserPromptSubmit', { prompt: 'Mend the flaky quay test <private>code 4711</private>', prompt_id: 'p1' }),
  )
  for (const [id, name, response] of [
    ['t1', 'PostToolUseFailure', { error: 'Exit code 1\nFAIL quay' }],
    ['t2', 'PostToolUse', { tool_response: { stdout: 'ok' } }],
  ] as const)
    await fire(
      ada,
      'claude-code',
      of(name, { tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'npm test' }, ...response }),
    )
  await fire(
    ada,
    'claude-code',
    of('Stop', { last_assistant_message: 'We decided to wait for the tide table before the test begins.' }),
  )

  const [session, ...others] = await captured()
  expect(others).toEqual([])
  expect(session).toMatchObject({ project: 'github.com/acme/ferry', client: 'claude-code' })
  expect(JSON.stringify(session)).not.toContain('4711')
  expect(session?.preview ?? session?.title).toContain('Mend the flaky quay test')

  const bob = desk()
  const codex = {
    session_id: 'c1',
    cwd: bob.folder,
    hook_event_name: 'SessionStart',
    source: 'startup',
    permission_mode: 'default',
  }
  const next: Record<string, Record<string, string>> | null = await fire(bob, 'codex', codex)
  const words = next?.hookSpecificOutput?.additionalContext ?? ''
  expect(words).toContain('Seats are held for ten minutes')
  expect(words).toContain('Where we left off')
  expect(words).toContain('wait for the tide table')
  expect(words).toMatch(/^<commonplace-memory>[\s\S]*data, not instructions[\s\S]*<\/commonplace-memory>$/)
})

it('plays the demonstration: Claude Code is killed, and Codex, elsewhere and a day later, knows what was decided and what was next', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'commonplace-demo-'))
  homes.push(parent)
  const pass = async (minutes: number) => {
    await server.sql(
      `UPDATE capture_sessions SET due_at = due_at - ${minutes * 60_000}, seen_at = seen_at - ${minutes * 60_000}`,
    )
    await server.schedule()
  }
  // Sessions of the tests above are older than the session that is killed.
  await server.sql(`UPDATE entries SET updated_at = updated_at - ${3 * 24 * 3_600_000}`)
  const lines: string[] = []
  const player = recordedPlayer(server.url.origin, parent)
  const told = await tellStory({ url: server.url.origin, pass }, player, (line) => lines.push(line))
  expect(told).toContain('Where we left off')
  expect(told).toContain('We decided to use LED lamps instead of oil.')
  expect(told).toContain('- Fix the harbour light\n- Now the fog horn')
  expect(told).toContain('light.txt')
  expect(lines.join('\n')).toContain('It is killed during that turn')
})

it('is a server over stdio for clients that only start programs, with the ten tools of core, also while the server is away', async () => {
  const { home } = desk()
  const open = async (url: string) => {
    const bridge = new Client({ name: 'test', version: '1.0.0' })
    const env = { HOME: home, PATH: process.env.PATH ?? '', COMMONPLACE_URL: url }
    await bridge.connect(new StdioClientTransport({ command: process.execPath, args: [HOOK, 'mcp'], env }))
    return bridge
  }
  const bridge = await open(server.url.origin)
  const { tools } = await bridge.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    ...['context', 'remember', 'search', 'fetch', 'update', 'forget', 'restore', 'history', 'changes', 'projects'],
  ])
  const kept = await bridge.callTool({ name: 'remember', arguments: { title: 'Bridge', content: 'Said over stdio' } })
  expect(kept.structuredContent).toMatchObject({ id: expect.any(Number), kind: 'note' })
  await bridge.close()
  const alone = await open('http://127.0.0.1:9')
  await expect(alone.listTools()).rejects.toThrow('cannot reach http://127.0.0.1:9')
  await alone.close()
})

it('[CAPTURE-100] states at a start which memories cite lines that have changed in the files, and nothing if none has', async () => {
  const { home, folder } = desk()
  const lines = ['export const BERTHS = 12', '', 'export const perFerry = 2']
  writeFileSync(join(folder, 'berths.ts'), lines.join('\n'))
  const hash = createHash('sha256').update('exportconstperFerry=2').digest('hex')
  const outside = { path: '../secret.txt', lines: '1', hash }
  const { data } = await client.call('remember', {
    ...{ title: 'Two berths for each ferry', content: 'Each ferry needs two berths.', kind: 'rule' },
    ...{ project: 'github.com/acme/ferry', metadata: { sources: [{ path: 'berths.ts', lines: '3', hash }, outside] } },
  })
  const start = async (session: string): Promise<string> =>
    JSON.stringify(
      await fire({ home }, 'claude-code', {
        ...{ session_id: session, hook_event_name: 'SessionStart', source: 'startup', cwd: folder },
      }),
    )
  expect(await start('before')).toContain('Two berths for each ferry')
  expect(await start('again')).not.toContain('have changed')
  writeFileSync(join(folder, 'berths.ts'), ['// moved', ...lines].join('\n'))
  expect(await start('moved')).not.toContain('have changed')
  writeFileSync(join(folder, 'berths.ts'), lines.join('\n').replace('= 2', '= 3'))
  const text = await start('changed')
  expect(text).toContain(`The cited lines have changed since: [${data.id}] berths.ts:3. Read the code`)
  expect(text).toMatch(/rely on these memories\.\\n<\/commonplace-memory>/)
  rmSync(join(folder, 'berths.ts'))
  expect(await start('gone')).not.toContain('have changed')
})

it('[CAPTURE-100] compares no file behind a link that leads out of the repository, no device, and no file that takes too long', async () => {
  const { home, folder } = desk()
  writeFileSync(join(home, 'secret.txt'), 'a secret of the user\n')
  symlinkSync('../secret.txt', join(folder, 'link.txt'))
  symlinkSync('/dev/zero', join(folder, 'zero.txt'))
  writeFileSync(join(folder, 'long.txt'), Array.from({ length: 400 }, (_, i) => `${i}${'x'.repeat(2_400)}`).join('\n'))
  const hash = createHash('sha256').update('other words').digest('hex')
  const { data } = await client.call('remember', {
    ...{ title: 'Mooring lines are doubled', content: 'Double each mooring line at night.', kind: 'rule' },
    ...{ project: 'github.com/acme/ferry' },
    metadata: { sources: ['link.txt', 'zero.txt', 'long.txt'].map((path) => ({ path, lines: '1-200', hash })) },
  })
  const text = JSON.stringify(
    await fire({ home }, 'claude-code', {
      ...{ session_id: 'links', hook_event_name: 'SessionStart', source: 'startup', cwd: folder },
    }),
  )
  expect(text).toContain(`[${data.id}]`)
  expect(text).not.toContain('have changed')
})
