import { describe, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../../support/clients'
import { unique, useSession } from './session'

const STORES = 50

/** Two programs at work on one task at the same time (fabric contract §12). */
export function oneTaskContract(connect: Connect): void {
  const session = useSession(connect)

  describe('two clients on one task', () => {
    it('[FABRIC-154] lets two clients work on one task: each finds at once the memories, events and files of the other', async () => {
      const projectPath = unique('task')
      const address = new URL('/mcp/fabric', session.server.url.href)
      const [ada, bob] = await Promise.all([
        connect(address, session.key),
        (CLIENTS['SDK v1'] as Connect)(address, session.key),
      ])
      const ok = async (client: TestClient, name: string, args: object) => {
        const { isError, data, text } = await client.call(name, args as Record<string, unknown>)
        if (isError) throw new Error(`${name}: ${text}`)
        return data
      }
      /** The work of one agent: it stores, reports its observations, and searches for the other's findings. */
      const work = async (client: TestClient, own: string, cliType: string): Promise<string[]> => {
        await ok(client, 'context_orient', { projectPath, timezone: '+01:00' })
        const report = (type: string, payload: object) =>
          ok(client, 'context_reportEvent', {
            event: { type, payload, timestamp: '2026-02-25T09:00:00Z', sessionId: own, cliType, projectPath },
          })
        const stores = Array.from({ length: STORES }, (_, i) =>
          ok(client, 'context_store', {
            ...{ type: 'decision', content: `${own} settled question ${i}` },
            metadata: { projectPath, tags: [own] },
          }),
        )
        await report('error_occurred', { error: `${own} met a deadlock` })
        await report('file_opened', { path: `src/${own}.ts`, content: `export function ${own}Worker() {}` })
        return (await Promise.all(stores)).map(({ id }) => id)
      }
      const ids = (await Promise.all([work(ada, 'albatross', 'codex'), work(bob, 'bumblebee', 'gemini')])).flat()
      expect(new Set(ids).size).toBe(2 * STORES)
      // Each finds at once what the other stored, reported and opened.
      for (const [client, other] of [
        [ada, 'bumblebee'],
        [bob, 'albatross'],
      ] as const) {
        const args = {
          query: `${other} question`,
          mode: 'keyword',
          threshold: 0.99,
          limit: 100,
          filter: { projectPath },
        }
        const recalled = await ok(client, 'context_recall', args)
        expect(recalled.total).toBe(STORES)
        expect(
          new Set(
            recalled.results.map(({ memory }: { memory: { metadata: { tags: string[] } } }) => memory.metadata.tags[0]),
          ),
        ).toEqual(new Set([other]))
        const code = { query: `${other}Worker`, mode: 'symbol', projectPath }
        expect((await ok(client, 'context_searchCode', code)).results).toMatchObject([{ filePath: `src/${other}.ts` }])
        const bugs = await ok(client, 'context_list', { projectPath, type: 'bug_fix' })
        expect(bugs.total).toBe(2)
        const stats = await ok(client, 'context_list', { projectPath, stats: true })
        expect([stats.l1, stats.l2]).toEqual([2, 2 * STORES + 2])
      }
      // One changes what the other has just read, and both see one truth.
      const [first] = ids as [string]
      await Promise.all([
        ok(ada, 'context_update', { memoryId: first, metadata: { byAda: true }, projectPath }),
        ok(bob, 'context_update', { memoryId: first, metadata: { byBob: true }, projectPath }),
      ])
      const read = await Promise.all([ada, bob].map((client) => ok(client, 'context_get', { memoryId: first })))
      for (const { memory } of read)
        expect(memory).toMatchObject({ version: 3, metadata: { byAda: true, byBob: true } })
      await Promise.all([ada.close(), bob.close()])
    })
  })
}
