import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { WRITE_BUDGET } from '../../src/adapters/sql/core/write-budget'
import { LEASE_MS } from '../../src/adapters/sql/tables/outbox/outbox-rows'
import { loadModules } from '../../src/composition/modules'
import { composeServices } from '../../src/composition/worker'
import { parseConfig } from '../../src/config'
import { unavailable } from '../../src/domain/errors'
import { createLog } from '../../src/http/log'
import { TOOLS } from '../../src/tools/catalogue'
import { Faults, faulty } from '../support/faults'
import { writesEntries } from '../support/framed'
import { freshPrincipal, TestClock } from '../support/scope'
import type { LostAnswersUnderTest } from './lost-answers'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

const long = (words: string) => `${'hay '.repeat(WRITE_BUDGET / 4 + 1)}${words}`
const thread_id = 'found'
const draft = (text: string) => ({ thread_id, source: 'agent', text })
const names = (n: number) => Array.from({ length: n }, (_, i) => `quokka${i}x`)

/** A committed entry is found by the next search, whenever its writer died (platform contract §6). */
export function foundAfterDeathContract(name: string, make: () => LostAnswersUnderTest): void {
  describe(`${name} finds the entry of a writer that died right after its commit`, () => {
    const clock = new TestClock()
    beforeAll(() => loadModules(parseConfig(make().vars)))
    const opened: { close(): Promise<void> }[] = []
    afterAll(async () => {
      await Promise.all(opened.map((services) => services.close()))
    })

    /** A server as a process of its own: it knows nothing of those before it. */
    function startServer() {
      const { vars, bindings } = make()
      const config = parseConfig({ AUTH_MODE: 'open', LOG_LEVEL: 'CRITICAL', ...vars })
      const death = { near: false, here: false }
      const mortal = async <T>(work: () => Promise<T>): Promise<T> => {
        if (death.here) throw unavailable('dead')
        return work()
      }
      let bare: SqlConnection
      const through = <Connection extends SqlConnection>(connection: Connection): Connection => {
        bare = connection
        return {
          ...connection,
          read: (statements) => mortal(() => connection.read(statements)),
          batch: (statements, lock) =>
            mortal(async () => {
              const rows = await connection.batch(statements, lock)
              death.here = death.near && writesEntries(statements)
              if (death.here) throw unavailable('dead')
              return rows
            }),
        }
      }
      const own = {
        ...bindings,
        DB: faulty(bindings.DB as D1Database, [], new Faults()),
        ...(bindings.HYPERDRIVE && { HYPERDRIVE: { ...bindings.HYPERDRIVE } }),
      }
      const background: Promise<unknown>[] = []
      const services = composeServices(own, config, {
        ...{ log: createLog('CRITICAL'), clock, through },
        waitUntil: (work) => void background.push(work),
      })
      opened.push(services)
      const call = async (org: string, tool: string, args: Json, owner = 'ada'): Promise<Json> => {
        const principal = { ...freshPrincipal({ org, owner }), action: tool, tool }
        const { call: run } = TOOLS.find((one) => one.name === tool) as (typeof TOOLS)[number]
        const { structured } = await run({ principal, services, config, origin: 'http://localhost' }, args)
        await Promise.all(background.splice(0))
        return structured
      }
      const dieIn = async (org: string, tool: string, args: Json): Promise<void> => {
        death.near = true
        await expect(call(org, tool, args)).rejects.toThrow('dead')
      }
      /** Topics of pending index writes. */
      const left = async (org: string): Promise<unknown[]> => {
        const [rows = []] = await bare.batch([
          sql`SELECT topic FROM outbox WHERE org = ${org} AND topic IN ('index', 'embed')`,
        ])
        return rows.map(({ topic }) => topic)
      }
      return { call, dieIn, left }
    }
    type Server = ReturnType<typeof startServer>

    /** The acknowledged writes, the call during which the server dies, and words of the expected entries. */
    const deaths: Record<string, (server: Server, org: string) => Promise<readonly string[]>> = {
      'a store of a long text': async (server, org) => {
        await server.dieIn(org, 'store_context', draft(long('numbat')))
        return ['numbat']
      },
      'an update with a long text': async (server, org) => {
        const { context_id } = await server.call(org, 'store_context', draft('before'))
        await server.dieIn(org, 'update_context', { context_id, text: long('numbat') })
        return ['numbat']
      },
      'a restoration of sixty': async (server, org) => {
        const all = names(60)
        const { results } = await server.call(org, 'store_context_batch', { entries: all.map(draft) })
        const context_ids = results.map((one: Json) => one.context_id)
        const { change_id } = await server.call(org, 'delete_context', { context_ids })
        await server.dieIn(org, 'restore_context', { change_id, idempotency_key: 'k' })
        return all
      },
      'a restoration of long texts': async (server, org) => {
        const all = names(3)
        for (const one of all) await server.call(org, 'store_context', draft(long(one)))
        const { change_id } = await server.call(org, 'delete_context', { thread_id })
        await server.dieIn(org, 'restore_context', { change_id, idempotency_key: 'k' })
        return all
      },
      'a restoration of an older state': async (server, org) => {
        const { context_id } = await server.call(org, 'store_context', draft('numbat'))
        await server.call(org, 'update_context', { context_id, text: 'else' })
        await server.dieIn(org, 'restore_context', { context_ids: [context_id], version: 1 })
        return ['numbat']
      },
    }

    for (const [what, die] of Object.entries(deaths))
      it(`by words and by meaning, in ${what}`, async () => {
        const { org } = freshPrincipal()
        const words = await die(startServer(), org)
        clock.advance(1)
        const { call } = startServer()
        for (const query of words.slice(0, 5))
          expect([query, await call(org, 'fts_search_context', { query, limit: 5 })]).toEqual([
            query,
            expect.objectContaining({ count: 1 }),
          ])
        const { count } = await call(org, 'semantic_search_context', { query: words[0], limit: 100 })
        expect(count).toBe(words.length)
      })

    const finds = (context_id: number) => ({
      fts_search_context: { query: 'numbat' },
      semantic_search_context: { query: 'numbat' },
      hybrid_search_context: { query: 'numbat' },
      context_recall: { query: 'numbat', threshold: 0.1 },
      context: { goal: 'numbat' },
      context_getCurrent: { currentFile: 'numbat.ts' },
      search: { query: 'numbat' },
      remember: { title: 'numbat', content: `about ${context_id}`, kind: 'decision' },
    })

    for (const tool of Object.keys(finds(0)) as (keyof ReturnType<typeof finds>)[])
      it(`whichever search is the next: ${tool}`, async () => {
        const { org } = freshPrincipal()
        const server = startServer()
        const { context_id } = await server.call(org, 'store_context', draft('numbat'))
        await server.call(org, 'update_context', { context_id, text: 'else' })
        await server.dieIn(org, 'restore_context', { context_ids: [context_id], version: 1 })
        clock.advance(1)
        const { call, left } = startServer()
        const answer = await call(org, tool, finds(context_id)[tool])
        // Results of the two others depend on more than words.
        if (tool !== 'context_getCurrent' && tool !== 'remember')
          expect(JSON.stringify(answer)).toMatch(`${context_id}`)
        expect([tool, await left(org)]).toEqual([tool, []])
      })

    it('[HISTORY-28] makes a restoration of short entries found completely, in every server from its commit on, also for a repeated call', async () => {
      const { org } = freshPrincipal()
      const server = startServer()
      const all = names(60)
      const { results } = await server.call(org, 'store_context_batch', { entries: all.map(draft) })
      const context_ids = results.map((one: Json) => one.context_id)
      const { change_id } = await server.call(org, 'delete_context', { context_ids })
      const args = { change_id, idempotency_key: 'k' }
      await server.dieIn(org, 'restore_context', args)
      const { call, left } = startServer()
      expect(await call(org, 'restore_context', args)).toMatchObject({ replayed: true })
      // No trace of it is left.
      expect(await left(org)).toEqual([])
      for (const query of all)
        expect([query, (await call(org, 'fts_search_context', { query })).count]).toEqual([query, 1])
    })

    it('or reports it to those concerned, while the writer may still be working', async () => {
      const { org } = freshPrincipal()
      const server = startServer()
      const { context_id } = await server.call(org, 'store_context', {
        ...draft('numbat'),
        metadata: { audience: 'private' },
      })
      await server.call(org, 'update_context', { context_id, text: 'else' })
      // At the same time: it cannot be known that the writer is dead.
      const other = startServer()
      await server.dieIn(org, 'restore_context', { context_ids: [context_id], version: 1 })
      const find = (tool: string, owner = 'ada') => other.call(org, tool, { query: 'numbat' }, owner)
      expect(await find('fts_search_context')).toMatchObject({
        count: 0,
        warnings: [expect.stringContaining('Some entries are not in the search index yet')],
      })
      expect(await find('semantic_search_context')).toMatchObject({
        warnings: [expect.stringContaining('Some entries have no vectors yet')],
      })
      expect((await find('fts_search_context', 'bob')).warnings ?? []).toEqual([])
      clock.advance(LEASE_MS)
      const found = await find('fts_search_context')
      expect([found.count, found.warnings ?? []]).toEqual([1, []])
    })
  })
}
