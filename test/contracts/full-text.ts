import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Caller } from '../../src/domain/identity/scope'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { highlight } from '../../src/domain/search/highlight'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText, TextColumn } from '../../src/ports/full-text'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

interface Made {
  entries: EntryStore
  fullText: FullText
  analyzer: Analyzer
  clock: TestClock
}

/** Behavior of every FullText, on every engine. */
export function fullTextContract(name: string, make: () => Made): void {
  describe(`${name} finds by words`, () => {
    let made: Made
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })

    const save = async (text: string, draft: Partial<EntryDraft> = {}, by = ada): Promise<number> => {
      const [saved] = await made.entries.save(by, [await entryOf(by, { text, ...draft })])
      return saved?.id as number
    }
    const search = async (query: string, mode: SearchMode = 'match', filter: Filter = EVERYTHING, by = ada) => {
      const { ordering } = await createSearchText({ ...made })(by, query, mode, filter)
      return ordering.map(({ id }) => id)
    }

    it('finds other forms of an English word, with and without accents and case', async () => {
      const id = await save('She was RUNNING past the café')
      for (const query of ['run', 'runs', 'cafe', 'CAFÉ', 'running']) expect(await search(query)).toEqual([id])
    })

    it('finds what the same call order has just stored, changed and deleted', async () => {
      const id = await save('apples')
      expect(await search('apple')).toEqual([id])
      await made.entries.change(ada, [
        {
          id,
          version: 1,
          steps: 1,
          text: { text: 'pears', hash: 'h' },
          indexed: {
            text: 'pears',
            captured: false,
            threadId: 'thread',
            title: null,
            project: null,
            agent: null,
            reader: '',
            layer: 2 as const,
            metadata: null,
          },
        },
      ])
      expect(await search('apple')).toEqual([])
      expect(await search('pear')).toEqual([id])
      await made.entries.delete(ada, { ids: [id] })
      expect(await search('pear')).toEqual([])
    })

    it('puts entries with all words before others, with any scores', async () => {
      const all = await save(
        `${'filler words between things here '.repeat(40)} alpha ${'more filler '.repeat(40)} beta`,
      )
      const one = await save('alpha alpha alpha')
      expect(await search('alpha beta')).toEqual([all, one])
    })

    it('finds the title in every mode, as it finds the text', async () => {
      const id = await save('about something else', { metadata: { title: 'Rolling restarts of the gateway' } })
      await save('rolling stones, and a restart')
      expect((await search('gateways'))[0]).toBe(id)
      expect(await search('restarts of the gateway', 'phrase')).toEqual([id])
      expect(await search('gateway about', 'phrase')).toEqual([])
      expect(await search('rolling gatew', 'prefix')).toEqual([id])
      expect(await search('gateway AND NOT stones', 'boolean')).toEqual([id])
    })

    it('folds invisible characters, marks that Arabic and Hebrew leave out, strokes, and finds Korean nouns before particles', async () => {
      const cases: [string, string][] = [
        ['in\u00adfor\u00adma\u00adtion desk', 'information'],
        ['zero\u200bwidth', 'zerowidth'],
        ['مُحَمَّد كتب', 'محمد'],
        ['كتـــاب جديد', 'كتاب'],
        ['שָׁלוֹם עולם', 'שלום'],
        ['Łódź i Ørsted w Đakovo', 'lodz'],
        ['Łódź i Ørsted w Đakovo', 'orsted'],
        ['Łódź i Ørsted w Đakovo', 'dakovo'],
        ['Hermes는 메시지를 보낸다', 'Hermes'],
        ['배포는 서버에서 합니다', '서버'],
      ]
      for (const [text, query] of cases) {
        const by = freshPrincipal()
        const id = await save(text, {}, by)
        expect([query, await search(query, 'match', EVERYTHING, by)]).toEqual([query, [id]])
        expect([query, await search(query, 'prefix', EVERYTHING, by)]).toEqual([query, [id]])
      }
    })

    it('finds a compound by its parts and a part by its compounds, behind complete words', async () => {
      const simple = await save('Die Küche schließt eine Stunde vor dem Anlegen, damit der Boden trocknet.')
      const compound = await save('In der Bordküche arbeitet nur Personal mit Hygieneausweis.')
      expect(await search('Küche')).toEqual([simple, compound])
      expect(await search('Bordküche')).toEqual([compound, simple])
      expect(await search('Bordküchen')).toEqual([compound, simple])
      expect(await search('Hygiene')).toEqual([compound])
      expect(await search('Ausweis')).toEqual([compound])
      expect(await search('Gemeinschaftsküche')).toEqual([simple])
      expect(await search('Bordküche', 'phrase')).toEqual([compound])
      expect(await search('Küche', 'prefix')).toEqual([simple])
      expect(await search('Küche', 'match', EVERYTHING, freshPrincipal())).toEqual([])
    })

    it('finds compounds in titles, and of other languages that join words', async () => {
      const titled = await save('Siehe unten, wenn der Wind dreht.', { metadata: { title: 'Fahrplanänderung' } })
      const dutch = await save('De veerbootkapitein beslist ook bij storm over het vertrek.')
      const swedish = await save('Vi har inte någon reservation på sommartidtabellen.')
      expect(await search('Änderung')).toEqual([titled])
      expect(await search('kapitein')).toEqual([dutch])
      expect(await search('tidtabell')).toEqual([swedish])
    })

    it('treats no English word as a part of another', async () => {
      await save('The firewall drops packets, and the database of the framework restarts.')
      for (const query of ['wall', 'base', 'work', 'firewalls of databases and walls', 'basement'])
        if (query.length < 9) expect([query, await search(query)]).toEqual([query, []])
      await save('A wall and a base, and work to do.')
      expect(await search('firewall')).toHaveLength(1)
    })

    it('counts a word of the title twice', async () => {
      const inTitle = await save('one two three four five six', { metadata: { title: 'lantern' } })
      const inText = await save('lantern one two three four five six', { metadata: { title: 'seven' } })
      expect(await search('lantern')).toEqual([inTitle, inText])
    })

    it('drops stop words while anything else remains, and searches them alone unchanged', async () => {
      const lamp = await save('a lamp')
      const only = await save('to be or not to be')
      expect(await search('where is the lamp')).toEqual([lamp])
      expect(await search('to be')).toEqual([only])
    })

    it('drops stop words at the ends of an adjacency, never inside it', async () => {
      const fahim = await save('Fahim likes rowing')
      const both = await save('Paola: a holiday')
      const state = await save('state of the art')
      expect(await search("Fahim's hobbies")).toEqual([fahim])
      expect(await search("Paola's holiday")).toEqual([both])
      expect(await search('“Paola’s” holiday')).toEqual([both])
      expect(await search('state-of-the-art')).toEqual([state])
      expect(await search('the-state')).toEqual([state])
      const only = await save("it's")
      expect(await search("it's")).toEqual([only])
      expect(await search("it's Fahim's")).toEqual([fahim])
    })

    it('raises an entry with all of more than three words, but ranks a better one before it', async () => {
      const filler = 'filler words between things here '.repeat(40)
      const all = await save(`alpha ${filler} beta ${filler} gamma ${filler} delta`)
      const three = await save('alpha alpha beta beta gamma gamma')
      expect(await search('alpha beta gamma delta')).toEqual([three, all])
      expect(await search('alpha beta delta')).toEqual([all, three])
      const same = await save('alpha beta gamma other')
      const complete = await save('alpha beta gamma delta')
      const order = await search('alpha beta gamma delta')
      expect(order.indexOf(complete)).toBeLessThan(order.indexOf(same))
    })

    it('keeps quoted phrases together in match, and ignores an unclosed quote', async () => {
      const id = await save('the red door')
      const other = await save('a door that is red')
      expect(await search('"red door"')).toEqual([id])
      expect((await search('"red door')).sort()).toEqual([id, other].sort())
    })

    it('reads a token of several words as neighbors', async () => {
      const id = await save('we use full-text search')
      await save('the text is full')
      expect(await search('full-text')).toEqual([id])
      expect(await search('v1.2')).toEqual([])
    })

    it('gives operators no meaning in match', async () => {
      const id = await save('and so it goes NOT here')
      await save('elsewhere')
      expect(await search('goes NOT here')).toEqual([id])
      expect(await search('+goes -here')).toEqual([id])
    })

    it('finds by beginnings in prefix mode, every unit of them', async () => {
      const id = await save('authentication with expiring tokens')
      await save('authority')
      expect(await search('auth tok', 'prefix')).toEqual([id])
      expect(await search('toke*', 'prefix')).toEqual([id])
      expect(await search('tokx', 'prefix')).toEqual([])
    })

    it('compares beginnings with words as they are written, never with their stems', async () => {
      const id = await save('Running on full-text and asynchronous authentication, happily')
      const other = await save('authentic full tests, happy and asymmetric, run')
      const cases: [string, number[]][] = [
        ['runn', [id]],
        ['run', [id, other]],
        ['authenticat', [id]],
        ['authentic', [id, other]],
        ['asyn*', [id]],
        ['full-te', [id, other]],
        ['full-tex', [id]],
        ['fulltext', []],
        ['happil', [id]],
        ['happi', [id]],
        ['happy', [other]],
        ['FULL-TES', [other]],
        ['authenticati asynchr', [id]],
        ['tests,happ', [other]],
        ['full happ', [id, other]],
      ]
      for (const [query, expected] of cases) {
        expect([query, (await search(query, 'prefix')).sort((a, b) => a - b)]).toEqual([query, expected])
        const boolean = query.replace(/\*$/, '').replaceAll(/(?<=.)(?=$| )/g, '*')
        expect([boolean, (await search(boolean, 'boolean')).sort((a, b) => a - b)]).toEqual([boolean, expected])
      }
    })

    it('finds beginnings of the month and the agent, and none that reach from the text into them', async () => {
      made.clock.ms = Date.UTC(2023, 0, 8)
      const id = await save('meeting', { metadata: { agent_name: 'planners united' } })
      for (const query of ['januar', 'january', 'plann', 'planners-unit', '8-janu', '202'])
        expect([query, await search(query, 'prefix')]).toEqual([query, [id]])
      for (const query of ['januari', 'meeting-8', '2023-plann-x'])
        expect([query, await search(query, 'prefix')]).toEqual([query, []])
    })

    it('searches the given columns', async () => {
      const metadata = { title: 'Heron notes' }
      const titled = await save('nothing of the kind', { metadata })
      const said = await save('a heron on one leg')
      const coded = await save('see\n```\nconst heron = leg(one)\n```')
      const found = async (columns: readonly TextColumn[], words: string) => {
        const query = parseQuery(words, 'match', made.analyzer)
        const request = { query, terms: scoredTerms(query.units), filter: EVERYTHING, columns }
        const { hits } = await made.fullText.search(ada, { ...request, depth: { candidates: 10, complete: 10 } })
        return hits.map(({ id }) => id).sort((a, b) => a - b)
      }
      expect(await found(['title'], 'heron')).toEqual([titled])
      expect(await found(['code'], 'heron')).toEqual([coded])
      expect(await found(['body'], 'heron')).toEqual([said, coded])
      expect(await found(['title', 'body', 'code', 'context'], 'herons')).toEqual([titled, said, coded])
      expect(await found(['title', 'body'], '"heron notes"')).toEqual([titled])
      expect(await found(['code'], 'heron-leg')).toEqual([coded])
      expect(await found(['context'], 'heron')).toEqual([])
    })

    it('returns as many candidates as requested, with their data', async () => {
      for (let i = 0; i < 5; i++) await save(`otter ${'filler '.repeat(i)}`)
      const both = await save(`otter ${'filler '.repeat(30)} weasel`, { metadata: { title: 'Mustelids' } })
      const query = parseQuery('otter weasel', 'match', made.analyzer)
      const request = {
        query,
        terms: scoredTerms(query.units),
        filter: EVERYTHING,
        columns: ['title', 'body'] as const,
      }
      const { hits, statistics } = await made.fullText.search(ada, {
        ...request,
        depth: { candidates: 3, complete: 1 },
      })
      expect(hits.filter(({ complete }) => complete)).toEqual([
        expect.objectContaining({ id: both, title: 'Mustelids', context: '', length: 32, following: [] }),
      ])
      expect(hits.length).toBeLessThanOrEqual(4)
      expect(statistics).toMatchObject({ entries: 6, entriesWithTerm: [6, 1] })
    })

    it('finds words next to each other and in order in phrase mode', async () => {
      const id = await save('the quick brown fox')
      await save('the brown quick fox')
      expect(await search('quick brown', 'phrase')).toEqual([id])
      expect(await search('"quick" brown fox', 'phrase')).toEqual([id])
    })

    it('follows the boolean dialect', async () => {
      const apple = await save('apple pie')
      const pear = await save('pear tart')
      const both = await save('apple and pear')
      const cases: [string, number[]][] = [
        ['apple AND pear', [both]],
        ['apple pear', [both]],
        ['apple OR tart', [apple, pear, both]],
        ['apple NOT pear', [apple]],
        ['NOT apple', [pear]],
        ['NOT (apple OR pear)', []],
        ['NOT NOT apple', [apple, both]],
        ['(apple OR pear) AND NOT (pie OR tart)', [both]],
        ['"apple pie" OR tar*', [apple, pear]],
        ['pie OR NOT apple', [apple, pear]],
        ['apple and pear', [both]],
      ]
      for (const [query, expected] of cases)
        expect([query, (await search(query, 'boolean')).sort((a, b) => a - b)]).toEqual([query, expected])
    })

    it('never reads user text as syntax of the engine', async () => {
      const id = await save('plain words')
      for (const query of ['plain NEAR/2 words', '{body}: plain', 'plain ^words', "plain'); --", 'scope : x plain'])
        expect([query, await search(query)]).toEqual([query, [id]])
      expect(await search('body:plain')).toEqual([])
      expect(await search('*', 'prefix')).toEqual([])
      expect(await search('"" ()')).toEqual([])
    })

    it('finds Chinese, Japanese and Thai by any pair of characters', async () => {
      const id = await save('今天天气很好，我们去公园。')
      const thai = await save('สวัสดีครับ ยินดีต้อนรับ')
      expect(await search('天气')).toEqual([id])
      expect(await search('天气怎么样')).toEqual([id])
      expect(await search('公园', 'phrase')).toEqual([id])
      expect(await search('园')).toEqual([id])
      expect(await search('ยินดี')).toEqual([thai])
    })

    it('finds a single character anywhere in a run, in every mode, and highlights the words with it', async () => {
      const [east, snow, today] = [await save('東京'), await save('大雪'), await save('今日は雪 です')]
      for (const mode of ['match', 'prefix', 'phrase', 'boolean'] as const) {
        expect([mode, (await search('雪', mode)).sort((a, b) => a - b)]).toEqual([mode, [snow, today]])
        expect([mode, await search('東', mode)]).toEqual([mode, [east]])
        const { units } = parseQuery('雪', mode, made.analyzer)
        const marked = ['大雪', '今日は雪 です', '雪国', '雪だ、大雪'].map((text) =>
          highlight(text, units, made.analyzer),
        )
        expect(marked).toEqual([
          '<mark>大雪</mark>',
          '今日<mark>は雪</mark> です',
          '<mark>雪国</mark>',
          '<mark>雪だ</mark>、<mark>大雪</mark>',
        ])
        expect(highlight('東京', units, made.analyzer)).toBeNull()
      }
      expect(await search('"雪"')).toHaveLength(2)
    })

    it('finds the day of creation and the agent, but not as part of a phrase', async () => {
      made.clock.ms = Date.UTC(2023, 4, 8)
      const id = await save('meeting', { metadata: { agent_name: 'planner' } })
      expect(await search('8 May 2023')).toEqual([id])
      expect(await search('planner')).toEqual([id])
      expect(await search('"may 2023"')).toEqual([])
    })

    it('finds nothing of another org, a closed project or a private reader', async () => {
      const id = await save('zebra')
      const closed = await save('zebra in b', { metadata: { project: 'b' } })
      const secret = await save('zebra of ada', { metadata: { audience: 'private' } })
      expect(await search('zebra', 'match', EVERYTHING, freshPrincipal())).toEqual([])
      const narrowed = freshPrincipal({ org: ada.org, owner: 'eve', projects: ['a'] })
      expect(await search('zebra', 'match', EVERYTHING, narrowed)).toEqual([id])
      expect(await search('NOT nothing', 'boolean', EVERYTHING, narrowed)).toEqual([id])
      expect((await search('zebra')).sort()).toEqual([id, closed, secret].sort())
    })

    it('applies filters before the cut, so that none starves a page', async () => {
      const drafts = await Promise.all(
        Array.from({ length: 300 }, (_, i) =>
          entryOf(ada, { text: `needle needle needle number ${i}`, threadId: `t${i}`, metadata: { n: i } }),
        ),
      )
      for (let i = 0; i < drafts.length; i += 100) await made.entries.save(ada, drafts.slice(i, i + 100))
      const rare = await save(`one needle in ${'a very long haystack of words '.repeat(50)}`, { tags: ['rare'] })
      expect(await search('needle', 'match', { op: 'tag', anyOf: ['rare'] })).toEqual([rare])
      expect(await search('needle', 'match', { op: 'thread', is: 't7' })).toHaveLength(1)
      expect((await search('needle')).length).toBeGreaterThanOrEqual(100)
    })

    it('raises an entry whose neighbors in the thread match too', async () => {
      const alone = await save('the turbine hums', { threadId: 'alone' })
      const first = await save('a turbine stops', { threadId: 'talk', source: 'user' })
      const second = await save('the turbine hums', { threadId: 'talk', source: 'agent' })
      const order = await search('turbine')
      expect(order.indexOf(second)).toBeLessThan(order.indexOf(alone))
      expect(order).toContain(first)
    })
  })
}
