import { describe, expect, it } from 'vitest'
import { repeated } from '../../bench/faults/alphabets.mjs'
import type { SqlConnection } from '../../src/adapters/sql/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/entry-store'
import type { Analyzer } from '../../src/domain/analysis'
import { EVERYTHING, type Filter } from '../../src/domain/filter'
import { createPace, SLICE, STEP } from '../../src/domain/pace'
import { LOOKED_AT } from '../../src/domain/passage'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { createRankedSearches } from '../../src/services/ranked-search'
import { createSearchText } from '../../src/services/search-text'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly clock: TestClock
}

const LONG = repeated('hay ', 400_000)

/** What is read and done for long texts, counted, whatever database is behind it. */
export function longTextsContract(name: string, make: () => Made): void {
  describe(`${name} serves long texts`, () => {
    it('rests between slices of what it stores and changes', async () => {
      const { analyzer, connection, clock } = make()
      let rests = 0
      const pace = createPace(async () => {
        rests++
      })
      const entries = createSqlEntryStore(connection, analyzer, clock, new Set(), pace)
      const ada = freshPrincipal()
      const [one, two] = await Promise.all([entryOf(ada, { text: LONG }), entryOf(ada, { text: `${LONG}x` })])
      const [saved] = await entries.save(ada, [one, two])
      // Each text is read for its terms and once more when its statement is made.
      const least = Math.floor((2 * LONG.length) / (SLICE + STEP))
      expect(rests).toBeGreaterThanOrEqual(least)
      rests = 0
      const id = saved?.id as number
      const indexed = {
        text: LONG,
        threadId: 'thread',
        title: null,
        project: null,
        agent: null,
        reader: '',
        layer: 2 as const,
        metadata: null,
      }
      await entries.change(ada, [{ id, version: 1, steps: 1, text: { text: LONG, hash: 'h' }, indexed }])
      expect(rests).toBeGreaterThanOrEqual(Math.floor(least / 2))
    })

    it('reads stretches by code points, of what scope and filter admit', async () => {
      const { entries } = make()
      const ada = freshPrincipal()
      const drafts = [
        { text: '🌍bc🌍ef', threadId: 'a' },
        { text: 'other', threadId: 'b' },
      ]
      const saved = await entries.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
      const wanted = saved.map(({ id }) => ({ id, start: 2, length: 3 }))
      const inA: Filter = { op: 'thread', is: 'a' }
      expect((await entries.stretches(ada, EVERYTHING, wanted)).map(({ text }) => text).sort()).toEqual(['c🌍e', 'her'])
      expect(await entries.stretches(ada, inA, wanted)).toEqual([{ id: saved[0]?.id, text: 'c🌍e' }])
      expect(await entries.stretches(freshPrincipal(), EVERYTHING, wanted)).toEqual([])
    })

    it('reads the first 50,000 characters to highlight and to rerank, and no more of what meaning found than its chunk', async () => {
      const made = make()
      const ada = freshPrincipal()
      const text = `needle ${LONG}`
      await made.entries.save(ada, [await entryOf(ada, { text })])
      let read = 0
      const entries: EntryStore = {
        ...made.entries,
        stretches: async (...args) => {
          const found = await made.entries.stretches(...args)
          for (const { text } of found) read += [...text].length
          return found
        },
        previews: async (...args) => {
          const found = await made.entries.previews(...args)
          for (const { text } of found) read += [...text].length
          return found
        },
      }
      const passages: string[] = []
      const reranker = {
        provider: 'test',
        model: 'even',
        rerank: async (_: string, given: readonly string[]) => {
          passages.push(...given)
          return given.map(() => 0.5)
        },
      }
      const chunk = { id: 0, cosine: 1, distance: 0, start: 7, length: 1_500 }
      const searchSemantic = Object.assign(
        async () => ({ hits: [{ ...chunk, id: saved }], embeddingMs: 0 }),
        {} as Parameters<typeof createRankedSearches>[0]['searchSemantic'] & object,
      )
      const searchText = createSearchText(made)
      const searches = createRankedSearches({
        ...{ entries, analyzer: made.analyzer, searchText, searchSemantic, reranker, overfetch: 2 },
      })
      const request = { query: 'needle', filter: EVERYTHING, limit: 5, offset: 0, previewLength: 301 }
      const found = await searches.byWords(ada, { ...request, mode: 'match', highlight: true })
      const saved = found.results[0]?.entry.id as number
      expect(found.results[0]?.highlighted).toMatch(/^<mark>needle<\/mark> hay/)
      expect(read).toBe(LOOKED_AT + 1 + 301)
      read = 0
      await searches.byMeaning(ada, request)
      expect(read).toBe(1_500 + 301)
      expect(passages.map((passage) => [...passage].length)).toEqual([2_000, 1_500])
      expect(passages[1]).toBe(text.slice(7, 1_507))
    })
  })
}
