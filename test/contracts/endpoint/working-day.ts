import { describe, expect, it } from 'vitest'
import { MARKS, playDay, type Step, tokensOf } from '../../../bench/day/play.mjs'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Maximum tokens of an answer (fabric contract §1); get, which returns everything, has no limit. */
function budgetOf({ tool, answer }: Step): number {
  if (tool === 'context_orient') return 300 + 50 * answer.recentMemories.length
  const budgets: Readonly<Record<string, number>> = {
    context_recall: 2_000,
    ...{ context_list: 2_500, context_getCurrent: 2_500, context_searchCode: 2_500 },
    ...{ context_store: 250, context_update: 250, context_delete: 250 },
    // Five similar memories of 200 characters each.
    context_reportEvent: 600,
  }
  return budgets[tool] ?? Number.POSITIVE_INFINITY
}

/** Two agents work on two projects for a day; each answer is read by rules (fabric contract §12). */
export function workingDayContract(connect: Connect): void {
  const session = useSession(connect)

  describe('a working day of two agents', () => {
    it('[FABRIC-167, FABRIC-170] answers a working day of two agents within its sizes, without the other project and without text in a role, and the fix before the repetition', async () => {
      const address = new URL('/mcp/fabric', session.server.url.href)
      const clients = { ada: await connect(address, session.key), bob: await connect(address, session.key) }
      const keys = { ferry: unique('/home/ada/ferry'), kiln: unique('/home/bob/kiln') }
      const ask = async (agent: 'ada' | 'bob', tool: string, args: Record<string, unknown>) => {
        const { isError, data, text } = await clients[agent].call(tool, args)
        if (isError) throw new Error(`${tool}: ${text}`)
        return data
      }
      const steps = await playDay(ask, (project) => keys[project])
      expect(steps.length).toBeGreaterThanOrEqual(60)

      const large = steps.filter((step) => tokensOf(step.answer) > budgetOf(step))
      expect(large.map(({ tool, answer }) => [tool, tokensOf(answer)])).toEqual([])

      // No memory of the other project; the current memories include no other user's work either.
      const other = { ferry: MARKS.kiln, kiln: MARKS.ferry }
      const foreign = steps.filter(({ project, answer }) => JSON.stringify(answer).includes(other[project]))
      expect(foreign.map(({ tool, args }) => [tool, args])).toEqual([])

      // Stored text is data: it speaks in no role of authority.
      const roles = steps.flatMap(({ answer }) =>
        [...JSON.stringify(answer).matchAll(/"role":"(\w+)"/g)].map(([, role]) => role),
      )
      expect(new Set(roles)).toEqual(new Set(['note']))

      for (const project of ['ferry', 'kiln'] as const) {
        const own = steps.filter((step) => step.project === project)
        // The same failure, reported again, leads to its fix, before the repetition.
        const reports = own.filter(({ tool, answer }) => tool === 'context_reportEvent' && answer.similar?.length > 0)
        const last = reports.at(-1)?.answer
        expect([project, last.message]).toEqual([
          project,
          expect.stringMatching(/^Error recorded, seen \d+ times\. Found \d+ similar memor/),
        ])
        expect([project, last.similar[0].type, last.similar[0].content]).toEqual([
          project,
          'bug_fix',
          expect.stringMatching(project === 'ferry' ? /await loadSailing/ : /wait 20 s/),
        ])
        const asked = own.filter(({ tool }) => tool === 'context_recall')
        const titles = asked.at(-2)?.answer.results.map(({ memory }: Step['answer']) => memory.metadata.title)
        expect([project, titles]).toEqual([project, expect.arrayContaining([expect.stringMatching(/^Fixed: /)])])
        // Questions find the decisions, and a question about something else has no results.
        for (const { args, answer } of asked.slice(0, 4))
          expect([args.query, answer.results.length > 0 || answer.below !== undefined]).toEqual([args.query, true])
        expect([project, asked.at(-1)?.answer.results]).toEqual([project, []])
      }
      await Promise.all(Object.values(clients).map((client) => client.close()))
    })
  })
}
