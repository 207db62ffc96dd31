// Full text on PostgreSQL beyond its contract: the limits of tsvector.

import { describe, expect, it } from 'vitest'
import { createPostgresFullText } from '../../src/adapters/postgres/full-text'
import { render } from '../../src/adapters/sql/core/connection'
import { EVERYTHING } from '../../src/domain/search/filter'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { TextColumn } from '../../src/ports/full-text'
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
    search: (query: string, mode: SearchMode = 'match') => createSearchText({ ...made })(ada, query, mode, EVERYTHING),
    ids: async (query: string, mode: SearchMode = 'match') =>
      (await createSearchText({ ...made })(ada, query, mode, EVERYTHING)).ordering.map(({ id }) => id),
  }
}

describe('PostgreSQL keeps within the limits of tsvector', () => {
  it('accepts a text of a million bytes of different words, and finds its beginning', async () => {
    const { save, ids, connection } = set()
    const words = Array.from({ length: 110_000 }, (_, i) => `w${i.toString(36)}x${(i * 7919).toString(36)}`)
    const id = await save(words.join(' ').slice(0, 999_000))
    expect(await ids(words[3] as string)).toEqual([id])
    await connection.close()
  })

  it('accepts a word of any length and a word repeated without end', async () => {
    const { save, ids, connection } = set()
    const long = await save(`${'x'.repeat(5_000)} ${'猫'.repeat(3_000)}`)
    const often = await save('echo '.repeat(100_000))
    expect(await ids('x'.repeat(5_000))).toEqual([long])
    expect(await ids('echo')).toEqual([often])
    await connection.close()
  })

  it('finds a phrase after the last position of a tsvector', async () => {
    const { save, ids, connection } = set()
    const id = await save(`${'filler '.repeat(20_000)} needle in haystack ${'filler '.repeat(1_000)}`)
    await save('a haystack in needle')
    expect(await ids('needle in haystack', 'phrase')).toEqual([id])
    await connection.close()
  })
})

describe('PostgreSQL is queried for words only as often as necessary', () => {
  it('asks its index equally often for one word and for several, in a recall as in a search, and again only for words next to each other', async () => {
    const { connection, analyzer } = set()
    const ada = freshPrincipal()
    const statements: string[] = []
    const told: typeof connection = {
      ...connection,
      read: (asked) => {
        statements.push(...asked.map((statement) => render(statement, () => '?')))
        return connection.read(asked)
      },
    }
    const fullText = createPostgresFullText(told, analyzer, new TestClock())
    const looks = async (text: string, columns: readonly TextColumn[]) => {
      statements.length = 0
      const query = parseQuery(text, 'match', analyzer)
      const terms = scoredTerms(query.units)
      await fullText.search(ada, {
        ...{ query, terms, columns, filter: EVERYTHING, depth: { candidates: 10, complete: 5 } },
      })
      return statements.join().split('FROM entries_fts').length - 1
    }
    const [recall, search] = [['title', 'body', 'code'] as const, ['body', 'context'] as const]
    for (const text of ['token', 'token stream deploy', 'token str* deploy', '猫'])
      expect([text, await looks(text, recall)]).toEqual([text, await looks(text, search)])
    expect(await looks('token stream deploy', recall)).toBe((await looks('token', recall)) + 2)
    expect(await looks('token "stream deploy"', recall)).toBe(6)
    await connection.close()
  })
})
