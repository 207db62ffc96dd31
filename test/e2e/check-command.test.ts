import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any

const LINES = ['export const BERTHS = 12', '', '// A ferry needs two berths', 'export const perFerry = 2', '']

/** Cited lines against the working tree (operate contract §1.4). */
describe('commonplace check', () => {
  const home = mkdtempSync(join(tmpdir(), 'commonplace-check-'))
  const folder = join(home, 'harbor')
  let server: RunningServer
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: folder, encoding: 'utf8' })
  const write = (path: string, lines: readonly string[]) => writeFileSync(join(folder, path), lines.join('\n'))
  const call = async (name: string, args: Json): Promise<Json> => {
    const response = await fetch(new URL('/mcp', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    return JSON.parse(await response.text()).result.structuredContent
  }
  const remember = async (title: string, sources: Json): Promise<number> =>
    Number(
      (await call('remember', { title, content: `${title}, said in code`, project: 'harbor', metadata: { sources } }))
        .id,
    )
  const read = async (id: number): Promise<Json> => (await call('get_context_by_ids', { context_ids: [id] })).result[0]
  const check = async (...args: string[]) => {
    const { code, out } = await runHere(['check', folder, ...args, '--url', server.url.origin], { HOME: home })
    return { code, out }
  }

  beforeAll(async () => {
    server = await startPlace()
    mkdirSync(folder)
    git('init', '-q')
    write('a.ts', LINES)
    git('add', '.')
    git('commit', '-qm', 'first')
  })
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true })
  })

  it('[OPERATE-120] records hashes first, follows lines that move, marks what changed, and removes the mark when it is back', async () => {
    const id = await remember('Two berths', ['a.ts:3-4', 'a book'])
    expect(await check()).toMatchObject({ code: 0, out: expect.stringContaining('1 recorded for the first time') })
    const [first, other] = (await read(id)).metadata.sources
    expect([first, other]).toEqual([
      { path: 'a.ts', lines: '3-4', hash: expect.stringMatching(/^[0-9a-f]{64}$/), around: expect.any(String) },
      'a book',
    ])
    write('a.ts', ['// Two lines', '// more', ...LINES.map((line) => `  ${line}`)])
    expect((await check()).out).toMatch(/moved +a\.ts:3-4 → a\.ts:5-6/)
    expect((await read(id)).metadata.sources[0]).toMatchObject({ lines: '5-6', hash: first.hash })
    const { version } = await read(id)
    await check()
    expect((await read(id)).version).toBe(version)

    write(
      'a.ts',
      LINES.map((line) => line.replace('= 2', '= 3')),
    )
    const marked = await check('--json')
    expect(JSON.parse(marked.out)).toMatchObject({ project: 'harbor', counts: { changed: 1 } })
    const [{ changed_at: at }] = (await read(id)).metadata.sources
    expect(at).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    const pack = await call('context', { goal: 'how many berths does a ferry need', project: 'harbor' })
    expect(JSON.stringify(pack)).toContain(`its source changed on ${at}`)

    write('a.ts', LINES)
    await check()
    expect((await read(id)).metadata.sources[0].changed_at).toBeUndefined()
    expect(JSON.stringify(await call('context', { goal: 'berths of a ferry', project: 'harbor' }))).not.toContain(
      'its source changed',
    )
  })

  it('[OPERATE-121] finds lines in a renamed file, and marks those of a deleted one', async () => {
    write('old.ts', ['export const rope = 1', 'export const knot = 2', 'export const bend = 3', ''])
    git('add', '.')
    git('commit', '-qm', 'old')
    const id = await remember('Ropes', [{ path: 'old.ts', lines: '1-3' }])
    await check()
    git('mv', 'old.ts', 'new.ts')
    git('commit', '-qm', 'rename')
    await check()
    expect((await read(id)).metadata.sources[0]).toMatchObject({ path: 'new.ts', lines: '1-3' })
    git('rm', '-q', 'new.ts')
    git('commit', '-qm', 'gone')
    expect((await check()).out).toContain('gone')
    expect((await read(id)).metadata.sources[0].changed_at).toBeDefined()
  })

  it('[OPERATE-122] stores nothing with --dry-run, and checks only the memories of the project', async () => {
    const id = await remember('Dry', ['a.ts:1'])
    expect((await check('--dry-run')).out).toContain('nothing was stored')
    expect((await read(id)).metadata.sources).toEqual(['a.ts:1'])
    expect((await check('--project', 'another')).out).toContain('No memory of project another cites code.')
  })
})
