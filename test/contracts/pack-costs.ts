import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { composePacks } from '../../src/composition/features'
import type { Metadata } from '../../src/domain/entry/metadata'
import { unavailable } from '../../src/domain/errors'
import type { Caller } from '../../src/domain/identity/scope'
import type { PackArguments } from '../../src/domain/pack/pack-request'
import type { Analyzer } from '../../src/domain/search/analysis'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import type { Embedder } from '../../src/ports/models'
import type { VectorIndex } from '../../src/ports/vector-index'
import { WITHOUT_DISAGREEMENTS } from '../../src/services/currency/disagreements'
import { createFindEarlier } from '../../src/services/currency/find-earlier'
import { NOTHING_PENDING } from '../../src/services/maintenance/pending-index'
import { createSyncVectors } from '../../src/services/maintenance/sync-vectors'
import { createSearchSemantic } from '../../src/services/searching/ranked/search-semantic'
import { createGenerate } from '../../src/services/writing/entries/generate'
import type { Costs } from '../support/bindings'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface PackGround {
  readonly connection: SqlConnection
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly index: VectorIndex
  readonly clock: TestClock
  readonly costs: Costs
}

/** Entries of a store before and after it has grown. */
const [SMALL, LARGE] = [300, 1_000]

/**
 * Costs of a pack, and its content when a backend is down (packs contract).
 *
 * @param countsRows whether the database reports how many rows it reads
 */
export function packCostsContract(name: string, make: () => PackGround, countsRows = false): void {
  describe(`${name} compiles packs`, () => {
    function open() {
      const ground = make()
      const { connection, entries, fullText, analyzer, index, clock, costs } = ground
      const local = createLocalEmbedder(analyzer, 64)
      const calls = { embedded: 0, down: false }
      const embedder: Embedder = {
        ...local,
        async embed(texts, purpose) {
          calls.embedded++
          if (calls.down) throw unavailable('the embedder is down')
          return local.embed(texts, purpose)
        },
      }
      const rows = createSqlVectorRows(connection, clock)
      const sync = createSyncVectors({ index, rows })
      const searchSemantic = createSearchSemantic({
        embedder,
        index,
        rows,
        sync,
        now: () => clock.ms,
      })
      const generate = createGenerate({
        ...{ embedder: local, summarizer: null, chunking: null, onEmbeddingFailure: 'fail', minContentLength: 0 },
      })
      const packs = composePacks({
        ...{ connection, clock, analyzer, entries, fullText, embedder, index, searchSemantic },
        ...{ words: true, storeEntries: async () => [], finishing: NOTHING_PENDING },
        ...{ levels: async () => ({ nothing: 0.02, answer: 0.37 }), unfinished: async () => [] },
        ...{ findEarlier: createFindEarlier({ entries, fullText, analyzer, clock }), isApproved: false },
        findDisagreements: WITHOUT_DISAGREEMENTS,
      })
      const ada = freshPrincipal()
      async function store(by: Caller, texts: readonly string[], metadata: Metadata = {}): Promise<number[]> {
        const drafts = await Promise.all(
          texts.map((text) => entryOf(by, { text, threadId: `t${text.length % 5}`, metadata })),
        )
        const generated = await generate(
          drafts.map(({ lifted, text, source }) => ({ title: lifted.title, text, source })),
        )
        const whole = drafts.map((draft, i) => ({ ...draft, generated: generated[i] ?? draft.generated }))
        return (await entries.save(by, whole, { dedupe: false })).map(({ id }) => id)
      }
      const ask = (by: Caller, given: Partial<PackArguments> = {}) =>
        packs.context(by, {
          ...{
            goal: 'how does the turbine spin',
            intent: 'build',
            layer: 'recall',
            includeRelated: true,
            relatedLimit: 3,
          },
          ...given,
        })
      /** Cost of a pack when cached data is present. */
      async function costOf(by: Caller, given: Partial<PackArguments> = {}) {
        await ask(by, given)
        Object.assign(costs, { roundTrips: 0, statements: 0, rowsRead: 0 })
        calls.embedded = 0
        const pack = await ask(by, given)
        return { ...costs, embedded: calls.embedded, items: pack.total_items }
      }
      return { ada, store, ask, costOf, calls }
    }
    const turbines = (count: number, of = '') =>
      Array.from(
        { length: count },
        (_, i) => `turbine ${of} number ${i} spins at ${i * 7} with blade${i} and bolt${i * 3}`,
      )

    it('[PACK-47] makes at most three round trips and one call of the embedder, for any limit', async () => {
      const { ada, store, costOf } = open()
      const ids = await store(ada, turbines(80))
      const hub = ids[0] as number
      for (let i = 0; i < 3; i++) await store(ada, turbines(100, `part${i}`), { depends_on: hub, project: 'p' })
      await store(ada, ['the diary says the turbine was loud'], { diary: true, agent_name: 'runner' })
      const seen = []
      for (const given of [
        { limit: 1 },
        { limit: 50, layer: 'deep_search' as const, relatedLimit: 5 },
        { layer: 'wake' as const },
        { project: 'p', agentId: 'runner', goal: 'continue with the turbine E_CONN_7 of last week' },
      ]) {
        const { roundTrips, embedded, statements, items } = await costOf(ada, given)
        seen.push(items)
        expect([given, roundTrips <= 3, embedded, statements <= 16]).toEqual([given, true, 1, true])
      }
      expect(seen).toEqual([1, 50, 8, expect.any(Number)])
    })

    it('[PACK-47] reads the same number of rows for any size of other projects and organizations', async () => {
      const { ada, store, costOf } = open()
      await store(ada, turbines(30), { project: 'own' })
      /** Entries of others on both sides of one's own in each index: a read of a range to its end reads the next row too. */
      const others = async (count: number) => {
        for (const project of ['above', 'zenith'])
          await store(ada, turbines(count, project), { project, kind: 'task', status: 'doing' })
        for (const org of [`a-${ada.org}`, `${ada.org}-next`])
          await store(freshPrincipal({ org }), turbines(count, 'of others'), { kind: 'task', status: 'doing' })
      }
      await others(5)
      const narrow = { project: 'own' }
      // The first pack makes the row of the audit log that further packs share.
      await costOf(ada, narrow)
      const before = await costOf(ada, narrow)
      await others(100)
      const after = await costOf(ada, narrow)
      expect(after.items).toBe(before.items)
      expect(after.rowsRead).toBe(before.rowsRead)
    })

    it.runIf(countsRows)(
      'reads some thousands of rows, and less than two for each further entry with its words',
      async () => {
        const { ada, store, costOf } = open()
        const [hub] = await store(ada, ['how the turbine spins: at three thousand'])
        const fill = async (from: number, to: number) => {
          for (let at = from; at < to; at += 100)
            await store(ada, turbines(100, `part${at}`), at === 0 ? { depends_on: hub as number } : {})
        }
        await fill(0, SMALL)
        const small = await costOf(ada)
        await fill(SMALL, LARGE)
        const large = await costOf(ada)
        expect([small.items, large.items]).toEqual([12, 12])
        expect(small.rowsRead).toBeLessThan(10_000)
        expect(large.rowsRead - small.rowsRead).toBeLessThan(2 * (LARGE - SMALL))
      },
    )

    it('reads the newest thousand links to an entry, however many there are', async () => {
      const { ada, store, ask, costOf } = open()
      const { connection } = make()
      const [hub] = await store(ada, ['how the turbine spins: at three thousand'])
      const [oldest] = await store(ada, ['an old remark'], { depends_on: hub as number })
      let others = 10_000_000
      /** From entries that the caller does not see. */
      const refer = async (relation: string, count: number) => {
        const ids = JSON.stringify(Array.from({ length: count }, () => others++))
        const { dialect } = connection
        await connection.batch([
          sql`INSERT INTO links (org, from_id, relation, to_id, origin)
            SELECT ${ada.org}, value, ${relation}, ${hub}, 'remember' FROM ${dialect.jsonNumbers(sql`${ids}`)} AS ids`,
        ])
      }
      const related = async () => (await ask(ada)).sections[0]?.items[0]?.related?.map(({ id }) => id) ?? []
      await refer('references', 999)
      expect(await related()).toEqual([String(oldest)])
      await refer('contradicts', 1)
      expect(await related()).toEqual([])
      await refer('contradicts', 1_000)
      await refer('supersedes', 1_000)
      const before = await costOf(ada)
      await refer('supersedes', 1_000)
      await refer('references', 1_000)
      await refer('contradicts', 1_000)
      expect(await costOf(ada)).toEqual(before)
    })

    it('[PACK-44] compiles a pack from full text when the embedder is down, and reports it', async () => {
      const { ada, store, ask, calls } = open()
      const [id] = await store(ada, ['how the turbine spins: at three thousand'])
      calls.down = true
      const { sections, diagnostics } = await ask(ada)
      expect(sections[0]?.items[0]?.id).toBe(String(id))
      expect(diagnostics).toMatchObject({ degraded: true, modes: ['fts'] })
      calls.down = false
      expect((await ask(ada)).diagnostics).toMatchObject({ degraded: false, modes: ['fts', 'semantic'] })
    })
  })
}
