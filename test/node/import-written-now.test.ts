import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it } from 'vitest'
import { planImport } from '../../src/cli/import/plan'
import { ROOT } from '../support/build'

/** Files of the present npm release of a program, not only of the release that made the samples. */
it('imports what server-memory writes just now: entities, observations, relations, and nothing that was deleted', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'commonplace-memory-')), 'memory.jsonl')
  const client = new Client({ name: 'test', version: '1' })
  const program = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program],
    env: { MEMORY_FILE_PATH: file },
  })
  await client.connect(transport)
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args })
  const entity = (name: string, entityType: string, ...observations: string[]) => ({ name, entityType, observations })
  try {
    await call('create_entities', {
      entities: [
        entity('marlin', 'project', 'Payment gateway'),
        entity('領収書 🦆', 'note', 'two\nlines', '"quoted" \\ 5%_off'),
        entity('wrong', 'note', 'to be deleted'),
      ],
    })
    await call('create_relations', { relations: [{ from: '領収書 🦆', to: 'marlin', relationType: 'belongs to' }] })
    await call('add_observations', { observations: [{ entityName: 'marlin', contents: ['Books double entry'] }] })
    await call('delete_entities', { entityNames: ['wrong'] })
  } finally {
    await client.close()
  }
  expect(readFileSync(file, 'utf8')).not.toBe('')
  const projects = { otherwise: null, map: new Map<string, string>() }
  const plan = await planImport('server-memory', file, {
    name: 'now',
    at: '2026-11-23T10:00:00.000Z',
    prompts: false,
    projects,
  })
  const volumes: string[] = []
  for await (const { bytes } of plan.volumes()) volumes.push(new TextDecoder().decode(bytes))
  const entries = volumes
    .flatMap((volume) => volume.trimEnd().split('\n'))
    .map((line) => JSON.parse(line))
    .filter(({ record }) => record === 'entry')
  expect(plan.refused).toEqual([])
  expect(entries.map(({ id, text }) => [id, text])).toEqual([
    ['marlin', 'marlin\nPayment gateway\nBooks double entry'],
    ['領収書 🦆', '領収書 🦆\ntwo\nlines\n"quoted" \\ 5%_off'],
  ])
  expect(entries[1].links).toEqual([{ relation: 'references', to: 'marlin', origin: 'metadata' }])
})
