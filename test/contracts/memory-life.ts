import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import { createSqlScheduleJournal } from '../../src/adapters/sql/stores/maintenance/schedule-journal'
import { createSqlMemories } from '../../src/adapters/sql/stores/memories/memories'
import { checkTags } from '../../src/domain/entry/draft'
import { unavailable } from '../../src/domain/errors'
import type { Caller } from '../../src/domain/identity/scope'
import { MEMORY_TYPES } from '../../src/domain/recall/memory'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Embedder } from '../../src/ports/models'
import { createSchedule } from '../../src/services/maintenance/schedule'
import { scheduleSteps } from '../../src/services/maintenance/steps'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { createStoreEntries } from '../../src/services/writing/entries/store-entries'
import { createUpdateEntries } from '../../src/services/writing/entries/update-entries'
import { createMemoryService, type MemoryDraft } from '../../src/services/writing/memories/memories'
import { deleting } from '../support/deleting'
import { freshPrincipal, LIMITS, type TestClock } from '../support/scope'
import type { Ground } from './keeping/world'
import { keepingWorld } from './keeping/world'

const DAY = 86_400_000

/** Answers for a given time. */
export class Fragile implements Embedder {
  readonly provider = 'local'
  readonly model = 'fragile'
  readonly dimensions = 2
  broken = false
  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.broken) throw unavailable('no vectors today')
    return texts.map(() => new Float32Array([1, 0]))
  }
}

export function worldOf(
  connection: SqlConnection,
  clock: TestClock,
  embedder: Fragile,
  onEmbeddingFailure: 'fail' | 'defer',
) {
  const entries = createSqlEntryStore(connection, createAnalyzer('english'), clock, new Map())
  const generate = createGenerate({
    embedder,
    summarizer: null,
    chunking: null,
    onEmbeddingFailure,
    minContentLength: 0,
  })
  const never = async (): Promise<never> => {
    throw new Error('no images here')
  }
  const images = { put: never, get: never, delete: never, list: never } as never
  const outbox = { queueUnused: async () => 0 }
  const writing = { entries, images, outbox, limits: LIMITS, generate }
  return createMemoryService({
    ...{ memories: createSqlMemories(connection, clock), entries, generate },
    storeEntries: createStoreEntries(writing),
    updateEntries: createUpdateEntries(writing),
    deleteEntries: deleting(entries),
  })
}

/** Effects of time, use and quotas on memories (fabric contract §2). */
export function memoryLifeContract(name: string, make: () => Promise<Ground>): void {
  describe(`${name} keeps memories in layers`, () => {
    let ground: Ground
    let clock: TestClock
    let embedder: Fragile
    let memories: ReturnType<typeof worldOf>
    let ada: Caller
    beforeEach(async () => {
      ground = await make()
      clock = ground.clock
      embedder = new Fragile()
      memories = worldOf(ground.connection, clock, embedder, 'fail')
      ada = freshPrincipal()
    })

    let stored = 0
    const store = (draft: Partial<MemoryDraft> = {}) =>
      memories.store(ada, { type: 'decision', content: `memory ${++stored}`, metadata: {}, ...draft })
    const listed = async (layer: 1 | 2 | 3) => {
      const query = { layer, kinds: null, tags: [], limit: 100, offset: 0 }
      const page = await memories.list(ada, null, query, 1_000_000)
      expect(page.total).toBe(page.memories.length)
      return page.memories.map(({ id }) => id)
    }
    const rows = async (what: ReturnType<typeof sql>) => (await ground.connection.batch([what]))[0] ?? []
    /** Fills a project with working memories by SQL. */
    const crowd = (project: string, count: number) =>
      ground.connection.batch(
        [
          sql`
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(count))})
            INSERT INTO entries (org, thread_id, source, layer, project, created_at, updated_at, created_by, text_hash,
              bytes, text_words, text, layer_expires_at)
            SELECT CAST(${ada.org} AS TEXT), CAST(${`project:${project}`} AS TEXT), 'agent', 1, CAST(${project} AS TEXT),
              CAST(${clock.ms} AS bigint), CAST(${clock.ms} AS bigint), 'key-1', 'h', 1, 1, 'x',
              CAST(${clock.ms + DAY} AS bigint) FROM n`,
        ],
        { org: ada.org },
      )
    /** Runs decay over everything, in rounds of a few. */
    const decay = async () => {
      const retention = createSqlRetention(ground.connection, clock)
      let archived = 0
      for (let after: number | null = 0; after !== null; ) {
        const round: { archived: number; last: number | null } = await retention.archiveDecayed(after, 3)
        archived += round.archived
        after = round.last
      }
      return archived
    }

    it('[FABRIC-27] ends a working memory at its second, in every tool and count', async () => {
      const { id } = await store({ ttl: 60 })
      // A pin keeps from eviction, not from the end.
      const { id: pinned } = await store({ ttl: 60, pinned: true })
      clock.advance(59_999)
      expect(await listed(1)).toEqual([pinned, id])
      expect(await memories.get(ada, null, pinned)).toMatchObject({ pinned: true })
      // A read does not make it last longer.
      expect((await memories.get(ada, null, id))?.accessCount).toBe(1)
      clock.advance(1)
      expect(await listed(1)).toEqual([])
      expect(await memories.count(ada, null)).toEqual([])
      expect([await memories.get(ada, null, id), await memories.get(ada, null, pinned)]).toEqual([null, null])
      await expect(memories.promote(ada, null, id, 2)).rejects.toMatchObject({ code: 'not_found' })
      await expect(memories.delete(ada, null, id)).rejects.toMatchObject({ code: 'not_found' })
      await createSqlRetention(ground.connection, clock).expireEntries(1_000)
      expect(await rows(sql`SELECT id FROM entries WHERE id IN (${id}, ${pinned})`)).toEqual([])
    })

    it('[FABRIC-38, FABRIC-160] keeps links through promotions, by any author', async () => {
      const { id: target } = await store({ layer: 2 })
      const { id } = await store({ ttl: 60, metadata: { references: { context_ids: [target] }, depends_on: [target] } })
      const { id: above } = await store({ layer: 2, metadata: { supersedes: [id] } })
      await ground.connection.batch([
        sql`INSERT INTO links (org, from_id, relation, to_id, origin) VALUES (${ada.org}, ${id}, 'supports', ${above}, 'remember')`,
      ])
      const links = () =>
        rows(sql`SELECT from_id, relation, to_id, origin FROM links WHERE org = ${ada.org} ORDER BY from_id, relation`)
      const before = await links()
      expect(before).toHaveLength(4)
      for (const layer of [2, 3] as const) {
        await memories.promote(ada, null, id, layer)
        expect(await links()).toEqual(before)
      }
    })

    it('[FABRIC-25, FABRIC-161, FABRIC-168] evicts the least recently used unpinned working memory beyond a thousand a project, auto-captured ones first, and names it', async () => {
      const inProject = { metadata: { projectPath: 'full' }, layer: 1 as const }
      const pinned = await store({ ...inProject, pinned: true })
      clock.advance(1)
      const read = await store(inProject)
      clock.advance(1)
      const oldest = await store(inProject)
      clock.advance(1)
      await crowd('full', 997)
      clock.advance(1)
      await memories.get(ada, null, read.id)
      clock.advance(1)
      expect((await store({ ...inProject, metadata: { projectPath: 'other' } })).evicted).toEqual([])
      const captured = { metadata: { ...inProject.metadata, source: 'system_auto' } }
      const noted = await store({ ...inProject, ...captured })
      expect(noted.evicted).toEqual([oldest.id])
      clock.advance(1)
      // Captured entries are evicted before entries stored on purpose, however old those are.
      const { id, evicted } = await store(inProject)
      expect(evicted).toEqual([noted.id])
      for (const kept of [pinned.id, read.id, id]) expect(await memories.get(ada, 'full', kept)).not.toBeNull()
      expect(await memories.get(ada, null, oldest.id)).toBeNull()
      const working = (await memories.count(ada, 'full')).filter(({ layer }) => layer === 1)
      expect(working.reduce((sum, { count }) => sum + count, 0)).toBe(1_000)
    })

    it('names only visible entries of those that were evicted', async () => {
      const project = 'shared'
      const hidden = await store({ layer: 1, metadata: { projectPath: project, audience: 'private' } })
      clock.advance(1)
      await crowd(project, 999)
      const bob = { ...ada, owner: 'bob' }
      const draft = { type: 'decision' as const, content: 'his', layer: 1 as const, metadata: { projectPath: project } }
      expect((await memories.store(bob, draft)).evicted).toEqual([])
      expect(await memories.get(ada, null, hidden.id)).toBeNull()
    })

    it('[FABRIC-161] names evicted memories in the audit row of the store that evicted them', async () => {
      const project = 'audited'
      const first = await store({ layer: 1, metadata: { projectPath: project } })
      clock.advance(1)
      await crowd(project, 999)
      const { id, evicted } = await store({ layer: 1, metadata: { projectPath: project } })
      expect(evicted).toEqual([first.id])
      const audited = await rows(sql`SELECT ids, detail FROM audit WHERE org = ${ada.org} ORDER BY seq`)
      expect(audited.map(({ ids, detail }) => [JSON.parse(ids as string), JSON.parse(detail as string)])).toEqual([
        [[first.id], { stored: 1 }],
        [[id, first.id], { stored: 1, evicted: 1 }],
      ])
    })

    it('[FABRIC-46] answers equal memories that are stored simultaneously with one id, joins the tags of each, and writes an audit row for each', async () => {
      const tagged = (content: string, tags: string[], layer: 1 | 2 = 2) =>
        store({ content, layer, metadata: { projectPath: 'crowd', tags } })
      // In the order of their bytes, which belongs to no language, and with all characters that JSON escapes.
      const names = ['zoë', 'Über', 'a"b', 'back\\slash', 'ünter', 'tab\there', 'z', '🦊', 'ａ', 'bug_fix', 'm1', 'm2']
      for (const layer of [1, 2] as const) {
        const all = await Promise.all(names.map((name) => tagged('at once', [name, 'common'], layer)))
        expect(new Set(all.map(({ id }) => id)).size).toBe(1)
        const id = all[0]?.id as number
        expect(all.filter(({ existing }) => existing)).toHaveLength(11)
        expect(await memories.get(ada, 'crowd', id)).toMatchObject({
          ...{ tags: checkTags([...names, 'common']), version: 12, kind: 'decision' },
        })
        expect(await rows(sql`SELECT tag_kind FROM entries WHERE id = ${id}`)).toEqual([{ tag_kind: 'bug_fix' }])
        await tagged('at once', ['M1'], layer)
        expect(await memories.get(ada, 'crowd', id)).toMatchObject({ version: 12 })
      }
      const noted = await rows(sql`SELECT detail FROM audit WHERE org = ${ada.org} ORDER BY seq`)
      expect(noted.map(({ detail }) => detail)).toEqual(
        [1, 2].flatMap(() => ['{"stored":1}', ...Array.from({ length: 12 }, () => '{"updated":1}')]),
      )
      const many = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `t${from + i}`)
      await tagged('full', many(0, 60))
      const both = await Promise.allSettled([tagged('full', many(30, 90)), tagged('full', many(80, 101))])
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'limit_exceeded' } })
    })

    it('[FABRIC-26, FABRIC-154] stores in layers 1 and 2 without a working embedder, and refuses in layer 3, promotion included', async () => {
      embedder.broken = true
      const kept = await store({ layer: 2 })
      await store({ layer: 1 })
      await expect(store({ layer: 3 })).rejects.toMatchObject({ code: 'unavailable' })
      await expect(memories.promote(ada, null, kept.id, 3)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await memories.get(ada, null, kept.id)).toMatchObject({ layer: 2, version: 1 })
      expect(await rows(sql`SELECT id FROM entries WHERE org = ${ada.org}`)).toHaveLength(2)
      expect(await rows(sql`SELECT key FROM outbox WHERE org = ${ada.org} AND topic = 'embed'`)).toHaveLength(2)
      const patient = worldOf(ground.connection, clock, embedder, 'defer')
      expect((await patient.store(ada, { type: 'decision', content: 'x', metadata: {}, layer: 3 })).layer).toBe(3)
      embedder.broken = false
      await memories.promote(ada, null, kept.id, 3)
      expect(await rows(sql`SELECT id FROM entry_vectors WHERE entry_id = ${kept.id}`)).toHaveLength(1)
    })

    it('[FABRIC-34, FABRIC-161] archives an unread semantic memory once its score is below 0.2, exactly, unless pinned or stored for the user', async () => {
      const idle = await store({ layer: 3 })
      const pinned = await store({ layer: 3, pinned: true })
      const used = await store({ layer: 3 })
      const wanted = await store({ layer: 3, metadata: { source: 'user_explicit' } })
      const project = await store({ layer: 2 })
      clock.advance(45 * DAY)
      await memories.get(ada, null, used.id)
      // 0.3·e^(−d/90) + 0.7·e^(−d/45) falls below 0.2 between these two.
      clock.advance(46.4 * DAY)
      await decay()
      expect(await listed(3)).toEqual([wanted.id, used.id, pinned.id, idle.id])
      clock.advance(0.2 * DAY)
      await decay()
      expect(await listed(3)).toEqual([wanted.id, used.id, pinned.id])
      clock.advance(400 * DAY)
      await decay()
      expect([await listed(3), await listed(2)]).toEqual([[wanted.id, pinned.id], [project.id]])
      expect(await memories.get(ada, null, idle.id)).toMatchObject({ archived: true, version: 1 })
    })

    it('[FABRIC-36, FABRIC-161] shows an archived memory by id alone, and restores it with any update', async () => {
      const { id } = await store({ layer: 3, metadata: { tags: ['kept'] } })
      clock.advance(100 * DAY)
      await decay()
      const gone = [{ layer: 3, kind: 'decision', pinned: false, archived: true, count: 1 }]
      expect([await listed(3), await memories.count(ada, null)]).toEqual([[], gone])
      const back = await memories.update(ada, null, id, { pinned: true })
      expect(back).toMatchObject({ archived: false, pinned: true, tags: ['kept'], version: 2 })
      await memories.update(ada, null, id, { pinned: false })
      await decay()
      expect(await listed(3)).toEqual([id])
      expect(await rows(sql`SELECT accessed_at FROM entries WHERE id = ${id}`)).toEqual([{ accessed_at: clock.ms }])
      clock.advance(100 * DAY)
      await decay()
      expect(await memories.delete(ada, null, id)).toBe(3)
    })

    it('[FABRIC-33] runs decay once in each UTC day, after any number of missed days', async () => {
      const world = keepingWorld(ground)
      const looked: string[] = []
      const steps = scheduleSteps({
        ...world,
        work: world.clean,
        generation: null,
        embedCode: async () => 0,
        changesDays: 30,
        auditDays: 365,
      })
        .filter(({ name }) => name === 'decayed memories')
        .map((step) => ({
          ...step,
          round: async () => {
            looked.push(new Date(clock.ms).toISOString())
            return { done: 0, next: null }
          },
        }))
      const { run } = createSchedule({
        steps,
        journal: createSqlScheduleJournal(ground.connection),
        clock,
        log: () => {},
      })
      const at = async (time: string) => {
        clock.ms = Date.parse(time)
        await run()
      }
      for (const time of ['2027-01-01T23:59', '2027-01-02T00:00', '2027-01-02T23:59', '2027-01-09T00:01'])
        await at(`${time}:00.000Z`)
      expect(looked.map((time) => time.slice(0, 10))).toEqual(['2027-01-01', '2027-01-02', '2027-01-09'])
    })

    it('[FABRIC-35, FABRIC-163] counts a get as an access that changes nothing else and leaves no audit row', async () => {
      const { id } = await store({ layer: 2 })
      const logged = () => rows(sql`SELECT seq FROM changes WHERE org = ${ada.org}`)
      const audited = () => rows(sql`SELECT seq FROM audit WHERE org = ${ada.org}`)
      const before = [(await logged()).length, (await audited()).length]
      const first = await memories.get(ada, null, id)
      clock.advance(1000)
      const second = await memories.get(ada, null, id)
      expect([first?.accessCount, second?.accessCount]).toEqual([1, 2])
      expect(second).toEqual({ ...first, accessCount: 2 })
      expect([(await logged()).length, (await audited()).length]).toEqual(before)
    })

    it('[FABRIC-13] lets a narrowed key store and change in its own projects only, and read entries of the whole organization', async () => {
      const { id: homeless } = await store({ layer: 2 })
      const { id: foreign } = await store({ layer: 3, metadata: { projectPath: 'zeus' } })
      const bob = freshPrincipal({ org: ada.org, projects: ['apollo'] })
      const stored = await memories.store(bob, { type: 'decision', content: 'x', metadata: {} })
      expect((await memories.get(bob, 'apollo', stored.id))?.project).toBe('apollo')
      for (const id of [foreign, homeless]) {
        await expect(memories.update(bob, null, id, { pinned: true })).rejects.toMatchObject({ code: 'not_found' })
        await expect(memories.delete(bob, null, id)).rejects.toMatchObject({ code: 'not_found' })
      }
      const denied = memories.store(bob, { type: 'decision', content: 'x', metadata: { projectPath: 'zeus' } })
      await expect(denied).rejects.toMatchObject({ code: 'forbidden', message: 'Project access denied: zeus' })
      const two = freshPrincipal({ org: ada.org, projects: ['apollo', 'zeus'] })
      const unnamed = memories.store(two, { type: MEMORY_TYPES[0], content: 'x', metadata: {} })
      await expect(unnamed).rejects.toMatchObject({ code: 'invalid_input' })
      expect((await memories.get(two, 'apollo', foreign))?.layer).toBe(3)
    })
  })
}
