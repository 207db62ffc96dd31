import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CarriedRecord } from '../../../src/domain/transfer/records'
import { ADMIN_TOKEN } from '../../support/access'
import { startCommand } from '../../support/command'
import { runHere } from '../../support/command-here'
import { base64, pngBytes } from '../../support/scope'
import { fillRandomly, post, told, volumeOf } from '../../support/transfer'
import { entriesOf, type Place } from './place'

/** The files of a folder, by their paths. */
function filesOf(root: string, below = ''): Map<string, string> {
  const files = readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry): [string, string][] => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    return entry.isDirectory() ? [...filesOf(root, path)] : [[path, readFileSync(join(root, path), 'latin1')]]
  })
  return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Memories as a folder of Markdown files (docs/import/markdown-folder.md). @param at the server, once it runs */
export function markdownContract(at: () => Place): void {
  const newFolder = () => join(mkdtempSync(join(tmpdir(), 'markdown-')), 'memories')
  const run = async (org: string, key: string, ...words: string[]) => {
    const environment: Record<string, string> = key === ADMIN_TOKEN ? { ADMIN_TOKEN } : { COMMONPLACE_KEY: key }
    const { code, out, err } = await runHere(
      [...words, '--org', org, '--url', at().team.server.url.origin],
      environment,
    )
    return { code, said: `${out}${err}` }
  }
  const exporting = (org: string, folder: string, key: string, ...more: string[]) =>
    run(org, key, 'export', '--format', 'markdown', '--out', folder, ...more)
  const pathOf = (folder: string, part: string): string => {
    const [path, ...more] = [...filesOf(folder).keys()].filter((name) => name.includes(part))
    if (path === undefined || more.length > 0) throw new Error(`${more.length + 1} files have ${part} in their names`)
    return join(folder, path)
  }
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  const entryOf = async (org: string, id: number) => {
    const found = entriesOf((await at().all(org, '')).records).find((entry) => entry.id === id)
    if (found === undefined) throw new Error(`no entry ${id}`)
    return found
  }

  it('is the same again when nothing changed, and importing it changes nothing', async () => {
    const org = `markdown-${at().database}`
    const { key } = await at().team.key(org, { role: 'admin' })
    await fillRandomly(at().team, org, 23, 40)
    const before = await at().all(org)
    // Volumes likewise: links to deleted entries are in no file, and stay.
    expect((await post(at().team, org, before.bytes)).body.entries).toMatchObject({ replaced: 0, stored: 0 })
    for (const by of [ADMIN_TOKEN, key]) {
      const folder = newFolder()
      expect(await exporting(org, folder, by)).toMatchObject({
        code: 0,
        said: expect.stringMatching(/^[1-9]\d* files? written/),
      })
      const files = filesOf(folder)
      const again = await exporting(org, folder, by)
      expect(again).toMatchObject({
        code: 0,
        said: expect.stringMatching(/^0 files written, 0 removed, [1-9]\d* unchanged/),
      })
      expect(filesOf(folder)).toEqual(files)
      for (const words of [
        ['import', folder],
        ['import', folder, '--from', 'markdown'],
      ]) {
        const imported = await run(org, by, ...words)
        expect(imported).toMatchObject({
          code: 0,
          said: expect.stringMatching(/entries [1-9]\d* unchanged; images none/),
        })
      }
      // Every file, as if each had been edited: each equals the stored entry.
      for (const path of files.keys())
        if (path.endsWith('.md')) edit(join(folder, path), (text) => text.replace('\nid:', '\n# an editor\nid:'))
      const all = await run(org, by, 'import', folder)
      expect(all.said).toMatch(/entries [1-9]\d* unchanged; images/)
      expect(all.code).toBe(0)
      expect(filesOf(folder)).toEqual(files)
    }
    expect((await at().all(org)).lines).toEqual(before.lines)
  })

  it('moves an organization to another server with the same content', async () => {
    const [from, to] = [await at().newOrg(), await at().newOrg()]
    const png = pngBytes('shown')
    const { createHash } = await import('node:crypto')
    const sha256 = createHash('sha256').update(png).digest('hex')
    const shown = { sha256, mime_type: 'image/png', size: png.length }
    const records: CarriedRecord[] = [
      { record: 'image', ...shown, data: base64(png) },
      told(1, { text: 'begins\r\nand ends\n\n', tags: ['a', 'b'], images: [{ ...shown, metadata: { caption: 'x' } }] }),
      told(2, {
        metadata: {
          title: 'Use: PostgreSQL',
          kind: 'decision',
          project: '../p/Ω',
          id: 'mine',
          n: 1.5,
          supersedes: 1,
          references: { context_ids: ['1', 99] },
        },
        project: '../p/Ω',
        links: [
          { relation: 'supersedes', to: 1, origin: 'metadata' },
          { relation: 'references', to: 1, origin: 'metadata' },
          { relation: 'part of', to: 1, origin: 'remember' },
        ],
      }),
      told(3, { layer: 3, weight: 5, pinned: true, archived: true, agent: 'ci', metadata: { agent_name: 'ci' } }),
    ]
    await post(at().team, from, await volumeOf(records))
    const folder = newFolder()
    expect(await exporting(from, folder, ADMIN_TOKEN)).toMatchObject({ code: 0 })
    const names = [...filesOf(folder).keys()]
    expect(names).toEqual([
      '.commonplace.json',
      `attachments/${sha256}.png`,
      expect.stringMatching(/^no project\/note\/begins-\d+\.md$|^no project\/episode\/begins-\d+\.md$/),
      expect.stringMatching(/^no project\/\w+\/told-3-\d+\.md$/),
      expect.stringMatching(/^p-Ω\/decision\/use-postgresql-\d+\.md$/),
    ])
    expect(readFileSync(pathOf(folder, 'use-postgresql'), 'utf8')).toMatch(
      /^---\ntitle: "?Use: PostgreSQL"?\nkind: decision\nproject: \.\.\/p\/Ω\n[\s\S]*supersedes: "\[\[begins-\d+\]\]"\n/,
    )
    const sent = await run(to, ADMIN_TOKEN, 'import', folder)
    expect(sent).toMatchObject({ code: 0, said: expect.stringContaining('entries 3 stored') })
    const contents = await Promise.all([from, to].map(async (org) => (await at().all(org, '')).records))
    const plain = (all: readonly CarriedRecord[]) =>
      entriesOf(all).map(({ text, metadata, tags, layer, weight, pinned, archived, project, created_at, images }) => ({
        ...{ text, tags, layer, weight, pinned, archived, project, created_at, images },
        title: metadata?.title,
      }))
    expect(plain(contents[1] ?? [])).toEqual(plain(contents[0] ?? []))
    expect((await run(to, ADMIN_TOKEN, 'import', folder)).said).toContain('entries 3 unchanged')
  })

  it('makes a new version of a memory from each edit of its file, and none where the stored memory has changed meanwhile', async () => {
    const org = await at().newOrg()
    const { key } = await at().team.key(org, { role: 'admin', owner: 'ada', agent: 'ada-agent' })
    const other = await at().join(org, await at().team.key(org, { owner: 'bob' }))
    const store = async (text: string, metadata = {}) =>
      (await other.call('store_context', { thread_id: 't', source: 'agent', text, metadata })).context_id as number
    const [a, b] = [await store('first', { title: 'One', note: 'kept' }), await store('second', { title: 'Two' })]
    const folder = newFolder()
    await exporting(org, folder, key)
    const [one, two] = [pathOf(folder, `-${a}.md`), pathOf(folder, `-${b}.md`)]
    const made = await entryOf(org, a)
    for (const n of [1, 2]) {
      edit(one, (text) => text.replace(/first.*\n$/, `first, edited ${n}\n`).replace(/^title: .*$/m, `title: One ${n}`))
      const imported = await run(org, key, 'import', folder)
      expect(imported).toMatchObject({ code: 0, said: expect.stringContaining('1 unchanged, 1 replaced') })
      expect(await entryOf(org, a)).toMatchObject({
        ...{ text: `first, edited ${n}`, version: 2 * n, metadata: { title: `One ${n}`, note: 'kept' } },
        ...{ owner: 'bob', created_by: made.created_by, created_at: made.created_at },
      })
      // The file keeps its name, and is of the version that is stored now.
      expect(readFileSync(one, 'utf8')).toContain(`\nversion: ${2 * n}\n`)
      expect((await run(org, key, 'import', folder)).said).toContain('entries 2 unchanged')
      // An agent changes it as well, and the folder follows.
      await other.call('update_context', { context_id: a, tags: [`t${n}`] })
      expect((await exporting(org, folder, key)).said).toMatch(/^1 file written/)
    }
    await other.call('update_context', { context_id: b, text: 'by an agent' })
    edit(two, (text) => text.replace('second', 'by a person'))
    for (const [words, code] of [
      [[], 0],
      [['--on-conflict', 'fail'], 1],
    ] as const) {
      const refused = await run(org, key, 'import', folder, ...words)
      expect(refused.said).toMatch(words.length === 0 ? /1 skipped/ : /changed here/)
      if (code === 1) expect(refused.code).toBe(1)
      expect((await entryOf(org, b)).text).toBe('by an agent')
      expect(readFileSync(two, 'utf8')).toContain('by a person')
    }
    // An export leaves the edit as it is and reports it.
    expect(await exporting(org, folder, key)).toMatchObject({
      code: 3,
      said: expect.stringContaining('was edited, so it was not changed'),
    })
    expect(readFileSync(two, 'utf8')).toContain('by a person')
    const replaced = await run(org, key, 'import', folder, '--on-conflict', 'replace')
    expect(replaced).toMatchObject({ code: 0, said: expect.stringContaining('1 replaced') })
    expect(await entryOf(org, b)).toMatchObject({ text: 'by a person', version: 3, owner: 'bob' })
  })

  it('keeps who can read a memory unless the file names the field, and reports a file that cannot be read with its line', async () => {
    const org = await at().newOrg()
    const { key } = await at().team.key(org, { role: 'admin', owner: 'ada' })
    const ada = await at().join(org, { key })
    const stored = await ada.call('store_context', {
      ...{
        thread_id: 't',
        source: 'user',
        text: 'mine',
        metadata: { title: 'Mine', audience: 'private', project: 'p' },
      },
    })
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'broken', metadata: { title: 'Broken' } })
    const folder = newFolder()
    await exporting(org, folder, key)
    const [mine, broken] = [pathOf(folder, 'mine-'), pathOf(folder, 'broken-')]
    const whole = readFileSync(broken, 'utf8')
    writeFileSync(broken, whole.replace('title: Broken', 'title: [Broken'))
    edit(mine, (text) => text.replace('audience: private\n', '').replace('mine\n', 'mine, edited\n'))
    const refused = await run(org, key, 'import', folder)
    expect(refused.code).toBe(3)
    expect(refused.said).toMatch(/broken-\d+\.md: its front matter is not valid YAML: .* at line \d/)
    expect(refused.said).toMatch(/audience here would be widened without being named/)
    expect(await entryOf(org, stored.context_id)).toMatchObject({ text: 'mine', metadata: { audience: 'private' } })
    // The file that cannot be read is not written over.
    await exporting(org, folder, key)
    expect(readFileSync(broken, 'utf8')).toContain('title: [Broken')
    writeFileSync(broken, whole)
    edit(mine, (text) => text.replace('project: p\n', 'project: p\naudience: org\n'))
    expect(await run(org, key, 'import', folder)).toMatchObject({
      code: 0,
      said: expect.stringContaining('1 replaced'),
    })
    expect(await entryOf(org, stored.context_id)).toMatchObject({ text: 'mine, edited', metadata: { audience: 'org' } })
  })

  it('follows deletions, and keeps the names of files that exist, those that a person has moved too', async () => {
    const org = await at().newOrg()
    const { key } = await at().team.key(org, { role: 'admin' })
    const agent = await at().join(org, { key })
    const store = async (title: string, more = {}) =>
      (
        await agent.call('store_context', {
          thread_id: 't',
          source: 'agent',
          text: title,
          metadata: { title, ...more },
        })
      ).context_id
    const [a, b] = [await store('Stays'), await store('Goes')]
    const folder = newFolder()
    await exporting(org, folder, key)
    mkdirSync(join(folder, 'mine'))
    renameSync(pathOf(folder, `-${a}.md`), join(folder, 'mine', 'My own name.md'))
    const linking = await store('Links', { references: { context_ids: [a] } })
    await agent.call('delete_context', { context_ids: [b] })
    await agent.call('update_context', { context_id: a, metadata_patch: { title: 'Another title' } })
    expect((await exporting(org, folder, key)).said).toMatch(/^2 files written, 1 removed/)
    expect([...filesOf(folder).keys()]).toEqual([
      ...['.commonplace.json', 'mine/My own name.md', `no project/note/links-${linking}.md`],
    ])
    expect(readFileSync(pathOf(folder, 'links-'), 'utf8')).toContain('[[My own name]]')
    expect((await run(org, key, 'import', folder)).said).toContain('entries 2 unchanged')
    const foreign = mkdtempSync(join(tmpdir(), 'markdown-'))
    writeFileSync(join(foreign, 'note.md'), 'mine')
    expect(await exporting(org, foreign, key)).toMatchObject({ code: 1, said: expect.stringContaining('is not empty') })
    expect(await exporting(await at().newOrg(), folder, ADMIN_TOKEN)).toMatchObject({
      ...{ code: 1, said: expect.stringContaining('of another organization') },
    })
  })

  it('stays current with --watch', async () => {
    const org = await at().newOrg()
    const { key } = await at().team.key(org, { role: 'admin' })
    const agent = await at().join(org, { key })
    const store = async (text: string) =>
      (await agent.call('store_context', { thread_id: 't', source: 'agent', text })).context_id
    const first = await store('first')
    const folder = newFolder()
    const words = ['export', '--format', 'markdown', '--out', folder, '--watch', '--json']
    const watching = startCommand([...words, '--org', org, '--url', at().team.server.url.origin], {
      COMMONPLACE_KEY: key,
    })
    const next = async () => JSON.parse(await watching.line())
    try {
      expect(await next()).toMatchObject({ written: 1 })
      await watching.said(/Watching/)
      const second = await store('second')
      expect(await next()).toMatchObject({ written: 1, removed: 0 })
      expect(readFileSync(pathOf(folder, `-${second}.md`), 'utf8')).toContain('\nsecond\n')
      await agent.call('update_context', { context_id: first, text: 'changed' })
      expect(await next()).toMatchObject({ written: 1, removed: 0 })
      expect(readFileSync(pathOf(folder, `-${first}.md`), 'utf8')).toContain('\nchanged\n')
      await agent.call('delete_context', { context_ids: [second] })
      expect(await next()).toMatchObject({ removed: 1 })
      expect(statSync(folder).isDirectory() && filesOf(folder).size).toBe(2)
    } finally {
      expect(await watching.stop()).toBe(0)
    }
  })
}
