import { describe, expect, it } from 'vitest'
import type { PackEntry } from '../../src/domain/pack/candidate'
import { bestPlaces, contentBudget, cutAround, wholeText } from '../../src/domain/pack/content'
import { reasonOf, scoreOf, type Weighed } from '../../src/domain/pack/evidence'
import type { Facet } from '../../src/domain/pack/facets'
import { itemOf } from '../../src/domain/pack/item'
import { kindsAsked } from '../../src/domain/pack/kinds-asked'
import { laterMentions } from '../../src/domain/pack/later-mentions'
import { shapeOf } from '../../src/domain/pack/likeness'
import { plainTerms } from '../../src/domain/pack/plain-words'
import { isOnlyTime, recencyOf, withoutSayings } from '../../src/domain/pack/recency'
import { type PackArguments, readPackRequest } from '../../src/domain/pack/request'
import { saidAnew } from '../../src/domain/pack/said-anew'
import { saidLater } from '../../src/domain/pack/said-later'
import { candidatesFor, type Selectable, select } from '../../src/domain/pack/selection'
import { contentWordsBy } from '../../src/domain/pack/weighing'
import { wordEvidence } from '../../src/domain/pack/word-evidence'
import { goalWords } from '../../src/domain/pack/words'
import { workAsked } from '../../src/domain/pack/work-asked'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { counting } from '../../src/domain/search/counting'
import { WITHOUT_REST } from '../../src/domain/yielder'
import { promise } from '../requirements/packs'

const analyzer = createAnalyzer('english')
const COMMON = plainTerms('', analyzer)
const SCOPE = { org: 'pots', projects: null, owner: null } as const
const EVIDENCE: Weighed['evidence'] = {
  ...{ words: 0, beyond: false, matched: [], cosine: null, similarity: 0, identifiers: [], identifierShare: 0 },
  ...{ named: [], link: null, inProgress: false, asked: 0, diary: false, recent: 0, later: null },
}

const weighed = (id: number, facet: Facet, words: number, evidence: Partial<Weighed['evidence']> = {}) =>
  ({
    ...{ entry: { id, status: 'doing' }, facet, score: Math.max(words, evidence.inProgress ? 0.25 : 0), vector: null },
    ...{ evidence: { ...EVIDENCE, words, ...evidence }, squares: 0, worth: words },
    shape: { text: `text ${id}`, words: new Set([`word${id}`]), pairs: new Set([`pair${id}`]) },
  }) as unknown as Selectable

const chosenOf = async (all: Selectable[], limit = 24, familiar = 1, named = 0) => {
  const wanted = { limit, intent: 'debug', familiar, named, entries: 1_000 } as const
  const { chosen, unrelated, fillers } = await select(all, wanted, () => new Set(), WITHOUT_REST)
  const ids = (some: Iterable<Selectable>) => [...some].map(({ entry }) => entry.id)
  return { chosen: ids(chosen), unrelated: ids(unrelated), fillers: ids(fillers) }
}

describe('the choice of a pack', () => {
  it(promise('p3-noise'), async () => {
    const all = [
      ...[weighed(1, 'gotchas', 0.35), weighed(2, 'procedures', 0.6), weighed(3, 'constraints', 0.8)],
      ...[weighed(4, 'constraints', 0.4), weighed(5, 'constraints', 0.25), weighed(6, 'gotchas', 0.2)],
    ]
    expect((await chosenOf(all)).chosen).toEqual([3, 2, 4, 5])
    expect((await chosenOf(all, 3)).chosen).toEqual([3, 2, 4])
    // Where nothing is an answer, what stands first may be as weak as the rest; what says nothing stands nowhere.
    const unsure = [weighed(1, 'gotchas', 0.3), weighed(3, 'constraints', 0.5), weighed(4, 'constraints', 0.15)]
    const found = (id: number, score: number, worth: number) => ({ ...weighed(id, 'domain', score), worth })
    const hardly = [found(5, 0.04, 0.12), found(6, 0.02, 0.03), found(9, 0.12, 0.12)]
    const older = weighed(7, 'domain', 0.07, { later: { id: 3, holds: true } })
    const all7 = [...unsure, ...hardly, { ...older, worth: 0.14 }]
    expect(await chosenOf(all7)).toEqual({ chosen: [3, 1, 4, 7, 5], unrelated: [], fillers: [4, 7, 5] })
    expect((await chosenOf([weighed(8, 'gotchas', 0.7), ...hardly])).chosen).toEqual([8])
    // The less the store knows of the goal's words, the more has the best to say before anything has to do with it.
    const faint = [weighed(1, 'gotchas', 0.4), weighed(2, 'gotchas', 0.2)]
    expect(await Promise.all([0.2, 0.4].map(async (familiar) => (await chosenOf(faint, 24, familiar)).chosen))).toEqual(
      [[], [1, 2]],
    )
    expect((await chosenOf([weighed(1, 'gotchas', 0.24)])).chosen).toEqual([])
    // A second one that says as much is no accident.
    expect((await chosenOf([weighed(1, 'gotchas', 0.4), weighed(2, 'gotchas', 0.3)], 24, 0.2)).chosen).toEqual([1, 2])
  })

  it(promise('p3-places'), async () => {
    const notes = Array.from({ length: 300 }, (_, i) => weighed(i + 10, 'recent_memory', 0.9 - i / 3_000))
    const all = [...notes, weighed(1, 'gotchas', 0.6), weighed(2, 'decisions', 0.5)]
    const candidates = candidatesFor(all, 12)
    expect([candidates.length < 100, candidates.slice(-2).map(({ entry }) => entry.id)]).toEqual([true, [1, 2]])
    const { chosen } = await chosenOf(all, 12)
    expect([chosen.length, chosen.includes(1), chosen.includes(2)]).toEqual([12, true, false])
    // Where nothing says much, what says nearly as much as the best has its place too.
    const faint = notes.map((one) => ({ ...one, score: one.score / 3, worth: one.worth / 3 }))
    expect((await chosenOf([...faint, weighed(1, 'gotchas', 0.2)], 12)).chosen).toContain(1)
  })

  it(promise('p3-aside'), async () => {
    const work = (id: number, words: number) => weighed(id, 'active_work', words, { inProgress: true })
    const all = [1, 2, 3, 4, 5].map((id) => work(id, 0)).concat(work(6, 0.5), weighed(7, 'gotchas', 0.6))
    expect(await chosenOf(all)).toEqual({ chosen: [6, 5, 7, 4, 3], unrelated: [5, 4, 3], fillers: [] })
    expect((await chosenOf(all, 8)).unrelated).toEqual([5])
    const [idle, meant] = [work(1, 0), weighed(2, 'active_work', 0, { inProgress: true, asked: 0.6 })]
    expect([idle, meant].map(reasonOf)).toEqual(['in progress (doing), whatever the goal', 'in progress (doing)'])
  })

  it(promise('p3-older'), async () => {
    const entry = (id: number, kind: string, title: string, beginning: string) =>
      ({ id, kind, title, beginning, project: 'pots', createdAt: id, superseded: false }) as unknown as PackEntry
    const by = { wordsOf: contentWordsBy(analyzer), shapeOf: (text: string) => shapeOf(text, analyzer) }
    const said = (...entries: PackEntry[]) => Object.fromEntries(saidAnew(entries, by))
    const firing = entry(1, 'decision', 'Firing', 'Propane kilns with a pyrometer for every glaze.')
    const electric = entry(
      2,
      'decision',
      'Electric kilns',
      'Propane was dear; a pyrometer and a controller fire every glaze.',
    )
    // Of what is named alike, or of the same, nobody knows which holds.
    expect(said(firing, electric)).toEqual({ 1: { id: 2, holds: false } })
    expect(said(firing, { ...electric, kind: 'convention' })).toEqual({ 1: { id: 2, holds: false } })
    expect(said(firing, { ...electric, kind: 'note' })).toEqual({})
    expect(said(firing, { ...electric, project: 'tiles' })).toEqual({})
    const plans = [entry(5, 'plan', 'Autumn plan', 'Bowls.'), entry(6, 'plan', 'Autumn plan, revised', 'Plates.')]
    expect(said(...plans)).toEqual({ 5: { id: 6, holds: false } })
    const store = entry(8, 'decision', 'Postgres', 'Orders of glazes are kept in one database.')
    const backups = entry(9, 'decision', 'Postgres backups', 'Taken nightly to the shelf of the neighbours.')
    expect(said(store, backups)).toEqual({})
    // Nearly the same text with other numbers, and what a text says it replaces, by name or by id.
    const hours = (id: number, hour: number) =>
      entry(id, 'rule', `Rule ${id}`, `Glazes are mixed in the back room until ${hour} o'clock every working day.`)
    expect(said(hours(3, 18), hours(4, 19))).toEqual({ 3: { id: 4, holds: true } })
    for (const text of ['Supersedes the decision "Postgres".', 'SQLite replaces Postgres for orders.', 'Ersetzt [8].'])
      expect([text, said(store, entry(9, 'rule', 'SQLite', text))]).toEqual([text, { 8: { id: 9, holds: true } }])
    for (const text of ['WAL-G replaces pg_dump for Postgres.', 'Postgres replaces MySQL.', 'Ersetzt [81].'])
      expect([text, said(store, entry(9, 'rule', 'Dumps', text))]).toEqual([text, {}])
    expect(said(firing, entry(7, 'decision', 'Clay', 'Stoneware from Westerwald for every bowl.'))).toEqual({})
    const long = (id: number) => entry(id, 'rule', `Rule ${id}`, 'a'.repeat(1_000_000))
    expect(Object.keys(said(...Array.from({ length: 300 }, (_, i) => long(i + 1)))).length).toBeLessThan(120)
    const weigh = (later: Weighed['evidence']['later']) => reasonOf({ ...weighed(1, 'decisions', 0.4, { later }) })
    expect(weigh({ id: 2, holds: true })).toBe('older: see [2]')
    // It stays, however little is left of its score, and says so.
    const [older, newer] = [
      weighed(1, 'decisions', 0.2, { later: { id: 2, holds: true } }),
      weighed(2, 'decisions', 0.8),
    ]
    expect((await chosenOf([older, newer])).chosen).toEqual([2, 1])
    const plain = {
      tags: [],
      expiresAt: null,
      createdAt: 0,
      updatedAt: 0,
      metadata: { later: 'x' },
      title: 'Firing',
      beginning: '',
    }
    const metadata = (later: Weighed['evidence']['later']) =>
      itemOf({ ...older, entry: { ...plain, id: 1 } as unknown as PackEntry, evidence: { ...EVIDENCE, later } })
        .metadata
    expect([metadata({ id: 2, holds: true }).later, metadata({ id: 2, holds: false }).later]).toEqual(['2', undefined])
  })

  it(promise('p3-next'), () => {
    const now = Date.UTC(2026, 10, 22, 15, 30)
    for (const goal of [
      ...['Wochenplanung KW 41: was liegt an, was ist fällig?', 'weekly planning for week 41', "what's due this week?"],
      ...['planning de la semaine', 'plan semanal: ¿qué vence?', 'Was wird nächste Woche fällig?'],
      ...['plan my day', 'What should I do next?', "what's next", 'where were we', 'Where are we now?', 'catch me up'],
      ...['What are we working on?', 'status update', 'what should we work on today', 'next steps', 'my todo list'],
      ...[
        'Was steht heute an?',
        'Wie geht es weiter?',
        'Was soll ich als Nächstes tun?',
        'Wo waren wir?',
        'plane meinen Tag',
      ],
      ...[
        'Que dois-je faire maintenant ?',
        'prochaines étapes',
        'planifie ma journée',
        '¿Qué hago ahora?',
        '¿dónde estábamos?',
      ],
    ]) {
      expect([goal, isOnlyTime(goal), recencyOf(goal, now, 24)]).toEqual([
        ...[goal, true],
        { limit: 18, since: 0, until: expect.any(Number) },
      ])
      expect([goal, workAsked(goal).statuses]).toEqual([goal, ['doing', 'blocked', 'review']])
    }
    // Of one thing: other work and what was last are not meant.
    for (const goal of [
      'Finish the kiln log',
      'where do we stand with the kiln log',
      'Wie weit sind wir mit dem Brennbuch',
    ]) {
      expect([goal, recencyOf(goal, now, 24).limit, isOnlyTime(goal)]).toEqual([goal, 0, false])
      expect([goal, workAsked(goal).worth > 0]).toEqual([goal, true])
    }
    for (const goal of [
      ...['what should I do when a kiln cracks', 'where are the glazes', 'the next firing', 'what is open source'],
      ...['Was kostet der nächste Brand', 'plan the glaze tests', 'update the status page'],
    ])
      expect([goal, recencyOf(goal, now, 24).limit, workAsked(goal).worth]).toEqual([goal, 0, 0])
    expect(withoutSayings('next steps for the kiln log')).toMatch(/^\s*for the kiln log$/)
  })

  it('knows that a goal asks for a kind, and when it only mentions one', () => {
    for (const [goal, kinds] of [
      ['Which conventions do I have to obey?', ['convention']],
      ['list all ideas', ['idea']],
      ['Welche Entscheidungen gelten?', ['decision']],
      ['quelles sont les règles', ['rule', 'convention']],
      ['follow the conventions of glazing', []],
      ['which kilns follow our new rules', []],
      ['any ideas?', []],
    ] as const)
      expect([goal, kindsAsked(goal)]).toEqual([goal, kinds])
  })

  it(promise('p3-later'), () => {
    const entry = (id: number, kind: string, held: number[], project = 'pots') => ({
      ...{ entry: { id, kind, project, createdAt: id, superseded: false } as unknown as PackEntry, held },
    })
    const later = (...all: ReturnType<typeof entry>[]) =>
      Object.fromEntries(laterMentions(all, { rare: [true, false, false] }))
    const firing = entry(1, 'decision', [0, 1])
    expect(later(firing, entry(2, 'note', [0, 1, 2]), entry(3, 'note', [1, 2]))).toEqual({ 1: 2 })
    expect(later(entry(1, 'plan', [0, 1]), entry(2, 'episode', [0, 1]))).toEqual({ 1: 2 })
    // The newest counts; what is of another project, or said before, or holds a part of the words, does not.
    expect(later(entry(4, 'idea', [1, 0]), firing, entry(2, 'note', [0, 1]))).toEqual({ 1: 4 })
    expect(later(firing, entry(2, 'note', [0, 1], 'tiles'), entry(3, 'note', [0, 2]))).toEqual({})
    expect(later(entry(5, 'rule', [0, 1]), firing)).toEqual({ 1: 5 })
    // Notes are not marked, nor what shares one word, or only words that stand everywhere.
    expect(later(entry(1, 'note', [0, 1]), entry(2, 'note', [0, 1]))).toEqual({})
    expect(later(entry(1, 'rule', [0]), entry(2, 'note', [0, 1]))).toEqual({})
    expect(later(entry(1, 'rule', [1, 2]), entry(2, 'note', [1, 2]))).toEqual({})
    const marked = { later: { id: 2, holds: false } } as const
    expect(reasonOf(weighed(1, 'decisions', 0.4, marked))).toBe('later: see [2]')
    const scored = (evidence: Partial<Weighed['evidence']>) => {
      const { entry, facet } = { ...weighed(1, 'decisions', 0.4), facet: 'decisions' as const }
      const plain = { ...entry, weight: 3, domain: null, pinned: false }
      return scoreOf(plain, facet, { ...EVIDENCE, words: 0.4, ...evidence }, { intent: 'decide', domain: null })
    }
    // Beside the mark stands what the later one says of the goal, where it says a new number; not what it says of anything.
    const goal = [...analyzer.tokens('until when are glazes mixed')]
    const terms = ['glaze', 'mix'].map((term) => ({
      term: analyzer.tokenize(term)[0]?.term ?? '',
      by: 'stem' as const,
    }))
    const words = goalWords(terms, { statistics: null, inScope: null }, goal, COMMON)
    const text = (beginning: string) => ({ beginning, chars: [...beginning].length }) as unknown as PackEntry
    const talk = 'We spoke of the door of the shed and its paint. '.repeat(9)
    const told = (later: string) => saidLater(text('Glazes are mixed until 18:00.'), text(later), words, analyzer)
    expect(told(`Glazes sell. ${talk}From July glazes are mixed until 19:30. ${talk}`)).toContain(
      'glazes are mixed until 19:30',
    )
    expect(told(`Glazes sell. ${talk}Mix the paint at 19:30. ${talk}`)).toBeNull()
    const says = { later: { ...marked.later, says: 'until 19:30' } }
    expect(reasonOf(weighed(1, 'decisions', 0.4, says))).toBe('later: see [2] “until 19:30”')
    expect(scored(marked)).toBe(scored({}))
    expect(scored({ later: { id: 2, holds: true } })).toBeLessThan(scored({}))
  })

  it(promise('p3-common'), () => {
    const tokens = [...analyzer.tokens('the cutoff of each kiln')]
    const terms = ['cutoff', 'kiln'].map((word) => ({
      term: analyzer.tokenize(word)[0]?.term ?? '',
      by: 'stem' as const,
    }))
    const statistics = { entries: 0, averageLength: 9, entriesWithTerm: [3, 90] }
    const words = goalWords(terms, { statistics, inScope: 300 }, tokens, COMMON)
    const shareOf = (text: string) => {
      const count = counting(analyzer, terms)
      return wordEvidence(words, count('').counts, count(text).counts, 9).share
    }
    expect(words.rare).toEqual([true, false])
    expect(shareOf('a kiln')).toBeLessThan(0.13)
    expect(shareOf('the cutoff')).toBeGreaterThan(5 * shareOf('a kiln'))
    expect(shareOf('the cutoff of a kiln')).toBeGreaterThan(shareOf('the cutoff') + 1.9 * shareOf('a kiln'))
    // Where nothing holds the rare word, the other is all that there is.
    const only = goalWords(
      terms,
      { statistics: { ...statistics, entriesWithTerm: [0, 90] }, inScope: 300 },
      ...([tokens, COMMON] as const),
    )
    expect(wordEvidence(only, [0, 0], [0, 1], 9).share).toBeGreaterThan(1.5 * shareOf('a kiln'))
  })

  it(promise('p3-codes'), async () => {
    const inCodes = (goal: string) => [...plainTerms(goal, analyzer).inCodes]
    expect(inCodes('KILN-410-HOLD')).toEqual(['kiln', '410', 'hold'])
    expect(inCodes('why does the kiln answer KILN-410-HOLD')).toEqual(['410', 'hold'])
    expect(inCodes('fix src/kiln/hold.ts')).toEqual([])
    const shareOf = (goal: string, text: string) => {
      const tokens = [...analyzer.tokens(goal)]
      const terms = tokens.map(({ term }) => ({ term, by: 'stem' as const }))
      const statistics = { entries: 90, averageLength: 9, entriesWithTerm: terms.map(() => 2) }
      const given = { ...COMMON, inCodes: plainTerms(goal, analyzer).inCodes }
      const words = goalWords(terms, { statistics, inScope: 90 }, tokens, given)
      return [
        words.named,
        wordEvidence(
          words,
          terms.map(() => 0),
          counting(analyzer, terms)(text).counts,
          9,
        ).share,
      ]
    }
    const [[named, part], [plain, whole]] = [
      shareOf('KILN-410-HOLD', 'hold the kiln'),
      shareOf('kiln 410 hold', 'hold the kiln'),
    ]
    expect([named, plain]).toEqual([1, 0])
    expect(part).toBeLessThan(0.8 * (whole as number))
    // Of a goal that is a name, what holds a part of it does not stand beside what holds it.
    const all = [
      weighed(1, 'gotchas', 0.9, { identifierShare: 1 }),
      weighed(2, 'gotchas', 0.5),
      weighed(3, 'gotchas', 0.35),
    ]
    const kept = [0, 1].map(async (share) => (await chosenOf(all, 24, 1, share)).chosen)
    expect(await Promise.all(kept)).toEqual([
      [1, 2, 3],
      [1, 2],
    ])
  })

  it(promise('p3-words'), () => {
    const matchedBy = (goal: string, text: string) => {
      const tokens = [...analyzer.tokens(goal)]
      const terms = [...new Set(tokens.filter(({ isStopWord }) => !isStopWord).map(({ term }) => term))].map(
        (term) => ({
          ...{ term, by: 'stem' as const },
        }),
      )
      const words = goalWords(terms, { statistics: null, inScope: null }, tokens, COMMON)
      return wordEvidence(words, counting(analyzer, terms)('').counts, counting(analyzer, terms)(text).counts, 9)
    }
    // A word that only holds a sentence together is no reason, and a letter hardly one, whatever its alphabet.
    expect(matchedBy('auf den Kacheln stehen Punkte und ß', 'auf Ton und Stein').matched).toEqual([])
    expect(matchedBy('auf den Kacheln stehen Punkte und ß', 'ß').share).toBeLessThan(0.1)
    const goal = 'get the kiln hot in time without a thermometer'
    expect(matchedBy(goal, 'take your time to get there without haste').share).toBeLessThan(0.2)
    expect(matchedBy(goal, 'get the kiln in time').matched).toEqual(['kiln'])
    expect(matchedBy('which decision on glazes', 'a decision').share).toBeLessThan(0.4)
    expect(matchedBy('what next', 'the next boat').share).toBeLessThan(0.4)
  })

  it('asks each layer for no more than its items, links and characters', () => {
    const asked = (layer: PackArguments['layer'], more: Partial<PackArguments> = {}) => {
      const args = { goal: ' a \n b ', intent: 'build', layer, includeRelated: true, relatedLimit: 3, ...more } as const
      const { query, limit, relatedLimit, maxJson, maxMarkdown, maxContent } = readPackRequest(SCOPE, args)
      return [query, limit, relatedLimit, maxJson, maxMarkdown, maxContent]
    }
    expect(asked('wake', { limit: 12 })).toEqual(['a b', 8, 0, 12_000, 4_760, 1_500])
    expect(asked('recall', { limit: 50 })).toEqual(['a b', 24, 3, 24_000, 24_000, 1_500])
    // Without a limit the reference's 24, in the bound of the layer.
    expect((['wake', 'recall', 'deep_search'] as const).map((layer) => asked(layer)[1])).toEqual([8, 24, 24])
    expect(asked('deep_search', { limit: 99 })).toEqual(['a b', 50, 3, 64_000, 64_000, 1_500])
    expect(asked('recall', { domain: ' c\td ', relatedLimit: 9, limit: -1 })).toEqual([
      'a b c d',
      1,
      5,
      24_000,
      24_000,
      1_500,
    ])
    expect(asked('recall', { maxTokens: 900, includeRelated: false })).toEqual(['a b', 24, 0, 3_600, 3_600, 4_000])
  })

  it('cuts between sentences where there are any', () => {
    const text = `${'Clay dries slowly. '.repeat(30)}The kiln cools in nine hours. ${'Glaze is stirred twice. '.repeat(30)}`
    const cut = cutAround({ ...wholeText(text), at: [text.indexOf('kiln')] }, 300)
    expect(cut).toMatch(/^…(Clay dries slowly\. )*The kiln cools in nine hours\. .*twice\.…$/)
    // Whatever was cut before it.
    const short = wholeText('The wheel hums. It does so until the evening comes and')
    cutAround({ ...wholeText(`${'x'.repeat(50)} ${'clay dries '.repeat(3)}on. ${text}`), at: [95] }, 300)
    expect(cutAround(short, 20)).toBe('The wheel hums.…')
    // Of a long text the places that say most beside each other; what was said already counts less.
    const wheel = 'The wheel hums.'
    const long = `${text}${text.replace('kiln cools', 'kiln is cool').replace('The kiln', `${wheel} The kiln`)}`
    const weights = new Map([
      ['kiln', 2],
      ['wheel', 1],
    ])
    const at = bestPlaces(long, weights, analyzer, 900)
    expect(at.map((place) => long.slice(place, place + 5))).toEqual(['wheel', 'kiln '])
    const parts = cutAround({ ...wholeText(long), at }, 900)
    expect([parts.split('\n').length, [...parts].length <= 900, parts.includes(wheel)]).toEqual([2, true, true])
    expect([200, 300, 4_000].map((chars) => contentBudget(chars, 0.2, 1_500))).toEqual([200, 300, 240])
    expect([0.7, 1].map((share) => contentBudget(4_000, share, 1_500))).toEqual([514, 1_500])
  })
})
