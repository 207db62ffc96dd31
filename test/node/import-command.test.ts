import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { runHere } from '../support/command-here'
import { importSamples } from '../support/import-samples'

const run = (...words: string[]) => runHere(words)

it('writes volumes of another system that verify, reports refusals by exit code 3, and changes no source', async () => {
  const folder = importSamples('mcp-context-server')
  const source = join(folder, 'context_storage-damaged-rows.db')
  const before = readFileSync(source)
  const volumes = join(folder, 'v.ndjson')
  const { code, out } = await run('import', source, '--from', 'mcp-context-server', '--out', volumes)
  expect(code).toBe(3)
  expect(out).toContain('context_entries id 7: created_at is not a time: "yesterday at noon"')
  expect(out).toContain('23 entries, 0 images, 3 links in 5 threads')
  expect(readFileSync(source)).toEqual(before)

  const verified = await run('verify', volumes, '--json')
  expect(verified.code).toBe(0)
  expect(JSON.parse(verified.out)).toMatchObject({ equal: true, counts: { entry: 23 } })

  writeFileSync(`${volumes}.gz`, gzipSync(readFileSync(volumes)))
  expect((await run('verify', `${volumes}.gz`)).code).toBe(0)
  writeFileSync(`${volumes}.gz`, gzipSync(readFileSync(volumes)).subarray(0, -100))
  expect(await run('verify', `${volumes}.gz`)).toMatchObject({ code: 1, err: 'unexpected end of file\n' })

  const bytes = readFileSync(volumes)
  writeFileSync(volumes, bytes.subarray(0, 3000))
  expect(await run('verify', volumes)).toMatchObject({ code: 1, err: expect.stringMatching(/^line 6: .* incomplete/) })
})

it('shows control characters of a file that others wrote, which the terminal would obey, as what they are', async () => {
  const folder = importSamples('server-memory')
  const source = join(folder, 'hostile.jsonl')
  const hostile = '\u001b]0;title\u0007\u001b[2J\u009b\u202e'
  const entity = { type: 'entity', name: `name ${hostile}`, entityType: `kind ${hostile}`, observations: ['x'] }
  const relation = { type: 'relation', from: `name ${hostile}`, to: `nowhere ${hostile}`, relationType: hostile }
  writeFileSync(source, [entity, relation].map((line) => JSON.stringify(line)).join('\n'))
  const { out, err } = await run('import', source, '--from', 'server-memory', '--dry-run')
  expect(out).toContain('kind \\u001b]0;title\\u0007\\u001b[2J\\u009b\\u202e\n')
  expect(`${out}${err}`).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
})

it('lists what it would import without writing anything, names projects by the map, and exits with 2 for wrong usage, with 1 for a file that is not there', async () => {
  const home = join(importSamples('claude-code'), 'home')
  writeFileSync(
    `${home}.map.json`,
    JSON.stringify({ projects: { '-home-dev-projects-orchard': '/home/dev/projects/orchard' } }),
  )
  const volumes = `${home}.ndjson`
  const dry = await run('import', home, '--from', 'claude-code', '--dry-run', '--json')
  expect(dry.code).toBe(0)
  expect(JSON.parse(dry.out)).toMatchObject({ entries: 19, volumes: 0, refused: [] })
  expect(existsSync(volumes)).toBe(false)
  await run('import', home, '--from', 'claude-code', '--out', volumes, '--project', 'elsewhere')
  const projects = readFileSync(volumes, 'utf8').match(/"project":"[^"]*","created_at"/g) ?? []
  const counts = Object.groupBy(projects, (project) => project.split('"')[3] ?? '')
  expect(Object.fromEntries(Object.entries(counts).map(([name, all]) => [name, all?.length]))).toEqual({
    '/home/dev/projects/orchard': 10,
    elsewhere: 9,
  })

  expect(await run('import', home, '--from', 'nothing', '--dry-run')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--from must be one of: mcp-context-server'),
  })
  expect(await run('import', join(home, 'absent'), '--from', 'codex', '--dry-run')).toMatchObject({ code: 1 })
  const cut = join(importSamples('chats'), 'claude/conversations-cut.json')
  expect(await run('import', cut, '--from', 'claude', '--dry-run')).toMatchObject({
    code: 1,
    err: expect.stringContaining('conversations-cut.json cannot be read: it is not valid JSON'),
  })
})

it('explains how to import a file or folder without volumes, but not for a volume that is damaged further on', async () => {
  const folder = importSamples('server-memory')
  for (const word of ['import', 'verify'])
    for (const source of [folder, join(folder, 'memory.jsonl'), join(folder, 'memory-utf16.jsonl')]) {
      const { code, err } = await run(word, source, ...(word === 'import' ? ['--dry-run'] : []))
      expect([source, code, err]).toEqual([source, 1, expect.stringMatching(/use --from with one of: .*server-memory/)])
    }
  const volumes = join(folder, 'v.ndjson')
  await run('import', join(folder, 'memory.jsonl'), '--from', 'server-memory', '--out', volumes)
  writeFileSync(volumes, readFileSync(volumes).subarray(0, 3000))
  expect((await run('verify', volumes)).err).not.toContain('--from')
})
