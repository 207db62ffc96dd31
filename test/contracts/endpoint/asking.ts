import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Team } from '../../support/access'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any
type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: { readonly confirm: boolean } }

const YES: Reply = { action: 'accept', content: { confirm: true } }

/** Questions to a person before memories are erased or many are deleted (core contract, CORE-65 to CORE-67). */
export function askingContract(): void {
  describe('a client that can ask a person', () => {
    let team: Team
    let key: string
    beforeAll(async () => {
      team = await sharedTeam()
      key = (await team.key(unique('org'), { owner: 'ada' })).key
    })

    /** Connects a client that answers every question. @param reply null for a client that cannot ask */
    async function connect(
      path: string,
      reply: ((question: string) => Reply | Promise<Reply>) | null,
      pin = '2026-07-28',
    ) {
      const questions: string[] = []
      const capabilities = reply === null ? {} : { elicitation: { form: {} } }
      const negotiation = pin === '' ? {} : { versionNegotiation: { mode: { pin } } }
      const client = new Client({ name: 'asking', version: '1' }, { capabilities, ...negotiation })
      if (reply !== null)
        client.setRequestHandler('elicitation/create', async ({ params }: Json) => {
          questions.push(params.message)
          return (await reply(params.message)) as Json
        })
      const headers = { authorization: `Bearer ${key}` }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(path, team.server.url), { requestInit: { headers } }),
      )
      const call = async (name: string, args: Json): Promise<Json> => client.callTool({ name, arguments: args })
      return { questions, call, close: () => client.close() }
    }
    const storedIn = async (project: string, count: number): Promise<number[]> => {
      const ids: number[] = []
      for (let i = 0; i < count; i++) {
        const { data } = await team.call(key, 'store_context', {
          ...{
            thread_id: project,
            source: 'agent',
            text: `Crane ${i} of ${project} needs brakes`,
            metadata: { project },
          },
        })
        ids.push(data.context_id)
      }
      return ids
    }
    const areThere = async (ids: number[]): Promise<boolean> =>
      (await team.call(key, 'get_context_by_ids', { context_ids: ids })).data.result.length === ids.length

    it('[CORE-65] asks before an erasure, naming count and titles, and erases only after a yes', async () => {
      for (const reply of [
        { action: 'decline' },
        { action: 'cancel' },
        { action: 'accept', content: { confirm: false } },
      ] as Reply[]) {
        const ids = await storedIn(unique('kept'), 2)
        const client = await connect('/mcp/core', () => reply)
        const answer = await client.call('forget', { ids, erase: true })
        expect(client.questions).toEqual([
          expect.stringMatching(
            /^Erase 2 memories for good, with every version\? This cannot be undone\. “Crane [01] of/,
          ),
        ])
        expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('declined') }] })
        expect(await areThere(ids)).toBe(true)
        await client.close()
      }
      const ids = await storedIn(unique('erased'), 1)
      const client = await connect('/mcp', () => YES)
      const { structuredContent } = await client.call('delete_context', { context_ids: ids, erase: true })
      expect(structuredContent).toMatchObject({ success: true, deleted_count: 1 })
      expect(client.questions).toHaveLength(1)
      await client.close()
    })

    it('[CORE-65] asks before more than ten memories are deleted, also by thread, filter and criteria, and not before fewer', async () => {
      const calls: readonly (readonly [path: string, tool: string, args: (project: string, ids: number[]) => Json])[] =
        [
          ['/mcp/core', 'forget', (thread) => ({ thread })],
          ['/mcp/core', 'forget', (project) => ({ filter: { project }, dry_run: false })],
          ['/mcp/core', 'forget', (_, ids) => ({ ids })],
          ['/mcp', 'delete_context', (thread_id) => ({ thread_id })],
          ['/mcp', 'delete_context_batch', (thread) => ({ thread_ids: [thread] })],
        ]
      for (const [path, tool, argsOf] of calls) {
        const [few, many] = [unique('few'), unique('many')]
        const [fewIds, manyIds] = [await storedIn(few, 2), await storedIn(many, 11)]
        const client = await connect(path, () => YES)
        await client.call(tool, argsOf(few, fewIds))
        expect([tool, client.questions]).toEqual([tool, []])
        await client.call(tool, argsOf(many, manyIds))
        expect(client.questions).toEqual([expect.stringMatching(/^Delete 11 memories\? “.*, 8 more$/)])
        expect([await areThere(fewIds), await areThere(manyIds)]).toEqual([false, false])
        await client.close()
      }
    })

    it('[CORE-66] asks again if the memories changed while the person read, and repeats a call with a key once', async () => {
      const thread = unique('growing')
      await storedIn(thread, 11)
      const client = await connect('/mcp/core', async (question) => {
        if (question.startsWith('Delete 11')) await storedIn(thread, 1)
        return YES
      })
      const args = { thread, idempotency_key: unique('key') }
      const { structuredContent: first } = await client.call('forget', args)
      expect(client.questions.map((one) => one.split('?')[0])).toEqual(['Delete 11 memories', 'Delete 12 memories'])
      expect(first).toMatchObject({ deleted: 12 })
      const { structuredContent: again } = await client.call('forget', args)
      expect(again).toEqual({ ...first, replayed: true })
      await client.close()
    })

    it('[CORE-66] asks again if other memories took the place of ones that the question does not name', async () => {
      const thread = unique('swapped')
      const ids = await storedIn(thread, 11)
      let swaps = 1
      const client = await connect('/mcp/core', async () => {
        if (swaps-- > 0) {
          await team.call(key, 'delete_context', { context_ids: ids.slice(-1) })
          await storedIn(thread, 1)
        }
        return YES
      })
      const { structuredContent } = await client.call('forget', { thread, erase: true })
      expect(client.questions).toHaveLength(2)
      expect(structuredContent).toMatchObject({ erased: expect.any(Number) })
      await client.close()
    })

    it('[CORE-67] a client that cannot ask, or of an earlier revision, deletes as before', async () => {
      for (const [reply, pin] of [
        [null, '2026-07-28'],
        [() => YES, ''],
      ] as const) {
        const ids = await storedIn(unique('quiet'), 1)
        const client = await connect('/mcp/core', reply, pin)
        const { structuredContent } = await client.call('forget', { ids, erase: true })
        expect(structuredContent).toMatchObject({ erased: 1 })
        expect(client.questions).toEqual([])
        await client.close()
      }
    })

    it('[CORE-65] shows titles on one line, without characters that steer a terminal', async () => {
      const text = `Line\u001b[2J one\nand ${'long '.repeat(60)}`
      const { data } = await team.call(key, 'store_context', { thread_id: unique('odd'), source: 'agent', text })
      const client = await connect('/mcp/core', () => ({ action: 'decline' }))
      await client.call('forget', { ids: [data.context_id], erase: true })
      expect(client.questions[0]).not.toMatch(/\p{Cc}/u)
      expect((client.questions[0] ?? '').length).toBeLessThan(200)
      await client.close()
    })
  })
}
