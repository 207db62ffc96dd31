// What full text does on PostgreSQL beyond its contract: the limits of tsvector.

import { describe, expect, it } from 'vitest'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { SearchMode } from '../../src/domain/search/query'
import { WITHOUT_REST } from '../../src/domain/yielder'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

function set() {
  const made = postgresAdapters(new TestClock())
  const ada = freshPrincipal()
  return {
    ...made,
    save: async (text: string): Promise<number> => {
      const [saved] = await made.entries.save(ada, [await entryOf(ada, { text })])
      return saved?.id as number
    },
    search: (query: string, mode: SearchMode = 'match') =>
      createSearchText({ ...made, yielder: WITHOUT_REST })(ada, query, mode, EVERYTHING),
    ids: async (query: string, mode: SearchMode = 'match') =>
      (await createSearchText({ ...made, yielder: WITHOUT_REST })(ada, query, mode, EVERYTHING)).ordering.map(
        ({ id }) => id,
      ),
  }
}

describe('PostgreSQL keeps within the limits of tsvector', () => {
  it('takes a text of a million bytes of different words, and finds its beginning', async () => {
    const { save, ids, connection } = set()
    const words = Array.from({ length: 110_000 }, (_, i) => `w${i.toString(36)}x${(i * 7919).toString(36)}`)
    const id = await save(words.join(' ').slice(0, 999_000))
    expect(await ids(words[3] as string)).toEqual([id])
    await connection.close()
  })

  it('takes a word of any length and a word repeated without end', async () => {
    const { save, ids, connection } = set()
    const long = await save(`${'x'.repeat(5_000)} ${'猫'.repeat(3_000)}`)
    const often = await save('echo '.repeat(100_000))
    expect(await ids('x'.repeat(5_000))).toEqual([long])
    expect(await ids('echo')).toEqual([often])
    await connection.close()
  })

  it('finds a phrase behind the last position that a tsvector knows', async () => {
    const { save, ids, connection } = set()
    const id = await save(`${'filler '.repeat(20_000)} needle in haystack ${'filler '.repeat(1_000)}`)
    await save('a haystack in needle')
    expect(await ids('needle in haystack', 'phrase')).toEqual([id])
    await connection.close()
  })
})
