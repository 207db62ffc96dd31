import { describe, expect, it } from 'vitest'
import { promise } from '../../requirements/packs'
import type { CallResult, Connect } from '../../support/clients'
import { unique, useSession } from './session'

type Item = CallResult['data']

/** Remembering and packs over MCP (packs contract). */
export function packsContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok } = session
  const remember = (title: string, content: string, args: object = {}) => ok('remember', { title, content, ...args })
  const pack = (goal: string, args: object = {}) => ok('context', { goal, ...args })
  const itemsOf = (data: CallResult['data']): Item[] => data.sections.flatMap(({ items }: { items: Item[] }) => items)
  const idsOf = (data: CallResult['data']): string[] => itemsOf(data).map(({ id }) => id)

  describe('packs on the wire', () => {
    it(promise('p1-list'), async () => {
      const client = await connect(new URL('/mcp/packs', session.server.url.href))
      expect((await client.tools()).map(({ name }) => name)).toEqual(['context', 'remember'])
      await client.close()
      const all = (await session.client.tools()).map(({ name }) => name)
      expect(all).toEqual(expect.arrayContaining(['store_context', 'context_store', 'context', 'remember']))
    })

    it(promise('p2-remember'), async () => {
      const project = unique('shop')
      const done = await remember('Rotate\nrefresh tokens', '  Refresh tokens rotate on each use. ', {
        ...{ kind: 'decision', project, tags: ['Auth'], domain: 'security', source_url: 'https://example.org/adr/7' },
      })
      expect(done).toEqual({
        ...{ success: true, id: expect.stringMatching(/^\d+$/), kind: 'decision', project, links: [], conflicts: [] },
      })
      const [entry] = (await ok('get_context_by_ids', { context_ids: [done.id] })).result
      expect(entry).toMatchObject({
        thread_id: `project:${project}`,
        source: 'agent',
        text_content: '  Refresh tokens rotate on each use. ',
        tags: ['auth'],
        metadata: { title: 'Rotate refresh tokens', kind: 'decision', project, domain: 'security' },
      })
    })

    it(promise('p3-keys'), async () => {
      const project = unique('shop')
      const { id } = await remember('Token rotation', 'Refresh tokens rotate on each use of the auth service.', {
        ...{ kind: 'decision', project },
      })
      const answer = await pack('Add refresh-token rotation  to the auth service', { project, domain: 'security' })
      expect(answer).toEqual({
        goal: 'Add refresh-token rotation  to the auth service',
        intent: 'build',
        query: 'Add refresh-token rotation to the auth service security',
        domain: 'security',
        project,
        layer: 'recall',
        sections: [
          {
            facet: 'decisions',
            title: 'Decisions',
            items: [
              {
                id,
                type: 'decision',
                name: 'Token rotation',
                content: 'Refresh tokens rotate on each use of the auth service.',
                score: expect.any(Number),
                facet: 'decisions',
                reason: expect.stringContaining('words:'),
                source: id,
                quality: {
                  ...{ origin: 'local', source: id, url: null, valid_at: null, project_id: project },
                  created_at: expect.stringMatching(/Z$/),
                  updated_at: expect.stringMatching(/Z$/),
                },
                metadata: {},
                related: [],
              },
            ],
          },
        ],
        total_items: 1,
        usage_hint: expect.any(String),
        markdown: expect.stringContaining(`[${id}] Token rotation`),
        diagnostics: {
          degraded: false,
          modes: ['fts', 'semantic'],
          omitted: { limit: 0, budget: 0, duplicate: 0, superseded: 0 },
        },
      })
    })

    it(promise('p2-supersede'), async () => {
      const project = unique('shop')
      const old = await remember('Cache', 'The cart cache lives in Redis.', { kind: 'decision', project })
      expect(idsOf(await pack('where does the cart cache live', { project }))).toEqual([old.id])
      const next = await remember('Cart cache', 'The cart cache lives in the worker, no longer in Redis.', {
        ...{ kind: 'decision', project, related_to: [`supersedes:${old.id}`] },
      })
      expect(next.links).toEqual([{ relation: 'supersedes', id: old.id }])
      const [item, ...others] = itemsOf(await pack('where does the cart cache live', { project }))
      expect([item.id, others]).toEqual([next.id, []])
      expect(item.metadata.supersedes).toEqual([old.id])
      expect((await ok('get_context_by_ids', { context_ids: [old.id] })).result).toHaveLength(1)
      await ok('delete_context', { context_ids: [next.id] })
      expect(idsOf(await pack('where does the cart cache live', { project }))).toEqual([old.id])
    })
  })
}
