// What full text does on PostgreSQL beyond its contract: languages that only the database stems, and the limits of tsvector.
import { describe, expect, it } from 'vitest'
import { EVERYTHING } from '../../src/domain/filter'
import { highlight } from '../../src/domain/highlight'
import type { SearchMode } from '../../src/domain/query'
import { createSearchText } from '../../src/services/search-text'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

function set(language: string) {
  const made = postgresAdapters(new TestClock(), language)
  const ada = freshPrincipal()
  return {
    ...made,
    save: async (text: string): Promise<number> => {
      const [saved] = await made.entries.save(ada, [await entryOf(ada, { text })])
      return saved?.id as number
    },
    search: (query: string, mode: SearchMode = 'match') => createSearchText(made)(ada, query, mode, EVERYTHING),
    ids: async (query: string, mode: SearchMode = 'match') =>
      (await createSearchText(made)(ada, query, mode, EVERYTHING)).ordering.map(({ id }) => id),
  }
}

describe('PostgreSQL stems 28 languages itself', () => {
  it.each([
    ['french', 'Les enfants mangeaient des pommes', 'mangeait pomme'],
    ['german', 'Die Häuser stehen am Fluss', 'haus'],
    ['spanish', 'Las canciones más bonitas', 'cancion'],
    ['russian', 'Мы читали книги', 'книга'],
    ['finnish', 'Talot ovat punaisia', 'talo'],
    ['turkish', 'Kitapları okudum', 'kitap'],
  ])('finds other forms of a word in %s, scores and marks them', async (language, text, query) => {
    const { save, search, fullText, connection } = set(language)
    const id = await save(text)
    await save('xyzzy')
    const found = await search(query)
    expect(found.ordering.map((hit) => hit.id)).toEqual([id])
    expect(found.ordering[0]?.score).toBeGreaterThan(1)
    expect(highlight(text, found.units, found.analyzer)).toContain('<mark>')
    expect([fullText.language, fullText.stemming]).toEqual([language, true])
    await connection.close()
  })

  it('keeps phrases, prefixes, boolean operators and stop words in their meaning', async () => {
    const { save, ids, connection } = set('french')
    const id = await save('Nous mangeons une grande pomme rouge')
    const other = await save('une pomme, grande et rouge')
    expect(await ids('grandes pommes', 'phrase')).toEqual([id])
    expect(await ids('"grande pomme"')).toEqual([id])
    expect((await ids('pom', 'prefix')).sort()).toEqual([id, other].sort())
    expect(await ids('pomme NOT nous', 'boolean')).toEqual([other])
    expect(await ids('NOT "grande pomme"', 'boolean')).toEqual([other])
    expect(await ids('nous')).toEqual([id])
    await connection.close()
  })

  it('stems nothing in simple', async () => {
    const { save, ids, fullText, connection } = set('simple')
    const id = await save('running')
    expect([await ids('run'), await ids('running'), fullText.stemming]).toEqual([[], [id], false])
    await connection.close()
  })
})

describe('PostgreSQL keeps within the limits of tsvector', () => {
  it('takes a text of a million bytes of different words, and finds its beginning', async () => {
    const { save, ids, connection } = set('english')
    const words = Array.from({ length: 110_000 }, (_, i) => `w${i.toString(36)}x${(i * 7919).toString(36)}`)
    const id = await save(words.join(' ').slice(0, 999_000))
    expect(await ids(words[3] as string)).toEqual([id])
    await connection.close()
  })

  it('takes a word of any length and a word repeated without end', async () => {
    const { save, ids, connection } = set('english')
    const long = await save(`${'x'.repeat(5_000)} ${'猫'.repeat(3_000)}`)
    const often = await save('echo '.repeat(100_000))
    expect(await ids('x'.repeat(5_000))).toEqual([long])
    expect(await ids('echo')).toEqual([often])
    await connection.close()
  })

  it('finds a phrase behind the last position that a tsvector knows', async () => {
    const { save, ids, connection } = set('english')
    const id = await save(`${'filler '.repeat(20_000)} needle in haystack ${'filler '.repeat(1_000)}`)
    await save('a haystack in needle')
    expect(await ids('needle in haystack', 'phrase')).toEqual([id])
    await connection.close()
  })
})
