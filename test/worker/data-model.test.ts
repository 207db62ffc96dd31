import { beforeAll, expect, it } from 'vitest'
import type { Metadata } from '../../src/domain/entry/metadata'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** Data of an entry for other families: columns extracted from metadata, and the log of changes. */
const { entries } = d1Adapters(new TestClock())

beforeAll(migrate)

const columns = (id: number) =>
  bindings.DB.prepare('SELECT * FROM entries WHERE id = ?1').bind(id).first<Record<string, unknown>>()

it('lifts reserved keys into columns, with defaults for unknown or missing metadata', async () => {
  const ada = freshPrincipal({ agent: 'key-agent' })
  const metadata: Metadata = {
    task_name: 'Ship it',
    project: ' /home/x/ ',
    category: 'billing',
    agent_name: 'planner',
    audience: 'project',
    status: 'doing',
    assignee: 'ada',
    weight: 5,
    pinned: true,
    confidence: 0.5,
    expires_at: '2099-01-01T00:00:00Z',
  }
  const [full, bare] = await entries.save(ada, [
    await entryOf(ada, { metadata }),
    await entryOf(ada, { threadId: 'b' }),
  ])
  expect(await columns(full?.id as number)).toMatchObject({
    org: ada.org,
    layer: 2,
    kind: 'task',
    title: 'Ship it',
    project: '/home/x',
    domain: 'billing',
    agent: 'planner',
    audience: 'project',
    status: 'doing',
    weight: 5,
    pinned: 1,
    confidence: 0.5,
    expires_at: Date.UTC(2099, 0, 1),
    owner: 'ada',
    created_by: 'key-1',
  })
  expect(await columns(bare?.id as number)).toMatchObject({
    kind: 'episode',
    title: null,
    project: null,
    agent: 'key-agent',
    audience: 'org',
    status: null,
    weight: 3,
    pinned: 0,
    expires_at: null,
  })
})

it('follows tags with the kind, also when a repeated store gives nothing but tags', async () => {
  const ada = freshPrincipal()
  const [first] = await entries.save(ada, [await entryOf(ada, { text: 'same', source: 'agent' })])
  expect((await columns(first?.id as number))?.kind).toBe('note')
  await entries.save(ada, [await entryOf(ada, { text: 'same', source: 'agent', tags: ['decision'] })])
  expect((await columns(first?.id as number))?.kind).toBe('decision')
})

it('logs every store, update and delete with a sequence that only rises', async () => {
  const ada = freshPrincipal()
  const [saved] = await entries.save(ada, [await entryOf(ada)])
  const id = saved?.id as number
  await entries.patch(ada, id, { a: 1 })
  await entries.delete(ada, { ids: [id] })
  const { results } = await bindings.DB.prepare(
    'SELECT seq, entry_id, action, version FROM changes WHERE org = ?1 ORDER BY seq',
  )
    .bind(ada.org)
    .all<{ seq: number; action: string; version: number }>()
  expect(results.map(({ action, version }) => `${action} ${version}`)).toEqual(['store 1', 'update 2', 'delete 3'])
  expect(new Set(results.map(({ seq }) => seq)).size).toBe(3)
})
