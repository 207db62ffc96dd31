import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Orientation over MCP (fabric contract §6). */
export function orientContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok, fail } = session

  describe('orientation on the wire', () => {
    it('[FABRIC-78] answers with time, and with resolved moment and conversions only on request', async () => {
      const projectPath = unique('project')
      const first = await ok('context_orient', { projectPath: `${projectPath}/`, timezone: 'asia/kathmandu' })
      expect(first).toMatchObject({ projectPath, offlineGap: null, recentMemories: [] })
      expect(first.time).toMatchObject({ timezone: 'asia/kathmandu', utcOffset: '+05:45' })
      expect(Date.parse(first.time.iso)).toBe(first.time.epochMs)
      expect(first.summary).toContain(
        `(asia/kathmandu, UTC+05:45). Project: ${projectPath}. First session in this project.`,
      )
      for (const absent of ['resolved', 'resolvedAnchor', 'conversions']) expect(first).not.toHaveProperty(absent)
      const metadata = { projectPath, tags: ['b', 'A'] }
      const { id } = await ok('context_store', { type: 'convention', content: 'tabs', metadata })
      const asked = await ok('context_orient', { projectPath, expression: '2026-03-02', also: ['Europe/London'] })
      const second = await ok('context_orient', { projectPath })
      const createdAt = (await ok('context_get', { memoryId: id })).memory.createdAt
      expect(second.recentMemories).toEqual([{ id, type: 'convention', content: 'tabs', createdAt, tags: ['a', 'b'] }])
      expect(second.offlineGap).toMatchObject({ memoriesAdded: 1, durationHuman: expect.any(String) })
      expect(asked).toMatchObject({ offlineGap: null, recentMemories: [] })
      const moment = { epochMs: Date.UTC(2026, 2, 2), iso: '2026-03-02T00:00:00.000+00:00', timeOfDay: '12:00 AM' }
      const anchor = { ...moment, timezone: 'UTC', date: 'Monday, March 2, 2026', utcOffset: '+00:00' }
      expect(asked).toMatchObject({ resolved: moment.epochMs, resolvedAnchor: anchor })
      expect(asked.resolvedAnchor).toEqual(anchor)
      expect(asked.conversions).toEqual([{ ...anchor, timezone: 'Europe/London' }])
      const now = await ok('context_orient', { also: '["+09:00"]', expression: ' ' })
      expect(now).toMatchObject({ projectPath: null, conversions: [{ epochMs: now.time.epochMs, timezone: '+09:00' }] })
      expect(now.summary).toContain('Project: none.')
      expect(await ok('context_orient', { expression: 'today' })).toMatchObject({ conversions: [] })
      expect((await ok('context_orient', { expression: '1772000000' })).warnings).toEqual([
        '1772000000 was read as milliseconds, which is in 1970; for seconds append 000',
      ])
      const session = { projectPath, sessionId: 's1' }
      expect((await ok('context_orient', session)).offlineGap).not.toBeNull()
      const { data } = await fail('context_orient', { timezone: 'Nowhere', expression: 'later', also: ['x y'] })
      expect(data.code).toBe('VALIDATION_ERROR')
      expect(data.details.map(({ path }: { path: string }) => path)).toEqual(['timezone', 'also[0]', 'expression'])
      const zones = Array.from({ length: 21 }, () => 'UTC')
      expect((await fail('context_orient', { also: zones })).data.code).toBe('VALIDATION_ERROR')
    })

    it('names the memory that supersedes a recent one', async () => {
      const projectPath = unique('project')
      const save = (content: string, metadata = {}) =>
        ok('context_store', { type: 'decision', content, metadata, projectPath })
      const { id: old } = await save('The slipway opens at six')
      const { id } = await save('The slipway opens at five', { supersedes: [Number(old)] })
      const { recentMemories } = await ok('context_orient', { projectPath })
      expect(recentMemories).toEqual([
        expect.objectContaining({ id: old, supersededBy: id }),
        expect.not.objectContaining({ supersededBy: expect.anything() }),
      ])
    })

    it('marks each beginning of a memory that it shows as one, as what is known at the moment and of an error does', async () => {
      const projectPath = unique('project')
      const long = `Sessions live in D1 since ${'the measured load of the queue at peak hours '.repeat(10)}is known`
      const exact = 'e'.repeat(100)
      const save = (type: string, content: string) => ok('context_store', { type, content, metadata: {}, projectPath })
      const { id } = await save('decision', long)
      await save('code_pattern', long)
      await save('bug_fix', `TypeError: ${long}`)
      await save('decision', exact)
      const isCut = (most: number) => (shown: string) =>
        shown.length <= most && /[a-z]…$/.test(shown) && shown.length > most / 2
      const { recentMemories } = await ok('context_orient', { projectPath })
      const contents = recentMemories.map(({ content }: { content: string }) => content)
      expect(contents.filter(isCut(100))).toHaveLength(3)
      expect(contents).toContain(exact)
      const { context } = await ok('context_getCurrent', { projectPath })
      expect(context.patterns.map(({ description }: { description: string }) => isCut(200)(description))).toEqual([
        true,
      ])
      const told = [...context.suggestions, ...context.ghostMessages].map(({ content }: { content: string }) => content)
      const decision = told.filter((content) => content.startsWith(`Decision [${id}]`))
      expect(decision.map((content) => isCut(120)(content.replace(/^.*?: /, '')))).toEqual([true, true])
      const event = {
        type: 'error_occurred',
        payload: { error: `TypeError: ${long}` },
        timestamp: '2026-11-21T10:00:00Z',
      }
      const report = await ok('context_reportEvent', {
        event: { ...event, sessionId: 's', cliType: 'codex', projectPath },
      })
      expect(report.similar.map(({ content }: { content: string }) => isCut(200)(content))).toContain(true)
    })
  })
}
