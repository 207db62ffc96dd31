import { beforeAll, describe, expect, it } from 'vitest'
import { review, reviewDecide } from '../../src/tools/core/review'
import type { Tool } from '../../src/tools/define-tool'
import { bindings, migrate } from '../support/bindings'
import { claudeCode, PLACE } from '../support/hook-events'
import { countingRows, type Json, type Key, openWorld, type Spent } from '../support/isolation'

const { database, spentBy } = countingRows(bindings.DB)
const world = openWorld({ HISTORY_DAYS: '30' }, database)

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  },
}

describe('what the tools of apps cost on D1', () => {
  let ada: Key
  beforeAll(async () => {
    await migrate()
    ada = await world.makeOrg('apps')
    for (let i = 0; i < 25; i++) {
      const s = claudeCode(`a${i}`)
      const events = [s.prompt(`task ${i}`), s.edit(`${i}.ts`), s.end()]
      const body = { events: events.map((event) => ({ ...event, at: world.clock.now(), place: PLACE })) }
      expect((await world.http(ada.secret, 'POST', '/api/v1/hooks/claude-code', body)).status).toBe(200)
      world.clock.advance(1_000)
    }
    await world.settle()
  })

  const call = async (name: string, args: object, more: object = {}): Promise<Json> => {
    const params = { name, arguments: args, _meta: META, ...more }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return (await world.http(ada.secret, 'POST', '/mcp/core', body, headers)).json.result
  }
  /** Decides as a person who agrees. */
  async function decide(args: object): Promise<void> {
    const { inputRequests } = await call('review_decide', args)
    const [question] = Object.keys(inputRequests)
    const yes = { [question as string]: { action: 'accept', content: { confirm: true } } }
    const { structuredContent, isError } = await call('review_decide', args, { inputResponses: yes })
    expect([isError, structuredContent]).toEqual([
      undefined,
      expect.objectContaining({ change_id: expect.any(String) }),
    ])
  }
  const over = ({ budget: { trips, reads, writes } }: Tool, spent: Spent): number[] =>
    spent.trips <= trips && spent.read <= reads[1] && spent.written <= writes
      ? []
      : [spent.trips, spent.read, spent.written]

  it('[CORE-73] stays within the budget of review, a full page of twenty', async () => {
    expect(over(review, await spentBy(() => call('review', {})))).toEqual([])
  })

  it('[CORE-74] stays within the budget of review_decide, its question included', async () => {
    const { waiting } = (await call('review', {})).structuredContent
    const sessions = waiting.map(({ id, version }: Json) => ({ id, version }))
    for (const [action, some] of [
      ['approve', sessions.slice(0, 10)],
      ['drop', sessions.slice(10, 20)],
    ] as const) {
      const spent = await spentBy(() => decide({ action, sessions: some }))
      expect([action, over(reviewDecide, spent)]).toEqual([action, []])
    }
  })
})
