import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../src/domain/identity/scope'
import type { MemoryType } from '../../src/domain/recall/memory'
import type { SummarizeRequest } from '../../src/services/writing/memories/summarize'
import { freshPrincipal } from '../support/scope'
import { type RecallGround, recallWorld } from './recall-world'

const DAY = 86_400_000

/** Entries that a summary includes, entries that remain, and failures (fabric contract §8). */
export function summarizeContract(name: string, make: () => RecallGround): void {
  describe(`${name} summarizes memories`, () => {
    let ground: RecallGround
    let ada: Caller
    let world: ReturnType<typeof recallWorld>
    beforeEach(() => {
      ground = make()
      ada = freshPrincipal({ action: 'context_summarize', tool: 'context_summarize' })
      world = recallWorld(ground, ada)
    })

    const summarize = (given: Partial<SummarizeRequest> = {}, by = ada) =>
      world.summarize(by, {
        ...{ project: 'p', layer: 2, olderThanDays: 30, targetTokens: 1_000, focusTypes: [] },
        ...{ includePatterns: true, includeDecisions: true, ...given },
      })
    const inProject = { metadata: { projectPath: 'p' } } as const
    const rows = async (what: ReturnType<typeof sql>) => (await ground.connection.batch([what]))[0] ?? []
    const listed = async (layer: 2 | 3 = 2) => {
      const query = { layer, kinds: null, tags: [], limit: 100, offset: 0 }
      return (await world.service.list(ada, 'p', query, 1_000_000)).memories.map(({ id }) => id)
    }

    it('[FABRIC-110, FABRIC-161] stores one summary of old memories of a project, links it to them and archives them, in one commit with one audit row', async () => {
      const madeAt = new Map<number, string>()
      const timeOf = (id: number) => madeAt.get(id)
      const first = await world.store('We deploy on Tuesdays.', inProject)
      madeAt.set(first, new Date(ground.clock.ms).toISOString())
      const second = await world.store('The cache was stale.', { ...inProject, type: 'bug_fix' })
      madeAt.set(second, new Date(ground.clock.ms).toISOString())
      ground.clock.advance(31 * DAY)
      const fresh = await world.store('The new way', inProject)
      const cost = await world.cost(async () => {
        const { id, count, summary } = await summarize()
        expect([count, await listed()]).toEqual([2, [id, fresh]])
        expect(summary).toContain('2 memories')
        const memory = await world.service.get(ada, 'p', id as number)
        expect(memory).toMatchObject({ kind: 'summary', layer: 2, project: 'p', source: 'agent', tags: ['summary'] })
        expect(memory?.text).toBe(summary)
        expect(memory?.metadata).toMatchObject({
          ...{ source: 'system_auto', summarizedCount: 2, originalIds: [String(first), String(second)] },
          dateRange: { from: timeOf(first), to: timeOf(second) },
        })
        const links = await rows(sql`SELECT relation, to_id, origin FROM links WHERE from_id = ${id} ORDER BY to_id`)
        expect(links.map((link) => [link.relation, Number(link.to_id), link.origin])).toEqual([
          ['derived_from', first, 'system'],
          ['derived_from', second, 'system'],
        ])
        const [audit] = await rows(sql`SELECT ids, detail FROM audit WHERE org = ${ada.org} ORDER BY seq DESC LIMIT 1`)
        expect(JSON.parse(audit?.ids as string)).toEqual([id, first, second])
        expect(JSON.parse(audit?.detail as string)).toEqual({ stored: 1, archived: 2 })
      })
      expect(cost.embedded).toBe(1)
      for (const id of [first, second])
        expect(await world.service.get(ada, 'p', id)).toMatchObject({ archived: true, version: 1 })
      // Found by its words, and never summarized again.
      expect((await world.page('Tuesdays', { mode: 'keyword', project: 'p' })).total).toBe(1)
      ground.clock.advance(60 * DAY)
      expect((await summarize()).count).toBe(1)
      expect((await summarize()).count).toBe(0)
    })

    it('[FABRIC-106, FABRIC-153] summarizes unpinned memories of the six types by all their kinds, of the requested layer, thread and age, and no summary again', async () => {
      const old = await world.store('old', inProject)
      await world.store('pinned', { ...inProject, pinned: true })
      await world.store('elsewhere', { metadata: { projectPath: 'q' } })
      await world.store('nowhere')
      await world.store('of all', { ...inProject, layer: 3 })
      await world.store('a note', { metadata: { projectPath: 'p', kind: 'note' } })
      await world.store('mine alone', { metadata: { projectPath: 'p', audience: 'private' } })
      const pattern = await world.store('a pattern', { ...inProject, type: 'code_pattern' })
      const fix = await world.store('a fix', { ...inProject, type: 'bug_fix' })
      const at = ground.clock.ms
      ground.clock.ms = at - 1 + 30 * DAY
      expect((await summarize({ focusTypes: ['bug_fix'] })).count).toBe(0)
      ground.clock.ms = at + 30 * DAY
      expect((await summarize({ includePatterns: false, includeDecisions: false })).summary).toContain(`[#${fix}]`)
      expect((await summarize({ focusTypes: ['code_pattern'] })).summary).toContain(`[#${pattern}]`)
      // Kinds of the types, by whatever word they were stored.
      const kinds = { convention: 'rule', bug_fix: 'gotcha', code_pattern: 'template', relationship: 'claim' } as const
      const ids = new Map<string, number>()
      for (const kind of Object.values(kinds))
        ids.set(kind, await world.store(`a ${kind}`, { metadata: { projectPath: 'p', kind } }))
      ground.clock.advance(30 * DAY)
      for (const [type, kind] of Object.entries(kinds)) {
        const { count, summary } = await summarize({ focusTypes: [type as MemoryType] })
        expect([kind, count]).toEqual([kind, 1])
        expect(summary).toContain(`1 ${type}.\n- ${type}: a ${kind} [#${ids.get(kind)}]`)
      }
      const last = await summarize()
      expect([last.count, last.summary.includes(`[#${old}]`)]).toEqual([1, true])
      expect((await summarize({ layer: 3 })).count).toBe(1)
      await expect(summarize({}, { ...ada, projects: ['q'] })).rejects.toMatchObject({ code: 'forbidden' })
    })

    it('[FABRIC-106] summarizes a thousand memories at most, the oldest first, and the others with the next call', async () => {
      const newest = 1_003
      await world.crowd('p', newest)
      await ground.connection.batch([sql`UPDATE entries SET named_kind = 'decision' WHERE org = ${ada.org}`], {
        org: ada.org,
      })
      ground.clock.advance(31 * DAY)
      const ids = (await rows(sql`SELECT id FROM entries WHERE org = ${ada.org} ORDER BY created_at`)).map((row) =>
        Number(row.id),
      )
      expect((await summarize({ targetTokens: 32_000 })).count).toBe(1_000)
      const left = await rows(
        sql`SELECT id FROM entries WHERE org = ${ada.org} AND archived = 0 AND kind = 'decision' ORDER BY id`,
      )
      expect(left.map(({ id }) => Number(id))).toEqual(ids.slice(1_000))
      // The rest is for the next call.
      expect([(await summarize()).count, (await summarize()).count]).toEqual([3, 0])
    })

    it('[FABRIC-109, FABRIC-161] archives and counts only memories with a line, lists and counts them as archived, and leaves the rest for the next call', async () => {
      const many: number[] = []
      for (let n = 0; n < 12; n++)
        many.push(
          await world.store(`${n} ${'A long word about the harbour. '.repeat(9)}`, {
            ...inProject,
            metadata: { projectPath: 'p', weight: 1 + (n % 5), tags: [`t${n % 2}`] },
          }),
        )
      ground.clock.advance(31 * DAY)
      const archivedOnes = async (more: object = {}) => {
        const query = { layer: 2, kinds: null, tags: [], archived: true, limit: 100, offset: 0, ...more } as const
        const page = await world.service.list(ada, 'p', query, 1_000_000)
        expect(page.total).toBe(page.memories.length)
        return page.memories.map(({ id }) => id)
      }
      expect(await archivedOnes()).toEqual([])
      const first = await summarize({ targetTokens: 150 })
      expect(first.count).toBeLessThan(6)
      expect(first.remaining).toBe(12 - first.count)
      const lines = first.summary.split('\n').slice(1)
      const told = lines.map((line) => Number(/#(\d+)/.exec(line)?.[1]))
      expect(await archivedOnes()).toEqual(told.toSorted((a, b) => b - a))
      expect(new Set(await listed())).toEqual(new Set([first.id, ...many.filter((id) => !told.includes(id))]))
      const tagged = told.filter((id) => many.indexOf(id) % 2 === 1)
      expect(new Set(await archivedOnes({ tags: ['t1'] }))).toEqual(new Set(tagged))
      expect(await archivedOnes({ kinds: ['bug_fix'] })).toEqual([])
      expect(
        (
          await world.service.list(
            ada,
            'q',
            { layer: 2, kinds: null, tags: [], archived: true, limit: 9, offset: 0 },
            9,
          )
        ).total,
      ).toBe(0)
      const counts = await world.service.count(ada, 'p')
      expect(counts.filter(({ archived }) => archived)).toEqual([
        { layer: 2, kind: 'decision', pinned: false, archived: true, count: told.length },
      ])
      const second = await summarize({ targetTokens: 1_000 })
      expect([second.count, second.remaining]).toEqual([first.remaining, 0])
    })

    it('[FABRIC-107] writes nothing if nothing is old enough', async () => {
      await world.store('young', inProject)
      const before = await rows(sql`SELECT max(seq) AS seq FROM audit WHERE org = ${ada.org}`)
      expect(await summarize({ olderThanDays: 7 })).toEqual({
        ...{ id: null, count: 0, remaining: 0, summary: 'Nothing older than 7 days to summarize.' },
      })
      expect(await rows(sql`SELECT max(seq) AS seq FROM audit WHERE org = ${ada.org}`)).toEqual(before)
    })

    it('[FABRIC-110] summarizes the memories as they are at the time of the write, and changes nothing if it cannot', async () => {
      const one = await world.store('one', { ...inProject, layer: 3 })
      const two = await world.store('two', { ...inProject, layer: 3 })
      ground.clock.advance(31 * DAY)
      world.embedder.broken = true
      await expect(summarize({ layer: 3 })).rejects.toMatchObject({ code: 'unavailable' })
      expect(await listed(3)).toEqual([two, one])
      world.embedder.broken = false
      const { summarizable } = world.summarizing
      let reads = 0
      world.summarizing.summarizable = async (...asked) => {
        const found = await summarizable(...asked)
        if (++reads === 1) await world.service.update(ada, 'p', one, { pinned: true })
        return found
      }
      expect((await summarize({ layer: 3 })).count).toBe(1)
      expect(reads).toBe(2)
      expect(await listed(3)).toContain(one)
      expect(await listed(3)).not.toContain(two)
    })
  })
}
