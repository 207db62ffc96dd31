import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import { createSqlStoreOverview } from '../../src/adapters/sql/stores/overview/store-overview'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Caller } from '../../src/domain/identity/scope'
import { DAY_MS } from '../../src/domain/time'
import type { EntryStore } from '../../src/ports/entry-store'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface OverviewUnderTest {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly clock: TestClock
  readonly costs: { roundTrips: number; rowsRead?: number }
}

/** Data for dashboard pages, and its visibility. */
export function storeOverviewContract(name: string, make: () => OverviewUnderTest): void {
  describe(`${name} as what a dashboard shows`, () => {
    let made: OverviewUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const overview = () => createSqlStoreOverview(made.connection, made.clock)
    const feed = () => createSqlChangeFeed(made.connection, made.clock)
    const save = async (draft: Partial<EntryDraft>, by = ada): Promise<number> => {
      made.clock.advance(1000)
      const [saved] = await made.entries.save(by, [await entryOf(by, draft)])
      return saved?.id as number
    }
    const asked = (more = {}) => ({ newest: 100, since: 0, names: 3, ...more })
    const bob = () => freshPrincipal({ org: ada.org, owner: 'bob' })
    const narrowed = () => freshPrincipal({ org: ada.org, owner: 'bob', projects: ['p'] })

    it('counts what was stored by day, agent, kind and project, the most first', async () => {
      const day = new Date(made.clock.now()).toISOString().slice(0, 10)
      await save({ metadata: { agent_name: 'a', project: 'p', kind: 'decision' } })
      await save({ metadata: { agent_name: 'b', project: 'p', kind: 'note' } })
      await save({ metadata: { agent_name: 'b', kind: 'note' } })
      made.clock.advance(2 * DAY_MS)
      const later = new Date(made.clock.now()).toISOString().slice(0, 10)
      await save({ metadata: {} })
      expect(await overview().activity(ada, asked())).toEqual({
        entries: 4,
        agentCount: 2,
        days: [
          { name: day, count: 3 },
          { name: later, count: 1 },
        ],
        agents: [
          { name: 'b', count: 2 },
          { name: '', count: 1 },
          { name: 'a', count: 1 },
        ],
        kinds: [
          { name: 'note', count: 2 },
          { name: 'decision', count: 1 },
          { name: 'episode', count: 1 },
        ],
        projects: [
          { name: '', count: 2 },
          { name: 'p', count: 2 },
        ],
      })
      const newest = await overview().activity(ada, asked({ newest: 1, since: made.clock.now() - DAY_MS }))
      expect([newest.entries, newest.days]).toEqual([1, [{ name: later, count: 1 }]])
      expect((await overview().activity(ada, asked({ names: 1 }))).kinds).toEqual([{ name: 'note', count: 2 }])
    })

    it('counts nothing that the scope does not see', async () => {
      await save({ metadata: { audience: 'private' } })
      await save({ metadata: { project: 'other' } })
      await save({ metadata: { project: 'p' } })
      expect((await overview().activity(ada, asked())).entries).toBe(3)
      expect((await overview().activity(bob(), asked())).entries).toBe(2)
      expect((await overview().activity(narrowed(), asked())).projects).toEqual([{ name: 'p', count: 1 }])
      expect(await overview().activity(freshPrincipal(), asked())).toMatchObject({ entries: 0, days: [], agents: [] })
    })

    it('returns the first code points of the newest entries that the scope sees', async () => {
      await save({ text: 'an older entry' })
      await save({ text: 'a private one', metadata: { audience: 'private' } })
      await save({ text: 'größer als erlaubt' })
      const prefixes = (by: Caller, newest = 10) => overview().prefixes(by, { newest, codePoints: 6 })
      expect(await prefixes(ada)).toEqual(['größer', 'a priv', 'an old'])
      expect(await prefixes(ada, 2)).toEqual(['größer', 'a priv'])
      expect(await prefixes(bob())).toEqual(['größer', 'an old'])
      expect(await prefixes(freshPrincipal())).toEqual([])
    })

    it('returns links in both directions, if the scope sees both ends', async () => {
      const first = await save({ text: 'first', metadata: { title: 'First' } })
      const hidden = await save({ text: 'hidden', metadata: { audience: 'private' } })
      const second = await save({ metadata: { supersedes: [first], references: { context_ids: [hidden] } } })
      const third = await save({ metadata: { references: { context_ids: [second] }, project: 'other' } })
      const told = async (by: Caller, id: number) =>
        (await overview().links(by, id, 10)).map((link) => [link.id, link.relation, link.direction])
      expect(await told(ada, second)).toEqual([
        [third, 'references', 'incoming'],
        [hidden, 'references', 'outgoing'],
        [first, 'supersedes', 'outgoing'],
      ])
      expect(await told(bob(), second)).toEqual([
        [third, 'references', 'incoming'],
        [first, 'supersedes', 'outgoing'],
      ])
      expect(await told(narrowed(), second)).toEqual([[first, 'supersedes', 'outgoing']])
      expect(await told(bob(), hidden)).toEqual([])
      expect(await told(freshPrincipal(), second)).toEqual([])
      expect(await overview().links(ada, first, 10)).toMatchObject([
        { direction: 'incoming', text: expect.any(String) },
      ])
      expect(await overview().links(ada, second, 1)).toHaveLength(1)
    })

    it('[OPERATE-161] returns the memories within two links, and no link with an end that the scope does not see', async () => {
      const far = await save({ metadata: { title: 'Far' } })
      const hidden = await save({ metadata: { audience: 'private' } })
      const near = await save({ metadata: { references: { context_ids: [far, hidden] } } })
      const root = await save({ metadata: { depends_on: [near] } })
      const beyond = await save({ metadata: { supersedes: [far] } })
      await save({ metadata: { supersedes: [beyond] } })
      const told = async (by: Caller, id: number, most = 9) => {
        const { nodes, edges } = await overview().graph(by, id, most)
        return [
          nodes.map((node) => node.id).toSorted((a, b) => a - b),
          edges.map(({ from, relation, to }) => [from, relation, to]),
        ]
      }
      const shown = [
        [root, 'depends_on', near],
        [near, 'references', far],
      ]
      expect(await told(bob(), root)).toEqual([[far, near, root], shown])
      expect(await told(ada, root)).toEqual([
        [far, hidden, near, root],
        [shown[0], [near, 'references', hidden], shown[1]],
      ])
      expect(await told(bob(), hidden)).toEqual([[], []])
      expect(await told(freshPrincipal(), root)).toEqual([[], []])
      const before = made.costs.roundTrips
      expect((await told(ada, far, 1))[0]).toContain(beyond)
      expect(made.costs.roundTrips - before).toBe(1)
    })

    it('[OPERATE-161] returns every direct neighbor, however many links one of them has', async () => {
      const root = await save({})
      const drafts = Array.from({ length: 100 }, (_, i) => entryOf(ada, { text: `target ${i}` }))
      const targets = (await made.entries.save(ada, await Promise.all(drafts))).map(({ id }) => id)
      const crowded = { depends_on: [root], references: { context_ids: targets } }
      const near: number[] = []
      for (const metadata of [{ depends_on: [root] }, crowded, crowded, crowded, { depends_on: [root] }])
        near.push(await save({ metadata }))
      const { nodes, edges } = await overview().graph(ada, root, 9)
      expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining([root, ...near]))
      expect(edges.flatMap(({ from, to }) => (to === root ? [from] : []))).toEqual(near.toReversed())
    })

    it('[OPERATE-160] returns older changes in parts, of one agent or key, and none that the scope does not see', async () => {
      const eve = freshPrincipal({ org: ada.org, owner: 'eve', agent: 'eve', keyId: 'key-eve' })
      const ids = [
        await save({ text: 'one', metadata: { project: 'p' } }),
        await save({ text: 'two' }, eve),
        await save({ text: 'three', metadata: { audience: 'private' } }),
        await save({ text: 'four' }),
      ] as const
      const filter = { threadId: null, project: null, actions: null }
      const asked = { before: null, limit: 10, filter, agent: null, keyId: null }
      const told = async (more: object, by: Caller = ada) => {
        const { changes, older } = await feed().newest(by, { ...asked, ...more })
        return { ids: changes.map(({ entryId }) => entryId), older }
      }
      const first = await told({ limit: 3 })
      expect(first.ids).toEqual([ids[3], ids[2], ids[1]])
      expect(await told({ limit: 3, before: first.older })).toEqual({ ids: [ids[0]], older: null })
      expect((await told({ agent: 'eve' })).ids).toEqual([ids[1]])
      expect((await told({ keyId: 'key-eve' })).ids).toEqual([ids[1]])
      expect((await told({ filter: { ...filter, project: 'p' } })).ids).toEqual([ids[0]])
      expect((await told({ filter: { ...filter, actions: ['deleted'] } })).ids).toEqual([])
      expect((await told({}, bob())).ids).toEqual([ids[3], ids[1], ids[0]])
      expect((await told({}, freshPrincipal())).ids).toEqual([])
      const before = made.costs.roundTrips
      await told({})
      expect(made.costs.roundTrips - before).toBe(1)
    })

    it('returns the newest changes first, and where to continue', async () => {
      const ids = [
        await save({ text: 'one' }),
        await save({ text: 'two' }),
        await save({ metadata: { audience: 'private' } }),
      ]
      await made.entries.delete(ada, { ids: [ids[0] as number] })
      const { changes, next } = await feed().latest(ada, 10)
      expect(changes.map(({ action, entryId }) => [action, entryId])).toEqual([
        ['deleted', ids[0]],
        ['stored', ids[2]],
        ['stored', ids[1]],
        ['stored', ids[0]],
      ])
      expect((await feed().latest(ada, 1)).changes).toEqual([changes[0]])
      expect((await feed().latest(bob(), 10)).changes.map(({ entryId }) => entryId)).toEqual([ids[0], ids[1], ids[0]])
      const id = await save({ text: 'three' })
      const whole = { threadId: null, project: null, actions: null }
      const page = await feed().page(ada, whole, next, 10)
      expect(page.changes.map(({ entryId }) => entryId)).toEqual([id])
      expect((await feed().latest(freshPrincipal(), 10)).changes).toEqual([])
    })

    it('costs one round trip each', async () => {
      await save({})
      made.costs.roundTrips = 0
      await Promise.all([overview().activity(ada, asked()), overview().links(ada, 1, 1), feed().latest(ada, 1)])
      expect(made.costs.roundTrips).toBe(1)
    })
  })
}
