import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { startPlace } from '../support/places'
import { freshDatabase, isRealServer, type TestDatabase } from '../support/postgres'
import type { RunningServer } from '../support/server'

/** Eight agents at work at the same time, for bounded rounds, by a seed; then their answers are compared with the tables. */
const AGENTS = 8
const SEED = Number(process.env.CONCURRENCY_SEED ?? 20261121)
const THREADS = ['plan', 'build', 'review']

/** Numbers in [0, 1), the same for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Memory {
  readonly owner: number
  text: string
  /** Acknowledged patches: each agent writes a key of its own. */
  readonly patches: Record<string, number>
  deleted: boolean
}

/** Writes that the server has acknowledged. */
type Truth = Map<number, Memory>

/** One agent: stores, patches what anybody stored, rewrites and deletes what it stored itself, and searches for it. */
async function work(agent: number, client: TestClient, truth: Truth, rounds: number): Promise<void> {
  const next = random(SEED + agent)
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(next() * items.length)]
  const ok = async (name: string, args: Record<string, unknown>) => {
    const result = await client.call(name, args)
    if (result.isError) throw new Error(`agent ${agent}, ${name} ${JSON.stringify(args)}: ${result.text}`)
    return result.data
  }
  const living = (mine: boolean) => [...truth].filter(([, m]) => !m.deleted && (!mine || m.owner === agent))

  for (let round = 0; round < rounds; round++) {
    const dice = next()
    const own = pick(living(true))
    const any = pick(living(false))
    if (dice < 0.4 || own === undefined || any === undefined) {
      const text = `word${agent}x${round} of agent ${agent} about ${pick(['deadlocks', 'vacuum', 'indexes'])}`
      const tags = [`agent ${agent}`, 'shared']
      const { context_id: id } = await ok('store_context', { thread_id: pick(THREADS), source: 'agent', text, tags })
      expect(truth.has(id)).toBe(false)
      truth.set(id, { owner: agent, text, patches: {}, deleted: false })
    } else if (dice < 0.6) {
      const [id, memory] = any
      const patched = await client.call('update_context', {
        context_id: id,
        metadata_patch: { [`key${agent}`]: round },
      })
      // The only thing that may come between is that its owner deletes it.
      if (patched.isError) expect([patched.data.error.code, memory.deleted]).toEqual(['not_found', true])
      else memory.patches[`key${agent}`] = round
    } else if (dice < 0.7) {
      const [id, memory] = own
      const text = `${memory.text} again${round}`
      await ok('update_context', { context_id: id, text })
      memory.text = text
    } else if (dice < 0.8) {
      const [id, memory] = own
      memory.deleted = true
      const { deleted_count } = await ok('delete_context', { context_ids: [id] })
      expect(deleted_count).toBe(1)
    } else {
      const [id, { text }] = own
      const tool = pick(['fts_search_context', 'hybrid_search_context', 'semantic_search_context']) as string
      const { results } = await ok(tool, { query: text.split(' ')[0], limit: 100 })
      if (tool === 'fts_search_context') expect(results.map((found: { id: number }) => found.id)).toContain(id)
    }
  }
}

/** Rows that are in one of two tables and not in the other. */
const difference = (a: string, b: string) => `((${a}) EXCEPT (${b})) UNION ALL ((${b}) EXCEPT (${a}))`

const COUNTERS = `SELECT org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second,
  last_second, first_id, last_id FROM thread_counters`
const COUNTED = `SELECT org, thread_id, coalesce(project, ''), reader, count(*), sum((source = 'user')::int),
  sum((image_count > 0)::int), sum(bytes), sum(text_words), min(created_second), max(created_second), min(id), max(id)
  FROM entries WHERE listed = 1 GROUP BY 1, 2, 3, 4`
const TAGS = `SELECT org, tag COLLATE "C", id FROM entries, jsonb_array_elements_text(tags::jsonb) AS tag`

/** Several agents write at once to PostgreSQL, and nothing that was acknowledged is lost. @param rounds of each; more in the nightly tier */
export function agentsAtOnceContract(way: 'directly' | 'through pgbouncer in transaction mode', rounds = 10): void {
  describe.skipIf(!isRealServer())(`agents at the same time, ${way}`, () => {
    let database: TestDatabase
    let server: RunningServer
    let clients: TestClient[]
    const truth: Truth = new Map()
    beforeAll(async () => {
      database = await freshDatabase()
      const url = way === 'directly' ? database.url : database.pooledUrl
      if (url === null) throw new Error('pgbouncer is not configured: with PG_URL, set PG_POOLED_URL too.')
      server = await startPlace({}, { hyperdrive: url, fails: true })
      const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
      clients = await Promise.all(Array.from({ length: AGENTS }, () => connect(server.url)))
    })
    afterAll(async () => {
      await Promise.all((clients ?? []).map((client) => client.close()))
      await server?.stop()
      await database?.drop()
    })

    const query = async (text: string): Promise<Record<string, unknown>[]> => {
      const client = new Client({ connectionString: database.url })
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    }

    it('store, patch, rewrite, delete and search without an error, and each finds its own writes', async () => {
      await Promise.all(clients.map((client, agent) => work(agent, client, truth, rounds)))
      expect([...truth.values()].filter(({ deleted }) => deleted).length).toBeGreaterThan(0)
    })

    it('give one id to what all of them store at once', async () => {
      for (let round = 0; round < 5; round++) {
        const same = { thread_id: 'same', source: 'user', text: `the same words, round ${round}` }
        const stored = await Promise.all(clients.map((client) => client.call('store_context', same)))
        const ids = new Set(stored.map(({ data }) => data.context_id))
        expect([ids.size, stored.some(({ isError }) => isError)]).toEqual([1, false])
        truth.set([...ids][0], { owner: -1, text: same.text, patches: {}, deleted: false })
      }
    })

    it('take batches that name the same entries in opposite orders without a deadlock', async () => {
      const ids = [...truth]
        .filter(([, { deleted }]) => !deleted)
        .map(([id]) => id)
        .slice(0, 40)
      const patches = clients.map(async (client, agent) => {
        const order = agent % 2 === 0 ? ids : [...ids].reverse()
        const updates = order.map((context_id) => ({ context_id, metadata_patch: { [`batch${agent}`]: 1 } }))
        // Batches are written at the version that was read: a call that loses too many races must get a retryable error, and nothing else.
        for (let tries = 0; tries < AGENTS; tries++) {
          const result = await client.call('update_context_batch', { updates })
          if (!result.isError) break
          expect(result.data.error).toMatchObject({ code: 'conflict', retryable: true })
        }
        for (const id of ids) Object.assign(truth.get(id)?.patches ?? {}, { [`batch${agent}`]: 1 })
      })
      await Promise.all(patches)
    })

    it('lose no acknowledged write', async () => {
      const rows = await query('SELECT id::int, text, metadata FROM entries ORDER BY id')
      const expected = [...truth].filter(([, { deleted }]) => !deleted).sort(([a], [b]) => a - b)
      expect(rows.map(({ id, text }) => [id, text])).toEqual(expected.map(([id, { text }]) => [id, text]))
      for (const [i, [, { patches }]] of expected.entries())
        expect(JSON.parse((rows[i]?.metadata as string | null) ?? '{}')).toEqual(patches)
    })

    it('leave counters, tags, search index and vectors that match the entries', async () => {
      expect(await query(difference(COUNTERS, COUNTED))).toEqual([])
      expect(await query(difference('SELECT org, tag, entry_id FROM entry_tags', TAGS))).toEqual([])
      expect(await query(difference('SELECT entry_id FROM entries_fts', 'SELECT id FROM entries'))).toEqual([])
      expect(await query(difference('SELECT DISTINCT entry_id FROM entry_vectors', 'SELECT id FROM entries'))).toEqual(
        [],
      )
      expect(await query(`SELECT count(*) AS n FROM changes WHERE action = 'store'`)).toEqual([
        { n: String(truth.size) },
      ])
    })
  })
}
