import { describe, expect, it } from 'vitest'
import { createFakeAi } from '../fakes/workers-ai'
import { openWorld } from '../support/isolation'

const PROJECT = { projectPath: 'p' }
const CODE = 'export function landingSpeed(turbine: number) {\n  return turbine * 2\n}\n'

/** Costs of the twelve tools (fabric contract, platform contract §6), on either database. */
export function toolBudgetContract(): void {
  describe('the tools for coding agents', () => {
    it('[FABRIC-163, FABRIC-173] answers each of the twelve tools within three round trips and one call of the embedder, two if a file is indexed after its memory', async () => {
      const spent = { trips: 0, counting: false }
      const ai = createFakeAi()
      const world = openWorld(
        { EMBEDDING_PROVIDER: 'workers-ai', EMBEDDING_MODEL: 'fake', EMBEDDING_DIM: '8' },
        undefined,
        {
          bindings: { AI: ai },
          log: (_, event, fields = {}) => {
            if (event === 'sql' && spent.counting) spent.trips++
            // The caller does not wait for work after the answer.
            if ('tool' in fields) spent.counting = false
          },
        },
      )
      const ada = await world.makeOrg('budgets')
      const event = (type: string, payload: object) => ({
        event: { type, payload, timestamp: '2026-11-20T08:00:00Z', sessionId: 's', cliType: 'generic', ...PROJECT },
      })
      const stored = async (more: object = {}) =>
        (await world.ok(ada, 'context_store', { type: 'decision', content: 'a turbine', metadata: PROJECT, ...more }))
          .id
      for (let n = 0; n < 12; n++) await stored({ metadata: { ...PROJECT, tags: ['x'] }, layer: 1 + (n % 3) })
      await world.ok(ada, 'context_reportEvent', event('file_opened', { path: 'src/speed.ts', content: CODE }))
      const [first, second, third] = [await stored(), await stored({ layer: 1 }), await stored()]
      // A model's similarity levels are measured once in the life of a store.
      await world.ok(ada, 'context_recall', { query: 'turbine', mode: 'semantic' })
      await world.settle()
      const calls: [tool: string, args: Record<string, unknown>][] = [
        ['context_setup', { cli: 'cursor' }],
        ['context_store', { type: 'decision', content: 'another turbine', metadata: PROJECT }],
        ['context_store', { type: 'convention', content: 'of the org', metadata: {}, layer: 3 }],
        ['context_store', { type: 'scratchpad', content: 'for now', metadata: PROJECT, ttl: 60 }],
        ['context_get', { memoryId: first }],
        ['context_update', { memoryId: first, content: 'a new turbine', tags: ['y'] }],
        ['context_update', { memoryId: first, pinned: true }],
        ['context_update', { memoryId: second, targetLayer: 3 }],
        ['context_list', { ...PROJECT, type: 'decision', offset: 2 }],
        ['context_list', { ...PROJECT, tags: ['x', 'y'] }],
        ['context_list', { ...PROJECT, stats: true }],
        ...['keyword', 'semantic', 'hybrid'].flatMap((mode): [string, Record<string, unknown>][] => [
          ['context_recall', { query: 'turbine', mode, threshold: 0, filter: PROJECT }],
          ['context_recall', { query: 'turbine', mode, threshold: 0, filter: { tags: ['x'], types: ['decision'] } }],
        ]),
        ['context_getCurrent', { ...PROJECT, currentFile: 'src/speed.ts', currentCommand: 'npm test', sessionId: 's' }],
        ['context_orient', { ...PROJECT, expression: 'next monday', also: ['Asia/Tokyo'] }],
        ...['symbol', 'text', 'semantic'].map((mode): [string, Record<string, unknown>] => [
          'context_searchCode',
          { query: 'landingSpeed', mode, ...PROJECT },
        ]),
        ['context_reportEvent', event('session_start', {})],
        [
          'context_reportEvent',
          event('command_executed', { command: 'make', output: 'fatal: no turbine', exitCode: 2 }),
        ],
        ['context_reportEvent', event('error_occurred', { error: 'no turbine', file: 'src/speed.ts', line: 3 })],
        ['context_reportEvent', event('file_opened', { path: 'src/other.ts', content: CODE })],
        ['context_delete', { memoryId: third }],
        ['context_summarize', { ...PROJECT, options: { targetTokens: 100 }, olderThanDays: 1 }],
      ]
      const costs: [string, string, number, number][] = []
      for (const [tool, args] of calls) {
        if (tool === 'context_summarize') world.clock.advance(3 * 86_400_000)
        await world.settle()
        const before = ai.calls.length
        Object.assign(spent, { trips: 0, counting: true })
        await world.ok(ada, tool, args)
        costs.push([tool, JSON.stringify(args), spent.trips, ai.calls.length - before])
        spent.counting = false
      }
      await world.settle()
      // Authentication is one read, which setup needs as well.
      const known = costs[0]?.[2] as number
      expect(known).toBeLessThanOrEqual(1)
      expect(costs.filter(([, , trips]) => trips - known > 3)).toEqual([])
      expect(costs.filter(([, , , embedded]) => embedded > 1)).toEqual([])
      // A file that was opened is a memory and chunks of code, which are embedded together.
      const opened = costs.find(([, args]) => args.includes('file_opened'))
      expect(opened?.[3]).toBe(1)
    })
  })
}
