import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Row } from '../../src/adapters/sql/core/connection'
import { createSqlMemories } from '../../src/adapters/sql/stores/memories/memories'
import type { Layer } from '../../src/domain/entry/entry'
import type { Caller } from '../../src/domain/identity/scope'
import { kindsOfWord, MEMORY_TYPES } from '../../src/domain/recall/memory'
import { EVERYTHING } from '../../src/domain/search/filter'
import { narrowed } from '../support/bounded'
import { freshPrincipal } from '../support/scope'
import { seeded } from '../support/seeded'
import type { Ground } from './keeping/world'
import { Fragile, worldOf } from './memory-life'

const LAYERS = [1, 2, 3] as const
const PROJECTS = ['p', 'q', null] as const
const TAGS = ['x', 'y', 'z'] as const

/** Lists, their totals and counts match the rows after any change (fabric contract §3). */
export function memoryListContract(name: string, make: () => Promise<Pick<Ground, 'connection' | 'clock'>>): void {
  describe(`${name} lists and counts memories`, () => {
    it('names with a memory the newest one that supersedes it, of those that a call with this project sees, in every kind of read', async () => {
      const { connection, clock } = await make()
      const ada = freshPrincipal()
      const service = worldOf(connection, clock, new Fragile(), 'fail')
      const memories = createSqlMemories(connection, clock)
      const store = async (projectPath: string, metadata: object = {}, layer: Layer = 2) =>
        (
          await service.store(ada, {
            ...{
              type: 'decision',
              content: `${layer} ${JSON.stringify(metadata)}`,
              layer,
              metadata: { projectPath, ...metadata },
            },
          })
        ).id
      const old = await store('p', { title: 'old', tags: ['x'] })
      const later = await store('p', { title: 'later', supersedes: [old] })
      const elsewhere = await store('q', { supersedes: [old] })
      const query = { layer: 2, kinds: null, tags: [], limit: 9, offset: 0 } as const
      const named = async (project: string | null) => {
        const read = [
          await memories.access(ada, project, old),
          ...(await memories.shown(ada, project, EVERYTHING, [old], 9_999)).memories,
          ...(await memories.list(ada, project, query, 9_999)).memories,
          ...(await memories.list(ada, project, { ...query, kinds: ['decision'] }, 9_999)).memories,
          ...(await memories.list(ada, project, { ...query, tags: ['x'] }, 9_999)).memories,
        ]
        const ofOld = read.filter((memory) => memory?.id === old)
        expect([ofOld.length, read.find((memory) => memory?.id === later)?.supersededBy]).toEqual([5, undefined])
        return [...new Set(ofOld.map((memory) => memory?.supersededBy))]
      }
      expect([await named('p'), await named(null)]).toEqual([[later], [elsewhere]])
      const ofOrg = await store('q', { supersedes: [old] }, 3)
      expect(await named('p')).toEqual([ofOrg])
      await service.delete(ada, null, ofOrg)
      await service.delete(ada, null, later)
      expect(await named('p')).toEqual([undefined])
      await connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${old}`])
      const archived = await memories.list(ada, null, { ...query, archived: true }, 9_999)
      expect(archived.memories.map(({ supersededBy }) => supersededBy)).toEqual([elsewhere])
    })

    it('[FABRIC-51, FABRIC-158] lists and counts memories exactly after any change of layer, project, type, tags, reader, pin, expiry, archive or deletion', async () => {
      const { connection, clock } = await make()
      const ada = freshPrincipal()
      const service = worldOf(connection, clock, new Fragile(), 'fail')
      const memories = createSqlMemories(connection, clock)
      const rows = async (what: ReturnType<typeof sql>): Promise<Row[]> => (await connection.batch([what]))[0] ?? []
      const next = seeded(20_261_122)
      const below = (most: number): number => Math.floor(next() * most)
      const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T
      const ids: number[] = []
      const metadata = () => ({
        ...{ projectPath: pick(PROJECTS) ?? null, tags: TAGS.filter(() => below(2) === 0), weight: 1 + below(5) },
        ...(below(8) === 0 ? { audience: 'private' } : {}),
        ...(below(8) === 0 ? { expires_at: new Date(clock.ms + 1_000 * below(60)).toISOString() } : {}),
      })
      const moves: (() => Promise<unknown>)[] = [
        async () => {
          const { id } = await service.store(
            { ...ada, owner: pick(['ada', 'bob']) },
            {
              ...{ type: pick(MEMORY_TYPES), content: `memory ${ids.length}`, pinned: below(4) === 0 },
              ...{ layer: pick(LAYERS), metadata: metadata() as never },
            },
          )
          ids.push(id)
        },
        () => service.update(ada, null, pick(ids), { metadata: metadata() as never }),
        () => service.update(ada, null, pick(ids), { pinned: below(2) === 0, tags: TAGS.filter(() => below(2) === 0) }),
        () => service.promote(ada, null, pick(ids), pick([2, 3])),
        () => service.delete(ada, null, pick(ids)),
        // Effects of the life cycle, and of a given kind.
        () => rows(sql`UPDATE entries SET archived = 1 - archived WHERE id = ${pick(ids)}`),
        () => rows(sql`UPDATE entries SET named_kind = ${pick(['gotcha', 'rule', 'session'])} WHERE id = ${pick(ids)}`),
        async () => clock.advance(1_000 * below(20)),
      ]
      for (let step = 0; step < 120; step++)
        // Many are refused: for deleted entries, or of layer 1.
        await (moves[step < 40 ? 0 : below(moves.length)] as () => Promise<unknown>)().catch(() => {})
      // Deleted by a call that has not yet removed it.
      await rows(sql`
        INSERT INTO pending_deletes (entry_id, org, part, change_id, retain_versions, erase_history)
        SELECT id, org, 1, 'call', 0, 0 FROM entries WHERE org = ${ada.org} AND id % 7 = 0`)

      const all = await rows(sql`
        SELECT id, layer, project, kind, pinned, expires_at, listed, reader, tags, created_at FROM entries
        WHERE org = ${ada.org} AND id % 7 <> 0`)
      const seenBy = ({ owner, projects }: Caller, project: string | null) =>
        all
          .filter((row) => Number(row.listed) === 1 && (row.expires_at === null || Number(row.expires_at) > clock.ms))
          .filter(({ reader }) => reader === '' || reader === owner)
          .filter((row) => projects === null || row.project === null || projects.includes(row.project as string))
          .filter((row) => project === null || row.layer === 3 || row.project === project)
          .sort((a, b) => Number(b.created_at) - Number(a.created_at) || Number(b.id) - Number(a.id))
      for (const by of [
        ada,
        { ...ada, owner: 'bob' },
        { ...ada, owner: null },
        { ...ada, projects: ['q'] },
      ] as Caller[])
        for (const project of ['p', 'q', null]) {
          const seen = seenBy(by, project)
          const counted = (await memories.count(by, project)).filter(({ archived }) => !archived)
          expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(seen.length)
          for (const { layer, kind, pinned, count } of counted)
            expect(
              seen.filter((r) => r.layer === layer && r.kind === kind && Boolean(r.pinned) === pinned),
            ).toHaveLength(count)
          for (const layer of LAYERS as readonly Layer[]) {
            const kinds = pick([null, kindsOfWord('bug_fix'), kindsOfWord('scratchpad')])
            const tags = pick([[], ['x'], ['y', 'z', 'none']])
            const wanted = seen
              .filter((row) => Number(row.layer) === layer && (kinds === null || kinds.includes(row.kind as never)))
              .filter((row) => tags.length === 0 || tags.some((tag) => JSON.parse(row.tags as string).includes(tag)))
              .map(({ id }) => Number(id))
            const page = await memories.list(by, project, { layer, kinds, tags, limit: 3, offset: 2 }, 1_000_000)
            expect([page.total, page.memories.map(({ id }) => id)]).toEqual([wanted.length, wanted.slice(2, 5)])
            if (tags.length === 0) continue
            const gone = await memories.list(by, project, { layer, kinds, tags, limit: 3, offset: 2 }, 1_000_000)
            expect(gone).toEqual(page)
          }
        }
      expect(all.length).toBeGreaterThan(20)
      await rows(sql`DELETE FROM pending_deletes WHERE org = ${ada.org}`)
      await connection.batch([sql`DELETE FROM entries WHERE org = ${ada.org}`], { org: ada.org })
      expect(await rows(sql`SELECT kind FROM layer_counters WHERE org = ${ada.org}`)).toEqual([])
    })

    it('refuses tags of more memories than one statement can scan, and suggests another query', async () => {
      const { connection, clock } = await make()
      const ada = freshPrincipal()
      const service = worldOf(connection, clock, new Fragile(), 'fail')
      for (let i = 0; i < 10; i++) {
        const tags = ['all', ...(i % 2 === 0 ? ['half'] : [])]
        const metadata = { projectPath: PROJECTS[i % 3], tags } as never
        await service.store(ada, { type: 'fact' as never, content: `memory ${i}`, pinned: false, layer: 2, metadata })
      }
      const { dialect } = connection
      // Ten rows of tags.
      const narrow = { ...connection, dialect: narrowed(dialect, { entries: 1 }) }
      const memories = createSqlMemories(narrow, clock)
      const told = async (tags: readonly string[], project: string | null = null) => {
        const query = { layer: 2 as const, kinds: null, tags, limit: 2, offset: 1 }
        const { total, memories: page } = await memories.list(ada, project, query, 1_000_000)
        return { total, page: page.map(({ text }) => text) }
      }
      expect(await told(['all'])).toEqual({ total: 10, page: ['memory 8', 'memory 7'] })
      expect(await told(['half'])).toEqual({ total: 5, page: ['memory 6', 'memory 4'] })
      expect(await told(['all', 'half'], 'p')).toEqual({ total: 4, page: ['memory 6', 'memory 3'] })
      const both = told(['all', 'half'])
      if (dialect.bounded === null) expect(await both).toMatchObject({ total: 10 })
      else
        await expect(both).rejects.toMatchObject({
          code: 'limit_exceeded',
          message: expect.stringContaining('fewer tags'),
        })
    })
  })
}
