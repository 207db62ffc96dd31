import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlEntryTexts } from '../../src/adapters/sql/stores/texts/entry-texts'
import type { Scope } from '../../src/domain/identity/scope'
import { literalPattern } from '../../src/domain/reading/literal'
import type { Analyzer } from '../../src/domain/search/analysis'
import { and, type Filter, not } from '../../src/domain/search/filter'
import type { Window } from '../../src/domain/search/window'
import type { PageRequest } from '../../src/ports/entry-store'
import { createGrepTexts } from '../../src/services/searching/texts/grep-texts'
import { narrowed } from '../support/bounded'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

const INDEXED = new Map([['status', 'string']] as const)
const EVEN: Filter = { op: 'equals', path: ['n'], anyOf: [0], fold: false }
const THREAD: Filter = { op: 'thread', is: 't1' }

/**
 * Pages of D1 in parts where one statement would block other requests (platform contract §6).
 *
 * @param every whether to request each page under each filter, or two of four in turn
 */
export function pageInPartsCases(make: () => Made, every: boolean): void {
  /** A store whose statements scan a limited number of entries. */
  const walking = ({ connection, analyzer, clock }: Made, entries: number, metadata?: number) => {
    const cost = { trips: 0, rests: 0, brought: 0 }
    notePauses(() => cost.rests++)
    const counted: SqlConnection = {
      dialect: narrowed(connection.dialect, metadata === undefined ? { entries } : { entries, metadata }),
      batch: (statements, lock) => {
        cost.trips++
        return connection.batch(statements, lock)
      },
      read: async (statements) => {
        cost.trips++
        const results = await connection.read(statements)
        const bytes = results.flat().map(({ metadata }) => String(metadata ?? '').length)
        cost.brought = Math.max(
          cost.brought,
          bytes.reduce((sum, length) => sum + length, 0),
        )
        return results
      },
    }
    const grep = createGrepTexts({ texts: createSqlEntryTexts(counted, clock, INDEXED) })
    const store = createSqlEntryStore(counted, analyzer, clock, INDEXED)
    const page = (scope: Scope, { filter, ...request }: PageRequest & { readonly filter: Filter }) =>
      store.page(scope, filter, request)
    return { cost, store, grep, search: page }
  }

  /** Entries in shared seconds, some with tags, and some of another org. */
  async function fill(made: Made, many: number) {
    const [ada, bob] = [freshPrincipal(), freshPrincipal()]
    const { store } = walking(made, many)
    for (let i = 0; i < many; i++) {
      if (i % 4 === 0) made.clock.advance(700)
      const who = i % 7 === 3 ? bob : ada
      const metadata = { n: i % 3, status: i % 2 === 0 ? 'open' : 'done' }
      const draft = { text: `entry ${i}`, threadId: `t${i % 2}`, metadata, tags: i % 5 === 0 ? ['five'] : [] }
      await store.save(who, [await entryOf(who, draft)])
    }
    return ada
  }

  it('stops counting after a complete page where more than ten thousand are scanned, and reports that', async () => {
    const made = make()
    const ada = await fill(made, 60)
    const once = await walking(made, 1000).store.page(ada, EVEN, { limit: 4, offset: 2, previewLength: 9 })
    const parts = walking(made, 5)
    const pages = async (offset: number) => {
      const { entries, ...told } = await parts.store.page(ada, EVEN, { limit: 4, offset, previewLength: 9 })
      return { ids: entries.map(({ id }) => id), ...told }
    }
    const ids = once.entries.map(({ id }) => id)
    expect(await pages(2)).toEqual({ ids, total: once.total })
    await made.connection.batch([
      sql`UPDATE entry_counters SET entries = entries + 10000 WHERE org = ${ada.org} AND entries > 0`,
    ])
    const stopped = await pages(2)
    expect(stopped).toMatchObject({ ids, totalIsExact: false })
    expect(stopped.total).toBeGreaterThan(2 + 4)
    expect(stopped.total).toBeLessThan(once.total)
    // The last page finds the end, and with it the total.
    expect(await pages(once.total - 3)).toMatchObject({ total: once.total })
    expect(await pages(once.total - 3)).not.toHaveProperty('totalIsExact')
  })

  it('reads in parts the page that it reads at once, in the same order with the same total', async () => {
    const made = make()
    const start = Math.floor(made.clock.now() / 1000)
    const ada = await fill(made, 36)
    const [hidden] = (await walking(made, 100).store.page(ada, EVEN, { limit: 1, offset: 3, previewLength: 9 })).entries
    await made.connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${hidden?.id}`])
    const once = walking(made, 1000)
    const filters: Filter[] = [
      EVEN,
      not(EVEN),
      and([EVEN, THREAD]),
      and([EVEN, { op: 'created', from: start + 2, to: start + 4 }]),
      and([THREAD, { op: 'created', from: start + 1, to: null }, { op: 'present', path: ['n'] }]),
      and([THREAD, { op: 'tag', anyOf: ['five'] }]),
      { op: 'or', of: [EVEN, { op: 'tag', anyOf: ['five'] }] },
      and([{ op: 'contentType', is: 'multimodal' }, EVEN]),
      { op: 'contentType', is: 'text' },
      { op: 'kind', anyOf: ['note'] },
      { op: 'present', path: ['missing'] },
    ]
    const pages = [
      { limit: 3, offset: 0 },
      { limit: 4, offset: 3 },
      { limit: 50, offset: 0 },
      { limit: 5, offset: 90 },
    ]
    const compare = async (walked: number, filter: Filter, page: Window) => {
      const { cost, store } = walking(made, walked)
      const request = { ...page, previewLength: 20 }
      expect(await store.page(ada, filter, request)).toEqual(await once.store.page(ada, filter, request))
      expect(cost.rests).toBeGreaterThan(10 / walked)
    }
    const asked = filters.flatMap((filter, i) =>
      pages.filter((_, j) => every || (i + j) % 2 === 0).map((page) => ({ filter, page })),
    )
    for (const { filter, page } of asked) await compare(6, filter, page)
    for (const page of pages) await compare(1, EVEN, page)
    for (const filter of [and([]), THREAD]) await compare(1, filter, { limit: 5, offset: 11 })
    const compared = asked.length + pages.length + 2
    expect(once.cost).toMatchObject({ trips: compared, rests: 0 })
  })

  it('needs parts in proportion to the store, and one statement where the store is small or an index answers', async () => {
    const made = make()
    const ada = await fill(made, 35)
    const cost = async (walked: number, filter: Filter, offset = 0) => {
      const { cost, store } = walking(made, walked)
      await store.page(ada, filter, { limit: 2, offset, previewLength: 20 })
      return [cost.trips, cost.rests]
    }
    // Of 30 entries ada's own: a look whether they are few, the parts with a rest before each (the last may be empty), and the page.
    expect(await cost(30, EVEN)).toEqual([1, 0])
    expect(await cost(29, EVEN)).toEqual([1 + 2 + 1, 2])
    expect(await cost(7, EVEN)).toEqual([1 + 5 + 1, 5])
    expect(await cost(3, EVEN)).toEqual([1 + 11 + 1, 11])
    // A thread has half of them.
    expect(await cost(15, and([EVEN, THREAD]))).toEqual([1, 0])
    expect(await cost(4, and([EVEN, THREAD]))).toEqual([1 + 4 + 1, 4])
    const status: Filter = { op: 'equals', path: ['status'], anyOf: ['open'], fold: true }
    const since: Filter = { op: 'created', from: 1, to: null }
    for (const answered of [and([]), THREAD]) expect(await cost(1, answered)).toEqual([1, 0])
    // In an index alone ten times as many may be passed over.
    expect([await cost(3, since), await cost(2, since)]).toEqual([
      [1, 0],
      [1 + 16 + 1, 16],
    ])
    expect([await cost(2, and([]), 20), await cost(2, and([]), 21)]).toEqual([
      [1, 0],
      [1 + 16 + 1, 16],
    ])
    // The hits of an index are one statement as long as they are few: 16 entries are open, 6 have the tag, and either works.
    const five: Filter = { op: 'tag', anyOf: ['five'] }
    expect([await cost(16, status), await cost(6, five), await cost(7, and([status, five]))]).toEqual(
      Array.from({ length: 3 }, () => [1, 0]),
    )
    // Entries with one value of an indexed field are in page order, and ten times as many are counted there.
    expect([await cost(2, status), await cost(1, status)]).toEqual([
      [1, 0],
      [1 + 31 + 1, 31],
    ])
    // Entries with one tag are in page order, and counters have their number.
    expect(await cost(5, five)).toEqual([1, 0])
    // With more, the newest of them are checked first.
    expect([await cost(7, and([status, five])), await cost(5, and([status, five]))]).toEqual([
      [1, 0],
      [1 + 1 + 7 + 1, 7],
    ])
  })

  const REQUEST = { limit: 100, offset: 0, previewLength: 20 }
  const all = (n: number, condition: (i: number) => Filter): Filter =>
    and(Array.from({ length: n }, (_, i) => condition(i)))
  const lacks = (i: number): Filter => not({ op: 'present', path: [`missing ${i}`] })

  it('scans a chunk of metadata at a time, of as many entries as filters and bytes allow', async () => {
    const made = make()
    const ada = freshPrincipal()
    // Of about 500 bytes each, and one without any.
    for (let i = 0; i < 16; i++) {
      const metadata = i === 3 ? undefined : { n: i % 2, pad: 'a'.repeat(480), list: ['x'] }
      const draft = { text: `entry ${i}`, threadId: `t${i % 2}`, metadata, tags: ['each'] }
      await walking(made, 100).store.save(ada, [await entryOf(ada, draft)])
    }
    const cost = async (filter: Filter, [walked, parsed]: readonly [number, number]) => {
      const { cost, search } = walking(made, walked, parsed)
      const { entries, total } = await search(ada, { filter, ...REQUEST })
      const whole = await walking(made, 1000, 1e9).store.page(ada, filter, REQUEST)
      expect([entries, total]).toEqual([whole.entries, whole.total])
      return cost.trips
    }
    const entriesAt = (most: number) => [most, 1e9] as const
    const bytesAt = (most: number) => [1000, most] as const
    // A check, parts of one entry for each hundred plain filters instead of 16, and the page.
    expect([await cost(EVEN, entriesAt(16)), await cost(all(100, lacks), entriesAt(16))]).toEqual([1, 1 + 17 + 1])
    expect(await cost(all(100, lacks), entriesAt(100))).toBe(1 + 5 + 1)
    // 2,000 bytes are four entries for a plain filter, and one where an array is scanned; whatever index is used.
    expect([await cost(EVEN, bytesAt(9_000)), await cost(EVEN, bytesAt(2_000))]).toEqual([1, 1 + 4 + 1])
    const list: Filter = { op: 'elements', path: ['list'], allOf: ['x'], fold: false }
    expect(await cost(list, bytesAt(2_000))).toBeGreaterThan(1 + 14)
    expect(await cost(and([EVEN, { op: 'tag', anyOf: ['each'] }]), bytesAt(2_000))).toBe(1 + 1 + 4 + 1)
    expect(await cost(and([not(EVEN), THREAD]), bytesAt(2_000))).toBe(1 + 2 + 1)
    await expect(cost(EVEN, bytesAt(1))).resolves.toBe(1 + 16 + 1)
  })

  it('parses a share of large metadata at a time, with pauses', async () => {
    const made = make()
    const ada = freshPrincipal()
    const [entries, size] = [12, 150_000]
    for (let i = 0; i < entries; i++) {
      const draft = { text: `entry ${i}`, threadId: `t${i % 2}`, metadata: { n: i % 3, s: `${'a'.repeat(size)}${i}` } }
      await walking(made, 100).store.save(ada, [await entryOf(ada, draft)])
    }
    const run = async (filter: Filter, parsed = 1e9) => {
      const { cost, search } = walking(made, 1000, parsed)
      // Behind the last, so that no entry is shown.
      const { total } = await search(ada, { filter, ...REQUEST, offset: entries })
      return { total, ...cost }
    }
    expect(await run(EVEN)).toMatchObject({ total: 4, trips: 1, rests: 0, brought: 0 })
    // Three of them in a share of 400,000 bytes.
    expect(await run(EVEN, 400_000)).toMatchObject({ total: 4, trips: 1 + 5, rests: 5, brought: 0 })
    expect(await run({ op: 'substring', path: ['s'], at: 'end', value: 'a7', fold: true })).toMatchObject({ total: 1 })
  })

  it('searches through texts in parts of the entries that a filter checks, and finds the same as one statement', async () => {
    const made = make()
    const ada = await fill(made, 35)
    const pattern = literalPattern('entry 1', false)
    const request = {
      pattern,
      narrowing: null,
      ids: null,
      beforeId: null,
      context: 0,
      maxMatches: 100,
      maxEntries: 100,
    }
    const never: Filter = { op: 'present', path: ['missing'] }
    const five: Filter = { op: 'tag', anyOf: ['five'] }
    const status: Filter = { op: 'equals', path: ['status'], anyOf: ['open'], fold: true }
    for (const filter of [
      never,
      EVEN,
      and([EVEN, THREAD]),
      five,
      and([five, EVEN]),
      status,
      and([status, never]),
      THREAD,
    ])
      for (const [walked, maxEntries] of [
        [4, 100],
        [1, 100],
        [3, 2],
      ] as const) {
        // The position to continue from may differ by entries that the filter does not match.
        const pages = async (most: number) => {
          const { grep } = walking(made, most)
          const found: unknown[] = []
          for (let beforeId: number | null = null; ; ) {
            const page = await grep(ada, { ...request, filter, maxEntries, beforeId })
            if (page.scanned > 0) found.push({ ...page, nextBeforeId: null })
            if (page.nextBeforeId === null) return found
            beforeId = page.nextBeforeId
          }
        }
        expect(await pages(walked)).toEqual(await pages(1000))
      }
    const cost = async (walked: number, filter: Filter) => {
      const { cost, grep } = walking(made, walked)
      await grep(ada, { ...request, filter })
      return [cost.trips, cost.rests]
    }
    // Of 30 entries 6 have the tag, which is the access path; where that is too many, its probe is a separate trip.
    expect([await cost(7, never), await cost(6, five), await cost(5, five)]).toEqual([
      [5, 4],
      [1, 0],
      [1 + 7, 6],
    ])
  })
}
