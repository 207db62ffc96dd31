import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { CheckedUpdate } from '../../src/domain/entry/update'
import { applyUpdates } from '../../src/domain/entry/update'
import { type FeedChange, type FeedFilter, UNFILTERED_FEED } from '../../src/domain/history/feed'
import type { Caller, Scope } from '../../src/domain/identity/scope'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { ChangeFeed, FeedStart } from '../../src/ports/history'
import { narrowed } from '../support/bounded'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

const SEED = 20261122

export interface FeedUnderTest {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly clock: TestClock
  readonly costs: { roundTrips: number; rowsRead: number }
}

/** A feed reader's copy of the lists: ids with their versions. */
type Known = Map<number, number>

/** The feed as one reader has it, over a real database (history contract §4). */
export function changeFeedContract(name: string, make: () => FeedUnderTest): void {
  describe(`${name} feeds its readers`, () => {
    let made: FeedUnderTest
    let feed: ChangeFeed
    let ada: Caller
    beforeEach(() => {
      made = make()
      feed = createSqlChangeFeed(made.connection, made.clock)
      ada = freshPrincipal()
    })

    const save = async (by: Caller, draft: Partial<EntryDraft> = {}): Promise<number> => {
      const [saved] = await made.entries.save(by, [await entryOf(by, draft)], { dedupe: false })
      return saved?.id as number
    }
    const update = async (by: Caller, id: number, change: Omit<CheckedUpdate, 'id'>) => {
      const [entry] = await made.entries.read(by, [id])
      if (entry === undefined) throw new Error(`${id} is not there`)
      await made.entries.change(by, [await applyUpdates(by, entry, [{ id, ...change }])])
    }
    /** Everything from a start on, in pages of a size, as a reader follows it. */
    async function follow(scope: Scope, from: FeedStart, filter: FeedFilter = UNFILTERED_FEED, size = 50) {
      const changes: FeedChange[] = []
      let page = await feed.page(scope, filter, from, size)
      changes.push(...page.changes)
      while (page.more) {
        page = await feed.page(scope, filter, page.next, size)
        changes.push(...page.changes)
      }
      return { changes, next: page.next }
    }
    const told = async (scope: Scope, from: FeedStart = 'start', filter = UNFILTERED_FEED) =>
      (await follow(scope, from, filter)).changes.map(({ action, entryId }) => `${action} ${entryId}`)

    it('[HISTORY-46] lists one thread, one project or some actions alone, with entries that moved in and out as stored and deleted', async () => {
      const [a, b] = [
        await save(ada, { threadId: 'a', metadata: { project: 'p' } }),
        await save(ada, { threadId: 'b' }),
      ]
      await update(ada, b, { metadataPatch: { project: 'p' } })
      await update(ada, a, { metadataPatch: { project: 'q' } })
      await update(ada, a, { text: 'another' })
      await made.entries.delete(ada, { ids: [a] })
      const of = (filter: Partial<FeedFilter>) => told(ada, 'start', { ...UNFILTERED_FEED, ...filter })
      expect(await of({ threadId: 'a' })).toEqual([`stored ${a}`, `updated ${a}`, `updated ${a}`, `deleted ${a}`])
      expect(await of({ project: 'p' })).toEqual([`stored ${a}`, `stored ${b}`, `deleted ${a}`])
      expect(await of({ project: 'q' })).toEqual([`stored ${a}`, `updated ${a}`, `deleted ${a}`])
      expect(await of({ actions: ['deleted', 'stored'] })).toEqual([`stored ${a}`, `stored ${b}`, `deleted ${a}`])
      expect(await of({ threadId: 'none' })).toEqual([])
    })

    it('returns in parts of the log the same as at once, where a database would block other requests', async () => {
      const { dialect, batch } = made.connection
      if (dialect.bounded === null) return
      for (let i = 0; i < 10; i++) await save(ada, { threadId: i % 5 === 0 ? 'rare' : 'often' })
      let [trips, rests] = [0, 0]
      const counted: typeof batch = (...given) => {
        trips++
        return batch(...given)
      }
      const walking = { ...made.connection, dialect: narrowed(dialect, { entries: 3 }), batch: counted }
      notePauses(() => rests++)
      const inParts = createSqlChangeFeed(walking, made.clock)
      const { next: end } = await feed.page(ada, UNFILTERED_FEED, 'now', 1)
      for (const threadId of ['rare', 'often', 'none', null])
        for (const limit of [1, 2, 50])
          for (const start of ['start', 'now', end - 9, end - 3, end] as const) {
            const filter = { ...UNFILTERED_FEED, threadId }
            const atOnce = await feed.page(ada, filter, start, limit)
            expect(await inParts.page(ada, filter, start, limit)).toEqual(atOnce)
          }
      ;[trips, rests] = [0, 0]
      await inParts.page(ada, { ...UNFILTERED_FEED, threadId: 'none' }, 'start', 50)
      expect([trips, rests]).toEqual([4, 3])
    })

    it('[HISTORY-42] shows the start of a text as long as its reader sees the entry, and nothing of a deleted one', async () => {
      const kept = await save(ada, { text: `${'word '.repeat(60)}end` })
      const gone = await save(ada, { text: 'soon gone' })
      const hidden = await save(ada, { text: 'shown and then not' })
      await update(ada, hidden, { metadata: { audience: 'private' } })
      await made.entries.delete(ada, { ids: [gone] })
      const eve = { ...ada, owner: 'eve' }
      const { changes } = await follow(eve, 'start')
      const previews = changes.map(({ action, entryId, preview }) => [action, entryId, preview])
      expect(previews).toEqual([
        ['stored', kept, `${'word '.repeat(31)}...`.replace(' ...', '...')],
        ['stored', gone, ''],
        ['stored', hidden, ''],
        ['deleted', hidden, ''],
        ['deleted', gone, ''],
      ])
      expect(changes.every(({ preview }) => [...preview].length <= 160)).toBe(true)
      const own = (await follow(ada, 'start')).changes.filter(({ entryId }) => entryId === hidden)
      expect(own.map(({ action, preview }) => [action, preview])).toEqual([
        ['stored', 'shown and then not'],
        ['updated', 'shown and then not'],
      ])
    })

    it('[HISTORY-44] never lists diary pages', async () => {
      const page = await save(ada, { metadata: { diary: true } })
      await update(ada, page, { text: 'dear diary' })
      await made.entries.delete(ada, { ids: [page] })
      expect(await told(ada)).toEqual([])
      const left = await save(ada)
      await update(ada, left, { metadata: { diary: true } })
      expect(await told(ada)).toEqual([`stored ${left}`, `deleted ${left}`])
    })

    it('[HISTORY-34] lists only id, action and time of erased entries, and matches them to no filter', async () => {
      const id = await save(ada, { threadId: 'secret', metadata: { project: 'p', agent_name: 'scout' } })
      await made.entries.delete(ada, { ids: [id] })
      await made.connection.batch(
        [
          sql`UPDATE changes SET erased = 1, thread_id = NULL, was_thread = NULL, kind = NULL, was_kind = NULL, agent = NULL
            WHERE org = ${ada.org} AND entry_id = ${id}`,
        ],
        { org: ada.org },
      )
      const { changes } = await follow(ada, 'start')
      expect(changes.map(({ action }) => action)).toEqual(['stored', 'deleted'])
      for (const change of changes)
        expect(change).toMatchObject({ threadId: null, project: null, kind: null, agent: null, preview: '' })
      for (const filter of [{ threadId: 'secret' }, { project: 'p' }])
        expect(await told(ada, 'start', { ...UNFILTERED_FEED, ...filter })).toEqual([])
      // Its readers have not changed: a key of another project never learns that it existed.
      expect(await told({ ...ada, projects: ['q'] })).toEqual([])
      expect(await told({ ...ada, projects: ['p'] })).toHaveLength(2)
    })

    it('[HISTORY-59] reads a page of the feed in one round trip, for any size of other organizations', async () => {
      for (let i = 0; i < 3; i++) await save(ada)
      const cost = async () => {
        made.costs.roundTrips = made.costs.rowsRead = 0
        await feed.page(ada, UNFILTERED_FEED, 'start', 2)
        await feed.page(ada, UNFILTERED_FEED, 'now', 2)
        return { roundTrips: made.costs.roundTrips, rowsRead: made.costs.rowsRead }
      }
      const before = await cost()
      expect(before.roundTrips).toBe(2)
      const others = await Promise.all(Array.from({ length: 60 }, () => entryOf(freshPrincipal())))
      const eve = freshPrincipal()
      await made.entries.save(eve, others, { dedupe: false })
      expect(await cost()).toEqual(before)
    })

    it('[HISTORY-41] lists each change once, in the order of commits and without gaps, while many clients write', async () => {
      const [writers, rounds] = [8, 10]
      const acknowledged: string[] = []
      let busy = writers
      async function write(writer: number): Promise<void> {
        // Each has adapters of its own, as every request does: on PostgreSQL that is a connection.
        const { entries } = make()
        const next = seeded(SEED + writer)
        const own: number[] = []
        for (let round = 0; round < rounds; round++) {
          const [die, id] = [next(), own[Math.floor(next() * own.length)]]
          if (id === undefined || die < 0.5) {
            const drafts = Array.from({ length: 1 + Math.floor(next() * 3) }, () => entryOf(ada, { threadId: 't' }))
            for (const saved of await entries.save(ada, await Promise.all(drafts), { dedupe: false })) {
              own.push(saved.id)
              acknowledged.push(`stored ${saved.id} 1`)
            }
          } else if (die < 0.8) {
            const patched = await entries.patch(ada, id, { [`k${round}`]: 1 })
            acknowledged.push(`updated ${id} ${patched?.version}`)
          } else {
            const [entry] = await entries.read(ada, [id])
            await entries.delete(ada, { ids: [id] })
            own.splice(own.indexOf(id), 1)
            acknowledged.push(`deleted ${id} ${(entry?.version ?? 0) + 1}`)
          }
        }
        busy--
      }
      const shown = ({ action, entryId, version }: FeedChange) => `${action} ${entryId} ${version}`
      const read: FeedChange[] = []
      async function reader(): Promise<void> {
        const own = createSqlChangeFeed(make().connection, made.clock)
        for (let from: FeedStart = 'start', last = false; ; ) {
          const ended = busy === 0
          const page = await own.page(ada, UNFILTERED_FEED, from, 7)
          read.push(...page.changes)
          from = page.next
          if (last && !page.more) return
          last = ended
        }
      }
      await Promise.all([reader(), ...Array.from({ length: writers }, (_, i) => write(i))])
      const whole = (await follow(ada, 'start', UNFILTERED_FEED, 200)).changes
      expect(read.map(shown)).toEqual(whole.map(shown))
      expect(read.map(shown).toSorted()).toEqual(acknowledged.toSorted())
      expect(read.map(({ position }) => position)).toEqual(
        [...new Set(read.map(({ position }) => position))].toSorted((a, b) => a - b),
      )
    })

    it('[HISTORY-41, HISTORY-54] combines a listing and the feed from an earlier cursor into the state that lists show', async () => {
      const readers: Scope[] = [ada, { ...ada, owner: 'eve' }, { ...ada, projects: ['p'] }]
      const next = seeded(SEED)
      const ids: number[] = []
      const list = async (scope: Scope, store = made.entries): Promise<Known> => {
        const page = await store.page(scope, EVERYTHING, { limit: 1000, offset: 0, previewLength: 1 })
        return new Map(page.entries.map(({ id, version }) => [id, version]))
      }
      async function write(): Promise<void> {
        const { entries } = make()
        for (let round = 0; round < 12; round++) {
          const metadata = { project: next() < 0.5 ? 'p' : 'q', ...(next() < 0.3 ? { audience: 'private' } : {}) }
          const die = next()
          const id = ids[Math.floor(next() * ids.length)]
          if (id === undefined || die < 0.5) {
            const [saved] = await entries.save(ada, [await entryOf(ada, { metadata })], { dedupe: false })
            ids.push(saved?.id as number)
          } else if (die < 0.8) {
            const [entry] = await entries.read(ada, [id])
            if (entry === undefined) continue
            const change = await applyUpdates(ada, entry, [{ id, metadata }])
            // Another may have come first; then nothing was changed.
            await entries.change(ada, [change]).catch((error) => expect(error).toMatchObject({ code: 'conflict' }))
          } else await entries.delete(ada, { ids: [id] })
        }
      }
      /** Starts at any moment: a cursor, a listing, and then the feed to its end. */
      const views: { scope: Scope; from: number; known: Known }[] = []
      async function begin(scope: Scope): Promise<void> {
        const own = make()
        for (let i = 0; i < 4; i++) {
          const { next: from } = await createSqlChangeFeed(own.connection, made.clock).page(
            scope,
            UNFILTERED_FEED,
            'now',
            1,
          )
          views.push({ scope, from, known: await list(scope, own.entries) })
        }
      }
      await Promise.all([...readers.map(begin), write(), write(), write()])
      for (const { scope, from, known } of views) {
        for (const { action, entryId, version } of (await follow(scope, from)).changes)
          if (action === 'deleted') known.delete(entryId)
          else known.set(entryId, version)
        expect([...known].toSorted()).toEqual([...(await list(scope))].toSorted())
      }
    })

    it('[HISTORY-45] lists each change as its reader could see it at the time, and nothing that they could not', async () => {
      const next = seeded(SEED)
      const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
      const orgs = [ada, freshPrincipal()]
      const owners = ['ada', 'eve']
      const writer = () => ({ ...pick(orgs), owner: pick(owners) })
      const projects = [null, 'p', 'q']
      const metadata = () => ({
        ...(next() < 0.5 ? { audience: pick(['org', 'private'] as const) } : {}),
        ...(next() < 0.1 ? { diary: true } : {}),
        project: pick(projects),
      })
      const sights: Pick<Scope, 'owner' | 'projects'>[] = [
        { owner: 'ada', projects: null },
        { owner: 'eve', projects: ['p'] },
        { owner: null, projects: [] },
        { owner: 'ada', projects: ['p', 'q'] },
      ]
      const scopes: Scope[] = orgs.flatMap(({ org }) => sights.map((sight) => ({ org, ...sight })))
      const listed = async (scope: Scope): Promise<Known> => {
        const { entries } = await made.entries.page(scope, EVERYTHING, { limit: 1000, offset: 0, previewLength: 1 })
        return new Map(entries.map(({ id, version }) => [id, version]))
      }
      /** The lists of each scope before and after every step: the model of the feed. */
      const model = new Map(scopes.map((scope) => [scope, { before: new Map() as Known, told: [] as string[] }]))
      const alive: { id: number; by: Caller }[] = []
      for (let step = 0; step < 30; step++) {
        const die = next()
        const target = alive.length > 0 ? pick(alive) : null
        if (target === null || die < 0.45) {
          const by = writer()
          alive.push({ id: await save(by, { threadId: pick(['t', 'u']), metadata: metadata() }), by })
        } else if (die < 0.85) await update(target.by, target.id, { metadata: metadata() })
        else {
          await made.entries.delete(target.by, { ids: [target.id] })
          alive.splice(alive.indexOf(target), 1)
        }
        const looks = await Promise.all([...model].map(async ([scope, state]) => [state, await listed(scope)] as const))
        for (const [state, after] of looks) {
          for (const [id, version] of after)
            if (!state.before.has(id)) state.told.push(`stored ${id}`)
            else if (state.before.get(id) !== version) state.told.push(`updated ${id}`)
          for (const id of state.before.keys()) if (!after.has(id)) state.told.push(`deleted ${id}`)
          state.before = after
        }
      }
      for (const [scope, { told: expected }] of model) {
        expect(await told(scope)).toEqual(expected)
        const paged = await follow(scope, 'start', UNFILTERED_FEED, 3)
        expect(paged.changes.map(({ action, entryId }) => `${action} ${entryId}`)).toEqual(expected)
        // No change of an invisible place, not even of the one that an entry has left.
        for (const { project } of paged.changes)
          expect(scope.projects === null || project === null || scope.projects.includes(project)).toBe(true)
      }
    })
  })
}
