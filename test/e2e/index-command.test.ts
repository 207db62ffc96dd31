import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { promise } from '../requirements/fabric'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { runCommand, startCommand } from '../support/command'
import { startRelay } from '../support/relay'
import { type RunningServer, startServer } from '../support/server'

/** `commonplace index`, on a folder as people have them. */
const FILES: Readonly<Record<string, string>> = {
  'src/a.ts': 'export function alpha() {}\n',
  'src/b.py': 'def beta():\n    return 1\n',
  'README.md': '# Words\n',
  '.gitignore': 'ignored.ts\nnode_modules\n*.png\n',
  'ignored.ts': 'export const ignored = 1\n',
  'node_modules/p/index.js': 'export const fromPackage = 1\n',
  '.env.local': 'KEY=1\n',
  'certs/server.pem': 'x\n',
  id_rsa: 'x\n',
}

describe('commonplace index', () => {
  let server: RunningServer
  let client: TestClient
  let folder: string
  beforeAll(async () => {
    server = await startServer()
    client = await (CLIENTS['SDK v1'] as Connect)(server.url)
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'index-'))
    for (const [path, text] of Object.entries(FILES)) put(path, text)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  afterAll(async () => {
    await client.close()
    await server.stop()
  })
  function put(path: string, text: string) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = async (project: string, ...args: string[]) => {
    const { code, out, err } = await runCommand([
      'index',
      folder,
      '--project',
      project,
      '--url',
      server.url.origin,
      '--json',
      ...args,
    ])
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out)
  }
  const paths = async (project: string) => {
    const response = await fetch(new URL(`/api/v1/code/${project}/files`, server.url.href))
    const { files } = (await response.json()) as { files: { path: string }[] }
    return files.map(({ path }) => path)
  }

  it(promise('f11-index'), async () => {
    expect(await run('plain')).toMatchObject({ stored: 5, unchanged: 0, deleted: 0, skipped: [] })
    expect(await paths('plain')).toEqual(['.gitignore', 'README.md', 'ignored.ts', 'src/a.ts', 'src/b.py'])
    put('src/a.ts', 'export function gamma() {}\n')
    rmSync(join(folder, 'src/b.py'))
    put('picture.png', '\u0089PNG\u0000')
    expect(await run('plain')).toMatchObject({ stored: 1, unchanged: 3, deleted: 1, left: 1 })
    const { data } = await client.call('context_searchCode', { query: 'gamma', mode: 'symbol', projectPath: 'plain' })
    expect(data.results).toMatchObject([{ filePath: 'src/a.ts' }])
    expect(await run('plain')).toMatchObject({ stored: 0, unchanged: 4, deleted: 0, indexStatus: { isStale: false } })
    expect(await run('plain', '--full')).toMatchObject({ stored: 4, unchanged: 0 })
  })

  it(promise('f11-git'), async () => {
    spawnSync('git', ['init', '-q'], { cwd: folder })
    put('picture.png', '\u0089PNG\u0000')
    await run('tracked')
    expect(await paths('tracked')).toEqual(['.gitignore', 'README.md', 'src/a.ts', 'src/b.py'])
  })

  it(promise('f11-watch'), async () => {
    const watched = mkdtempSync(join(tmpdir(), 'watch-'))
    const write = (path: string, text: string) => writeFileSync(join(watched, path), text)
    write('a.ts', 'export function first() {}\n')
    const way = await startRelay(server.url)
    const args = ['index', watched, '--project', 'watched', '--url', way.origin, '--json', '--watch']
    const command = startCommand(args)
    const next = async () => JSON.parse(await command.line())
    try {
      expect(await next()).toMatchObject({ stored: 1, indexStatus: { totalSymbols: 1 } })
      write('a.ts', 'export function second() {}\nexport function third() {}\n')
      expect(await next()).toMatchObject({ stored: 1, deleted: 0, indexStatus: { totalFiles: 1, totalSymbols: 2 } })
      mkdirSync(join(watched, 'deep'))
      write('deep/b.ts', 'export class B {}\n')
      expect(await next()).toMatchObject({ stored: 1, unchanged: 1, indexStatus: { totalFiles: 2 } })
      // What tools make is passed over.
      mkdirSync(join(watched, 'node_modules'))
      write('node_modules/c.js', 'x\n')
      rmSync(join(watched, 'a.ts'))
      expect(await next()).toMatchObject({ stored: 0, unchanged: 1, deleted: 1 })
      way.closed = true
      write('d.ts', 'export const d = 1\n')
      await command.said(/does not answer.*; trying again/)
      way.closed = false
      write('e.ts', 'export const e = 1\n')
      expect(await next()).toMatchObject({ stored: 2 })
    } finally {
      expect(await command.stop()).toBe(0)
      way.stop()
      rmSync(watched, { recursive: true, force: true })
    }
  })

  it(promise('f11-exit'), async () => {
    const { code, out } = await runCommand(['index', folder, '--project', 'shown', '--url', server.url.origin])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/5\/5 files\n5 stored, 0 unchanged, 0 deleted; 5 files, 3 symbols/),
    ])
    expect(await runCommand(['index', folder])).toMatchObject({ code: 2, err: expect.stringContaining('--project') })
    expect(
      await runCommand(['index', join(folder, 'none'), '--project', 'p', '--url', server.url.origin]),
    ).toMatchObject({ code: 1 })
    expect(await runCommand(['index', folder, '--project', 'p', '--url', 'http://127.0.0.1:9'])).toMatchObject({
      code: 1,
    })
  })
})
