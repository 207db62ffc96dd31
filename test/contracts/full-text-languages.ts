import { describe, expect, it } from 'vitest'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import { highlight } from '../../src/domain/search/highlight'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { entryOf, freshPrincipal } from '../support/scope'
import '../support/languages'

interface Made {
  entries: EntryStore
  fullText: FullText
  analyzer: Analyzer
}

/** Languages other than English, the same on every engine. */
export function fullTextLanguagesContract(name: string, make: (language: string) => Made): void {
  const set = (language: string) => {
    const made = make(language)
    const ada = freshPrincipal()
    return {
      ...{ ...made, ada },
      search: (query: string, mode: SearchMode = 'match') =>
        createSearchText({ ...made })(ada, query, mode, EVERYTHING),
      save: async (text: string): Promise<number> => {
        const [saved] = await made.entries.save(ada, [await entryOf(ada, { text })])
        return saved?.id as number
      },
      ids: async (query: string, mode: SearchMode = 'match') =>
        (await createSearchText({ ...made })(ada, query, mode, EVERYTHING)).ordering.map(({ id }) => id),
    }
  }

  describe(`${name} knows languages`, () => {
    it.each([
      ['french', 'Les enfants mangeaient des pommes', 'mangeait pomme'],
      ['german', 'Die Häuser stehen am Fluss', 'haus'],
      ['spanish', 'Las canciones más bonitas', 'cancion'],
      ['russian', 'Мы читали русские книги', 'книга русский'],
      ['finnish', 'Talot ovat punaisia', 'talo'],
      ['turkish', 'Kitapları okudum', 'kitap'],
      ['greek', 'Οι δρόμοι της πόλης', 'δρόμος'],
      ['hindi', 'लड़कियों ने किताबें पढ़ीं', 'लड़की'],
    ])('finds other forms of a word in %s, scores and marks them', async (language, text, query) => {
      const { save, search, fullText, analyzer } = set(language)
      const id = await save(text)
      await save('xyzzy')
      const found = await search(query)
      expect(found.ordering.map((hit) => hit.id)).toEqual([id])
      expect(found.ordering[0]?.score).toBeGreaterThan(1)
      expect(highlight(text, found.units, analyzer)).toContain('<mark>')
      expect([fullText.language, fullText.stemming]).toEqual([language, true])
    })

    it('finds decomposed and half-width kana in their usual form, in every mode', async () => {
      const { save, ids } = set('english')
      const whole = 'データベースのバックアップ'
      const made = [await save(whole), await save(whole.normalize('NFD')), await save('ﾃﾞｰﾀﾍﾞｰｽのﾊﾞｯｸｱｯﾌﾟ')]
      for (const mode of ['match', 'phrase', 'prefix', 'boolean'] as const)
        for (const query of [
          'データベース',
          'データベース'.normalize('NFD'),
          'ﾃﾞｰﾀﾍﾞｰｽ',
          'バ',
          'プ',
          'プ'.normalize('NFD'),
        ])
          expect([mode, query, (await ids(query, mode)).toSorted((a, b) => a - b)]).toEqual([mode, query, made])
    })

    it('keeps phrases, prefixes and boolean operators in their meaning', async () => {
      const { save, ids } = set('french')
      const id = await save('Nous mangeons une grande pomme rouge')
      const other = await save('une pomme, grande et rouge')
      expect(await ids('grandes pommes', 'phrase')).toEqual([id])
      expect(await ids('"grande pomme"')).toEqual([id])
      expect((await ids('pom', 'prefix')).sort()).toEqual([id, other].sort())
      expect(await ids('pomme NOT nous', 'boolean')).toEqual([other])
      expect(await ids('NOT "grande pomme"', 'boolean')).toEqual([other])
      expect(await ids('nous')).toEqual([id])
    })

    it.each([
      ['german', 'Wartung der Bordküche', 'Die Wartung der Kabine', 'der Fahrplan für die Fähre', 'die der für'],
      ['french', "l'entretien du four", 'Le four est en entretien', "l'horaire du bateau", 'le du est'],
      ['spanish', 'mantenimiento de la cocina', 'El mantenimiento es diario', 'la tarifa de la noche', 'la de'],
      ['russian', 'обслуживание на кухне', 'Это обслуживание для судна', 'расписание на неделю', 'на для'],
      ['portuguese', 'manutenção da cozinha', 'A manutenção é diária', 'a tarifa da noite', 'a da'],
      ['dutch', 'onderhoud van de oven', 'Het onderhoud is klaar', 'de prijs van het ticket', 'van het de'],
    ])('demands no word that holds a sentence together in %s', async (language, query, about, other, empty) => {
      for (const ofIndex of [language, 'english', 'finnish']) {
        const { save, ids } = set(ofIndex)
        const id = await save(about)
        const otherId = await save(other)
        expect([ofIndex, await ids(query)]).toEqual([ofIndex, [id]])
        expect(await ids(`"${other}" ${query}`)).toContain(otherId)
        expect((await ids(empty)).length).toBeGreaterThan(0)
        expect(await ids(other, 'phrase')).toEqual([otherId])
      }
    })

    it('counts no word of its language that holds a sentence together in the length of an entry', async () => {
      const { save, fullText, analyzer, ada } = set('german')
      const id = await save('Die Wartung der Küche und der Kabine')
      const query = parseQuery('wartung', 'match', analyzer)
      const { hits } = await fullText.search(ada, {
        ...{ query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: ['body'] as const },
        depth: { candidates: 10, complete: 10 },
      })
      expect(hits.map((hit) => [hit.id, hit.length])).toEqual([[id, 3]])
    })

    it.each(['simple', 'basque', 'catalan', 'yiddish'])('stems nothing in %s, and reports that', async (language) => {
      const { save, ids, fullText } = set(language)
      const id = await save('cançons running')
      expect([await ids('canço run'), await ids('cancons'), fullText.stemming]).toEqual([[], [id], false])
    })
  })
}
