import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import { applyUpdates } from '../../src/domain/entry/update'
import { UNFILTERED_FEED } from '../../src/domain/history/feed'
import type { Caller } from '../../src/domain/identity/scope'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import { parseQuery } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

const PAGE = { limit: 100, offset: 0, previewLength: 301 }
const END = '2099-01-01T00:00:00.000Z'
const analyzer = createAnalyzer('english')

export interface CapturedUnderTest {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly connection: SqlConnection
  readonly clock: TestClock
}

/** Captured entries are not in lists, searches and counts until a person approves them (capture contract §4). */
export function capturedEntriesContract(name: string, make: () => CapturedUnderTest): void {
  describe(`${name} leaves captured entries out`, () => {
    let under: CapturedUnderTest
    let ada: Caller
    beforeEach(() => {
      under = make()
      ada = freshPrincipal()
    })

    const captured = (project: string | null = null) => ({
      ...{ captured: true, kind: 'session', expires_at: END, audience: 'private' },
      ...(project === null ? {} : { project }),
    })
    const capture = async (text: string, project: string | null = null): Promise<number> => {
      const draft = { threadId: 'session:codex:1', source: 'agent' as const, text, tags: ['ferry'] }
      const entry = await entryOf(ada, { ...draft, captured: true, metadata: captured(project) })
      return (await under.entries.save(ada, [entry]))[0]?.id as number
    }
    const listed = async (by = ada) => (await under.entries.page(by, EVERYTHING, PAGE)).entries.map(({ id }) => id)
    const find = async (text: string, isCaptured: boolean, by = ada) => {
      const query = parseQuery(text, 'match', analyzer)
      const { hits, statistics } = await under.fullText.search(by, {
        ...{ query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: ['body'], captured: isCaptured },
        depth: { candidates: 10, complete: 10 },
      })
      return { ids: hits.map(({ id }) => id), statistics }
    }
    const keep = async (id: number) => {
      const [entry] = await under.entries.read(ada, [id])
      if (entry === undefined) throw new Error(`${id} cannot be read`)
      await under.entries.change(ada, [await applyUpdates(ada, entry, [{ id, metadataPatch: { captured: false } }])])
    }

    it('lists, counts and finds none of them, and weighs no word by them', async () => {
      const [one] = await under.entries.save(ada, [await entryOf(ada, { text: 'the harbour light', tags: ['ferry'] })])
      const before = [await find('harbour', false), await under.entries.statistics(ada)]
      for (let i = 0; i < 5; i++) await capture(`harbour harbour ${i}`)
      const [found, statistics] = [await find('harbour', false), await under.entries.statistics(ada)]
      expect([found, { ...statistics, bytes: null }]).toEqual([
        before[0],
        { ...(before[1] as typeof statistics), bytes: null },
      ])
      expect(await listed()).toEqual([one?.id])
      expect((await under.entries.threads(ada, PAGE)).threads.map(({ threadId }) => threadId)).toEqual(['thread'])
    })

    it('returns them by id to their owner only, and by words when captured entries are requested', async () => {
      const id = await capture('the harbour light', 'ferry')
      const ben = { ...ada, owner: 'ben' }
      expect((await under.entries.read(ada, [id]))[0]).toMatchObject({
        captured: true,
        archived: false,
        kind: 'session',
      })
      expect(await under.entries.read(ben, [id])).toEqual([])
      expect((await find('harbour', true)).ids).toEqual([id])
      expect((await find('harbour', true)).statistics.entries).toBe(1)
      expect((await find('harbour', true, ben)).ids).toEqual([])
      expect((await find('harbour', true, { ...ada, projects: ['other'] })).ids).toEqual([])
    })

    it('lists approved entries, without the expiry that capturing set, and finds it by its words', async () => {
      const id = await capture('the harbour light')
      await keep(id)
      const [entry] = await under.entries.read(ada, [id])
      expect(entry).toMatchObject({ captured: false, archived: false, version: 2 })
      expect(entry?.metadata).toEqual({ kind: 'session', audience: 'private' })
      expect(await listed()).toEqual([id])
      expect((await find('harbour', false)).ids).toEqual([id])
      expect((await find('harbour', true)).ids).toEqual([])
    })

    it('lets nothing else call itself captured, neither at once nor later', async () => {
      const metadata = { captured: true }
      const refused = { code: 'invalid_input', message: expect.stringContaining('metadata.captured') }
      await expect(entryOf(ada, { metadata })).rejects.toMatchObject(refused)
      await expect(entryOf(ada, { metadata: { captured: 'yes' } })).rejects.toMatchObject(refused)
      const [one] = await under.entries.save(ada, [await entryOf(ada)])
      const [entry] = await under.entries.read(ada, [one?.id as number])
      if (entry === undefined) throw new Error('cannot be read')
      await expect(applyUpdates(ada, entry, [{ id: entry.id, metadata }])).rejects.toMatchObject(refused)
    })

    it('lists them in the change feed for those who may read them', async () => {
      const id = await capture('the harbour light')
      const read = async (by: Caller) => {
        const { changes } = await createSqlChangeFeed(under.connection, under.clock).page(
          by,
          UNFILTERED_FEED,
          'start',
          10,
        )
        return changes.map(({ action, entryId, preview }) => [action, entryId, preview])
      }
      expect(await read(ada)).toEqual([['stored', id, 'the harbour light']])
      expect(await read({ ...ada, owner: 'ben' })).toEqual([])
      await keep(id)
      expect(await read(ada)).toHaveLength(2)
    })
  })
}
