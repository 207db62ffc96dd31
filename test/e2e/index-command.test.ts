import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sharedOpen } from '../contracts/endpoint/session'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { runCommand, startCommand } from '../support/command'
import { runHere } from '../support/command-here'
import { startRelay } from '../support/relay'
import type { RunningServer } from '../support/server'

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
    server = await sharedOpen()
    client = await (CLIENTS['SDK v1'] as Connect)(server.url)
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'index-'))
    for (const [path, text] of Object.entries(FILES)) put(path, text)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  afterAll(() => client.close())
  function put(path: string, text: string) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const index = async (place: string, project: string, ...args: string[]) =>
    runHere(['index', place, '--project', project, '--url', server.url.origin, '--json', ...args])
  const run = async (project: string, ...args: string[]) => {
    const { code, out, err } = await index(folder, project, ...args)
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out)
  }
  const listed = async (project: string) => {
    const response = await fetch(new URL(`/api/v1/code/${project}/files`, server.url.href))
    return ((await response.json()) as { files: { path: string; root?: string }[] }).files
  }
  const paths = async (project: string) => (await listed(project)).map(({ path }) => path)
  const git = (place: string, ...args: string[]) => spawnSync('git', args, { cwd: place })

  it('[FABRIC-147] sends all files except generated ones and those with secrets, then only changed and removed ones', async () => {
    const first = await run('plain')
    expect(first).toMatchObject({ stored: 5, unchanged: 0, deleted: 0, root: basename(folder) })
    expect(first.skipped).toEqual(
      ['.env.local', 'certs/server.pem', 'id_rsa'].map((path) => ({ path, reason: 'may contain secrets' })),
    )
    expect(await paths('plain')).toEqual(['.gitignore', 'README.md', 'ignored.ts', 'src/a.ts', 'src/b.py'])
    put('src/a.ts', 'export function gamma() {}\n')
    rmSync(join(folder, 'src/b.py'))
    put('picture.png', '\u0089PNG\u0000')
    const second = await run('plain')
    expect(second).toMatchObject({ stored: 1, unchanged: 3, deleted: 1 })
    expect(second.skipped).toContainEqual({ path: 'picture.png', reason: 'binary' })
    const { data } = await client.call('context_searchCode', { query: 'gamma', mode: 'symbol', projectPath: 'plain' })
    expect(data.results).toMatchObject([{ filePath: 'src/a.ts' }])
    expect(await run('plain')).toMatchObject({ stored: 0, unchanged: 4, deleted: 0, indexStatus: { isStale: false } })
    expect(await run('plain', '--full')).toMatchObject({ stored: 4, unchanged: 0 })
  })

  it('sends nothing of a folder of secrets, or from within one, whatever link leads there', async () => {
    for (const place of ['.ssh', '.aws', '.gnupg/private']) put(`home/${place}/config`, 'x\n')
    symlinkSync(join(folder, 'home/.ssh'), join(folder, 'mine'))
    for (const place of ['home/.ssh', 'home/.aws', 'home/.gnupg/private', 'mine']) {
      const { out } = await index(join(folder, place), 'hidden')
      expect([place, JSON.parse(out)]).toMatchObject([
        place,
        { stored: 0, skipped: [{ path: 'config', reason: 'may contain secrets' }] },
      ])
    }
    expect(await paths('hidden')).toEqual([])
  })

  it('[FABRIC-150] sends in a work tree the files that git tracks or would add', async () => {
    git(folder, 'init', '-q')
    git(folder, 'remote', 'add', 'origin', 'https://ada:secret@github.com/acme/ferry.git')
    put('picture.png', '\u0089PNG\u0000')
    put('.npmrc', '//registry/:_authToken=x\n')
    put('.aws/config', 'x\n')
    const report = await run('tracked')
    expect(report.root).toBe('https://github.com/acme/ferry.git')
    expect(report.skipped.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining(['.npmrc', '.aws/config', '.env.local']),
    )
    expect(await paths('tracked')).toEqual(['.gitignore', 'README.md', 'src/a.ts', 'src/b.py'])
    // Indexing a subfolder removes only files below it; paths are relative to the root.
    rmSync(join(folder, 'README.md'))
    rmSync(join(folder, 'src/b.py'))
    expect(JSON.parse((await index(join(folder, 'src'), 'tracked')).out)).toMatchObject({ deleted: 1, unchanged: 1 })
    expect(await paths('tracked')).toEqual(['.gitignore', 'README.md', 'src/a.ts'])
  })

  it('[FABRIC-149, FABRIC-172] separates two folders of one project, and deletes nothing if most of the files disappeared, except with --full', async () => {
    const other = mkdtempSync(join(tmpdir(), 'other-'))
    writeFileSync(join(other, 'README.md'), '# Another\n')
    await run('shared')
    await index(other, 'shared', '--root', 'another')
    expect((await listed('shared')).filter(({ path }) => path === 'README.md').map(({ root }) => root)).toEqual([
      'another',
      basename(folder),
    ])
    // One that is empty, or has lost most of its files, deletes nothing.
    rmSync(join(other, 'README.md'))
    const empty = await index(other, 'shared', '--root', 'another')
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('1 files of another are missing in')])
    for (const path of ['src', 'README.md', '.gitignore']) rmSync(join(folder, path), { recursive: true })
    const lost = await index(folder, 'shared')
    expect([lost.code, JSON.parse(lost.out)]).toEqual([1, expect.objectContaining({ deleted: 0, refused: 4 })])
    expect(await listed('shared')).toHaveLength(6)
    expect(await run('shared', '--full')).toMatchObject({ stored: 1, deleted: 4 })
    const nothing = await index(other, 'nothing')
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('has no files to index')])
    rmSync(other, { recursive: true })
  })

  it('[FABRIC-152, FABRIC-172] names files that it cannot read, continues, and deletes none of them', async () => {
    // Root may read everything, so the command runs as a user who may not.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const unread = async () => {
      const program = join(ROOT, 'src/cli/commonplace.mjs')
      const args = [program, 'index', folder, '--project', 'unread', '--url', server.url.origin, '--json']
      const child = spawn(process.execPath, args, { ...nobody, env: { ...process.env, HOME: folder } })
      let out = ''
      for await (const part of child.stdout) out += part
      return JSON.parse(out)
    }
    chmodSync(folder, 0o755)
    expect(await unread()).toMatchObject({ stored: 5 })
    chmodSync(join(folder, 'src'), 0o000)
    chmodSync(join(folder, 'README.md'), 0o000)
    const report = await unread()
    chmodSync(join(folder, 'src'), 0o755)
    expect(report.deleted).toBe(0)
    expect(report.skipped).toEqual(
      expect.arrayContaining([
        { path: 'src/', reason: 'cannot be read (EACCES)' },
        { path: 'README.md', reason: 'cannot be read (EACCES)' },
      ]),
    )
    expect(await listed('unread')).toHaveLength(5)
  })

  it('[FABRIC-147] continues with every change in watch mode, also after the server was down, and ends cleanly', async () => {
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
      // Generated files are ignored.
      mkdirSync(join(watched, 'node_modules'))
      write('node_modules/c.js', 'x\n')
      rmSync(join(watched, 'a.ts'))
      expect(await next()).toMatchObject({ stored: 0, unchanged: 1, deleted: 1 })
      way.closed = true
      write('d.ts', 'export const d = 1\n')
      await command.said(/Cannot reach.*; trying again/)
      way.closed = false
      write('e.ts', 'export const e = 1\n')
      expect(await next()).toMatchObject({ stored: 2 })
    } finally {
      expect(await command.stop()).toBe(0)
      way.stop()
      rmSync(watched, { recursive: true, force: true })
    }
  })

  it('[FABRIC-142] shows its progress, and exits with 0, with 1 on failure, with 2 on wrong usage', async () => {
    const { code, out } = await runCommand(['index', folder, '--project', 'shown', '--url', server.url.origin])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/5\/5 files\n5 stored, 0 unchanged, 0 deleted of index-\w+; 5 files, 3 symbols/),
    ])
    expect(await runHere(['index', folder])).toMatchObject({ code: 2, err: expect.stringContaining('--project') })
    expect(await runHere(['index', join(folder, 'none'), '--project', 'p', '--url', server.url.origin])).toMatchObject({
      code: 1,
    })
    expect(await runHere(['index', folder, '--project', 'p', '--url', 'http://127.0.0.1:9'])).toMatchObject({
      code: 1,
    })
  })
})
