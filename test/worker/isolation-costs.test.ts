import { beforeAll, describe, expect, it } from 'vitest'
import { bindings, migrate } from '../support/bindings'
import { countingRows, type Key, openWorld } from '../support/isolation'

/** Rows that calls read, which is what their time follows: how many others have must not be seen in it. */
const { database, rowsOf } = countingRows(bindings.DB)
const world = openWorld({}, database)
const { call, ok } = world
const SMALL = 60
const LARGE = 600

beforeAll(migrate)

async function fill(key: Key, from: number, to: number, metadata: Record<string, unknown> = {}): Promise<void> {
  for (let i = from; i < to; i += 60) {
    const entries = Array.from({ length: 60 }, (_, j) => {
      const text = `turbine number ${i + j}`
      const parts = { tags: ['common', `tag${j % 5}`], metadata: { ...metadata, status: 'todo' } }
      return { thread_id: `thread ${(i + j) % 40}`, source: 'user', text, ...parts }
    })
    await ok(key, 'store_context_batch', { entries })
  }
  await world.settle()
}

let stored = 0
/** Calls of one key, each repeatable. */
const calls = (ids: number[]): [string, string, () => Record<string, unknown>][] => [
  ['a page', 'search_context', () => ({ limit: 5 })],
  ['a page of a thread', 'search_context', () => ({ thread_id: 'thread 1' })],
  ['a page by tag', 'search_context', () => ({ tags: ['common'], limit: 5 })],
  ['a page by metadata', 'search_context', () => ({ metadata: { status: 'todo' }, limit: 5 })],
  ['entries by id', 'get_context_by_ids', () => ({ context_ids: ids })],
  ['threads', 'list_threads', () => ({})],
  ['statistics', 'get_statistics', () => ({})],
  ['words', 'fts_search_context', () => ({ query: 'turbine number' })],
  ['words without any hit', 'fts_search_context', () => ({ query: 'secret' })],
  ['meaning', 'semantic_search_context', () => ({ query: 'turbine' })],
  ['both', 'hybrid_search_context', () => ({ query: 'turbine' })],
  ['an update', 'update_context', () => ({ context_id: ids[0], metadata_patch: { title: `t${stored++}` } })],
  ['an update of a missing entry', 'update_context', () => ({ context_id: 900_000, text: 'x' })],
  ['a delete of a missing entry', 'delete_context', () => ({ context_ids: [900_000] })],
  ['a delete of a thread that is not there', 'delete_context', () => ({ thread_id: 'nowhere' })],
]

async function costs(key: Key, ids: number[]): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const [name, tool, args] of calls(ids)) {
    // The first call also fills caches.
    await call(key, tool, args())
    await world.settle()
    rows[name] = await rowsOf(() => call(key, tool, args()))
    await world.settle()
  }
  return rows
}

const ownIds = async (key: Key): Promise<number[]> =>
  (await ok(key, 'search_context', { limit: 10, metadata: { project: 'a' } })).results.map(
    ({ id }: { id: number }) => id,
  )

/** Tables that grew, and by how much. */
const growth = (before: Record<string, number>, after: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, rows]) => [name, rows - (before[name] as number)] as const)
      .filter(([, more]) => more !== 0),
  )

describe('rows that calls read', () => {
  it('are as many when another org has grown tenfold', async () => {
    const [ada, other] = [await world.makeOrg('steady'), await world.makeOrg('grows')]
    await fill(ada, 0, SMALL, { project: 'a' })
    await fill(other, 0, SMALL, { project: 'a' })
    const ids = await ownIds(ada)
    const before = await costs(ada, ids)
    await fill(other, SMALL, LARGE, { project: 'a' })
    expect(growth(before, await costs(ada, ids))).toEqual({})
  })

  it('are as many for a narrowed key when other projects of its org have grown tenfold, but for pages, searches and statistics', async () => {
    const ada = await world.makeOrg('projects')
    const narrowed = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
    await fill(ada, 0, SMALL, { project: 'a' })
    await fill(ada, 0, SMALL, { project: 'b' })
    const ids = await ownIds(narrowed)
    const before = await costs(narrowed, ids)
    await fill(ada, SMALL, LARGE, { project: 'b' })
    const grown = growth(before, await costs(narrowed, ids))
    // These scan an index of the org and skip the rows of other projects: within one org, time reveals how
    // much there is in addition to one's own. No other fact about it.
    for (const name of Object.keys(grown)) expect(name).toMatch(/^(a page.*|statistics|words|meaning|both)$/)
  })

  it('are as many for a repeated store, however much unrelated users have stored in its thread since', async () => {
    const ada = await world.makeOrg('turns')
    const narrowed = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
    const turn = { thread_id: 'thread 1', source: 'user', text: 'said again' }
    const repeating = async (key: Key) => rowsOf(() => ok(key, 'store_context', turn))
    for (const key of [narrowed, ada]) await ok(key, 'store_context', turn)
    const eve = await world.makeKey(ada.org, { owner: 'eve' })
    await fill(eve, 0, SMALL, { project: 'b', audience: 'private' })
    const before = [await repeating(narrowed), await repeating(ada)]
    await fill(eve, SMALL, LARGE, { project: 'b', audience: 'private' })
    expect([await repeating(narrowed), await repeating(ada)]).toEqual(before)
  })
})
