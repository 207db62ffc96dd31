import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import type { Caller } from '../../src/domain/identity/scope'
import type { Analyzer } from '../../src/domain/search/analysis'
import { and } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

/** Size limits of reads: never more than requested, whatever the entries contain. */
export function entrySizesContract(name: string, make: () => Made): void {
  describe(`${name} reads within a size`, () => {
    let entries: EntryStore
    let ada: Caller
    beforeEach(() => {
      entries = make().entries
      ada = freshPrincipal()
    })
    const save = async (size: number, more: Record<string, unknown> = {}): Promise<number> =>
      (await entries.save(ada, [await entryOf(ada, { text: 'x'.repeat(size), ...more })], { dedupe: false }))[0]
        ?.id as number
    const within = async (ids: number[], bytes: number) => {
      const { entries: found, omitted } = await entries.readWithin(ada, ids, bytes)
      return [found.map(({ id, text }) => [id, text.length]), omitted]
    }

    it('returns entries in the order of the ids until the size is reached, and names the others', async () => {
      const [a, b, c] = [await save(1_000), await save(2_000), await save(500)]
      expect(await within([c, a, b], 10_000)).toEqual([
        [
          [c, 500],
          [a, 1_000],
          [b, 2_000],
        ],
        [],
      ])
      expect(await within([b, a, c], 3_100)).toEqual([
        [
          [b, 2_000],
          [a, 1_000],
        ],
        [c],
      ])
      expect(await within([b, a, c], 2_100)).toEqual([[[b, 2_000]], [a, c]])
    })

    it('returns the first however large it is, counts metadata, and leaves out missing entries', async () => {
      const large = await save(5_000)
      const described = await save(10, { metadata: { note: 'y'.repeat(3_000) } })
      expect(await within([999_999_999, large, large], 10)).toEqual([[[large, 5_000]], []])
      expect(await within([described, large], 2_000)).toEqual([[[described, 10]], [large]])
      expect(await within([999_999_999], 10)).toEqual([[], []])
      expect(await within([], 10)).toEqual([[], []])
    })

    it('rests while it reads metadata of very many values, whether a page asks for them, ids, or previews', async () => {
      const metadata = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key_${i}`, 100_000 + i]))
      const ids: number[] = []
      for (let i = 0; i < 4; i++) ids.push(await save(10, { metadata }))
      const { connection, analyzer, clock } = make()
      let rests = 0
      notePauses(() => rests++)
      const store = createSqlEntryStore(connection, analyzer, clock, new Map())
      const restsOf = async (read: () => Promise<readonly { readonly metadata: unknown }[]>): Promise<number> => {
        rests = 0
        expect((await read()).map((entry) => entry.metadata)).toEqual(Array(4).fill(metadata))
        return rests
      }
      const request = { limit: 10, offset: 0, previewLength: 100 }
      expect(await restsOf(async () => (await store.page(ada, and([]), request)).entries)).toBeGreaterThanOrEqual(2)
      expect(await restsOf(() => store.previews(ada, and([]), ids, 100))).toBeGreaterThanOrEqual(2)
      expect(await restsOf(async () => (await store.readWithin(ada, ids, 8_000_000)).entries)).toBeGreaterThanOrEqual(2)
      expect(await restsOf(() => store.read(ada, ids))).toBeGreaterThanOrEqual(2)
    })

    it('names nothing that the caller may not read', async () => {
      const id = await save(1_000)
      const { entries: found, omitted } = await entries.readWithin(freshPrincipal(), [id], 10)
      expect([found, omitted]).toEqual([[], []])
    })
  })
}
