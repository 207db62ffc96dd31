import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

const RULES = [
  '- Never edit a migration that was released, because servers compare its hash at each start.',
  '- Tests must not measure time, otherwise they fail on a machine that does other work.',
]
const AUTHOR = ['-c', 'user.name=a', '-c', 'user.email=a@b.c']

/** Proposals from a repository, which wait for review. */
describe('commonplace learn', () => {
  let server: RunningServer
  let folder: string
  let serial = 0
  const home = mkdtempSync(join(tmpdir(), 'commonplace-learn-'))
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true })
  })
  const git = (...args: string[]) => execFileSync('git', [...AUTHOR, ...args], { cwd: folder, encoding: 'utf8' })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const commit = (message: string) => {
    git('add', '.')
    git('commit', '-qm', message)
  }
  const rules = (...lines: string[]) =>
    write('AGENTS.md', lines.map((line, i) => `# Rules ${i}\n\n${line}\n`).join('\n'))
  beforeEach(() => {
    folder = join(home, `ferry${++serial}`)
    mkdirSync(folder)
    git('init', '-q')
    git('remote', 'add', 'origin', `https://user:secret@git.example/acme/ferry${serial}.git`)
    rules(...RULES)
    commit('first')
  })
  const run = (...args: string[]) => runHere(['learn', folder, ...args, '--url', server.url.origin], { HOME: home })
  const learn = async (...args: string[]) => JSON.parse((await run('--json', ...args)).out)
  const api = async (method: string, path: string, body?: object) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(new URL(`/api/v1/orgs/-/captured${path}`, server.url), {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as { items: { id: number; title: string; project: string; sources?: string[] }[] }
  }
  const waiting = async () =>
    (await api('GET', `?project=${encodeURIComponent(`git.example/acme/ferry${serial}`)}`)).items

  it('[OPERATE-105] proposes to the review of the server, in the project of the remote, once', async () => {
    const first = await run()
    expect(first.out).toContain(`2 new proposals from git.example/acme/ferry${serial} at`)
    expect(first.out).toContain(new URL('/review', server.url).href)
    expect(await waiting()).toMatchObject([
      { sources: ['AGENTS.md:3'], project: `git.example/acme/ferry${serial}` },
      { sources: ['AGENTS.md:7'], version: 1 },
    ])
    const [kept, dropped] = await waiting()
    await api('POST', `/${kept?.id}/keep`, {})
    await api('POST', '/drop', { ids: [dropped?.id] })
    expect(await learn()).toMatchObject({ stored: 0, known: 1, dropped: 1, changed: [] })
    expect(await waiting()).toEqual([])
    const again = await run()
    expect(again.out).toContain('not proposed again: 1 that wait or were approved, 1 that were dropped')
  })

  it('[OPERATE-106] proposes what is new, marks a memory whose source changed, and removes the mark when the source is back', async () => {
    await learn()
    const [first] = await waiting()
    const core = async (name: string, args: object) => {
      const response = await fetch(new URL('/mcp/threads', server.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      })
      const text = await response.text()
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.structuredContent
    }
    const sources = async () =>
      (await core('get_context_by_ids', { context_ids: [first?.id] })).result[0].metadata.sources as object[]
    const changed =
      '- Never edit a migration of a release candidate either, because servers compare its checksum at each start.'
    rules('Read these first.', changed, RULES[1] ?? '')
    commit('second')
    const date = git('log', '-1', '--format=%cs').trim()
    expect(await learn()).toMatchObject({ stored: 1, known: 1, changed: [{ id: first?.id }] })
    expect(await sources()).toMatchObject([{ lines: '3', changed_at: date }])
    expect((await waiting()).map((one) => one.sources)).toEqual([['AGENTS.md:11'], ['AGENTS.md:3'], ['AGENTS.md:7']])
    expect(await learn()).toMatchObject({ stored: 0, changed: [] })
    rules('Read these first.', ...RULES)
    commit('third')
    expect(await learn()).toMatchObject({
      stored: 0,
      changed: [{ title: expect.stringContaining('release candidate') }],
    })
    expect(await sources()).toEqual([expect.not.objectContaining({ changed_at: expect.anything() })])
    expect(await sources()).toMatchObject([{ lines: '7' }])
  })

  it('[OPERATE-106] follows a renamed file and dates a change from a folder inside the repository too', async () => {
    await learn()
    write('docs/harbour.md', 'Ships.')
    git('mv', 'AGENTS.md', 'CLAUDE.md')
    git('add', '.')
    git('commit', '-qm', 'rename', '--date', '2020-02-03T04:05:06Z')
    const inside = await runHere(['learn', join(folder, 'docs'), '--json', '--url', server.url.origin], { HOME: home })
    expect(JSON.parse(inside.out)).toMatchObject({ known: 2, changed: [] })
    expect((await waiting()).flatMap((one) => one.sources).toSorted()).toEqual(['CLAUDE.md:3', 'CLAUDE.md:7'])
  })

  it('[OPERATE-103] prints the proposals of the last commit without a server, and reads no symbolic link', async () => {
    symlinkSync('AGENTS.md', join(folder, 'CLAUDE.md'))
    commit('link')
    rules('- Never read what is not committed yet, because another person changes it at this moment.')
    const dry = await runHere(['learn', folder, '--dry-run', '--url', 'http://localhost:1', '--json'], { HOME: home })
    expect(JSON.parse(dry.out).proposals.map(({ citation }: { citation: string }) => citation.split('@')[0])).toEqual([
      'AGENTS.md:3',
      'AGENTS.md:7',
    ])
    const printed = await runHere(['learn', folder, '--dry-run'], { HOME: home })
    expect(printed.out).toMatch(/convention · AGENTS\.md:3@[\s\S]*2 proposals from/)
    expect(await waiting()).toEqual([])
  })

  it('[OPERATE-105] uses the project of --project, or of .commonplace.json', async () => {
    write('.commonplace.json', '{"project": "harbour"}')
    commit('project')
    expect(await learn()).toMatchObject({ project: 'harbour', from: `git.example/acme/ferry${serial}` })
    expect(await learn('--project', 'pier')).toMatchObject({ project: 'pier', stored: 0 })
    const wrong = await run('--audience', 'everyone')
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining('--audience must be one of: org, project, private'),
    })
  })

  it('[OPERATE-105] ends with exit code 1 in a folder without a git repository', async () => {
    const empty = join(home, 'empty')
    mkdirSync(empty)
    const failed = await runHere(['learn', empty, '--url', server.url.origin], { HOME: home })
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('Cannot read the git repository in') })
  })
})
