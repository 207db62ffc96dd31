import { describe, expect, it } from 'vitest'
import type { PackEntry, PackLink } from '../../src/domain/pack/candidate'
import { opponentsIn, successorsIn } from '../../src/domain/pack/links'
import { type PackArguments, readPackRequest } from '../../src/domain/pack/pack-request'
import { bestPlaces, completePassage, cutAround } from '../../src/domain/pack/passages'
import { type Candidate, type RankedGoal, type RankingFeatures, reasonOf } from '../../src/domain/pack/rank-entries'
import type { Intent, PackSectionName } from '../../src/domain/pack/sections'
import { selectEntries } from '../../src/domain/pack/select-entries'
import { createAnalyzer } from '../../src/domain/search/analysis'

const analyzer = createAnalyzer('english')
const SCOPE = { org: 'pots', projects: null, owner: null } as const
const EVIDENCE: RankingFeatures = {
  ...{
    matched: [],
    beyond: false,
    cosine: null,
    called: [],
    titled: false,
    inProgress: false,
    diary: false,
    newest: false,
  },
  ...{ via: null, replacedBy: null },
}

interface Given {
  readonly facet?: PackSectionName
  readonly entry?: Partial<PackEntry>
  readonly evidence?: Partial<RankingFeatures>
}

const ranked = (
  id: number,
  key: number,
  { facet = 'decisions', entry = {}, evidence = {} }: Given = {},
): Candidate => ({
  ...{ facet, key, nearest: null, score: 0, evidence: { ...EVIDENCE, ...evidence } },
  entry: {
    ...{ id, title: `title${id}`, beginning: `text${id}`, createdAt: id, superseded: false, project: 'p' },
    ...entry,
  } as PackEntry,
})

const select = (
  candidates: readonly Candidate[],
  {
    limit = 12,
    intent = 'build' as Intent,
    doubt = 'none' as RankedGoal['doubt'],
    links = [] as readonly PackLink[],
  } = {},
) =>
  selectEntries(
    { candidates, doubt, confidence: 0.8, rarity: new Map() },
    { limit, intent },
    {
      links: { opponents: opponentsIn(links), successors: successorsIn(links) },
      ...{ analyzer },
    },
  )
const idsOf = (some: Iterable<Candidate>) => [...some].map(({ entry }) => entry.id)

describe('the reason of an item', () => {
  const reasonFor = (evidence: Partial<RankingFeatures>, entry: Partial<PackEntry> = {}): string =>
    reasonOf(
      ranked(1, 1, { evidence, entry: { kind: 'task', status: 'doing', pinned: false, metadata: null, ...entry } }),
    )

  it('[PACK-39] states title, alias, words, similarity, link, work in progress, diary and pin', () => {
    expect(reasonFor({ titled: true })).toBe('its title')
    expect(reasonFor({ called: ['k8s'] })).toBe('called k8s')
    expect(reasonFor({ matched: ['glaze', 'ash'], cosine: 0.358 })).toBe('words: glaze, ash; similarity 0.36')
    expect(reasonFor({ via: { relation: 'depends_on', id: 7 } as never })).toBe('depends_on [7]')
    expect(reasonFor({ inProgress: true })).toBe('in progress (doing), whatever the goal')
    expect(reasonFor({ inProgress: true, matched: ['glaze'] })).toBe('in progress (doing); words: glaze')
    expect(reasonFor({ diary: true, matched: ['glaze'] }, { pinned: true })).toBe('diary; words: glaze; pinned')
    expect(reasonFor({ newest: true })).toBe('newest task, whatever the goal')
    expect(reasonFor({ replacedBy: 9, titled: true })).toBe('replaced by [9]; its title')
    expect(reasonFor({})).toBe('similar in meaning')
    const sources = [{ path: 'a.ts', lines: '1', changed_at: '2026-11-28' }]
    expect(reasonFor({ titled: true }, { metadata: { sources } })).toContain('its source changed on 2026-11-28')
  })
})

describe('the choice of a pack', () => {
  it('is the list, cut at half of the first score and at the limit', async () => {
    const all = [ranked(1, 40), ranked(2, 100), ranked(3, 50), ranked(4, 49), ranked(5, 0)]
    const { chosen, beyond } = await select(all)
    expect([idsOf(chosen), idsOf(beyond)]).toEqual([[2, 3], []])
    expect(chosen.map(({ score }) => score)).toEqual([0.8, 0.4])
    const one = await select(all, { limit: 1 })
    expect([idsOf(one.chosen), idsOf(one.beyond)]).toEqual([[2], [3]])
  })

  it('shows at most five of a doubtful list, and none of one that nothing speaks for', async () => {
    const all = Array.from({ length: 9 }, (_, i) => ranked(i + 1, 90 - i))
    expect(idsOf((await select(all, { doubt: 'doubtful' })).chosen)).toEqual([1, 2, 3, 4, 5])
    expect(idsOf((await select(all, { doubt: 'nothing' })).chosen)).toEqual([])
  })

  it('breaks ties by the intent, then by age', async () => {
    const all = [ranked(1, 9, { facet: 'gotchas' }), ranked(2, 9), ranked(3, 9, { facet: 'gotchas' })]
    expect(idsOf((await select(all, { intent: 'debug' })).chosen)).toEqual([3, 1, 2])
    expect(idsOf((await select(all, { intent: 'decide' })).chosen)).toEqual([2, 3, 1])
  })

  it('puts first what the goal names by its title or an alias', async () => {
    const all = [
      ranked(1, 90),
      ranked(2, 20, { evidence: { titled: true } }),
      ranked(3, 30, { evidence: { called: ['k'] } }),
    ]
    expect(idsOf((await select(all)).chosen)).toEqual([3, 2, 1])
  })

  it('shows the successor of an entry that was found, and never that entry', async () => {
    const all = [ranked(1, 90, { entry: { superseded: true } }), ranked(2, 60), ranked(3, 1)]
    const { chosen, superseded } = await select(all, { links: [{ from: 3, relation: 'supersedes', to: 1 }] })
    expect([idsOf(chosen), idsOf(superseded)]).toEqual([[3, 2], [1]])
    expect(chosen[0]?.evidence.via).toEqual({ id: 1, relation: 'supersedes' })
  })

  it('ranks an entry after a later one that replaces it, and marks no other as outdated', async () => {
    const all = [
      ranked(1, 90, { entry: { title: 'Boarding', beginning: 'Boarding ends ten minutes early.' } }),
      ranked(2, 60, { entry: { title: 'Gates', beginning: 'Boarding ends at the bell: replaces the rule Boarding.' } }),
      ranked(3, 50, { entry: { title: 'Bells', beginning: 'Boarding has a bell of its own now.' } }),
    ]
    const { chosen } = await select(all)
    expect(chosen.map(({ entry, evidence }) => [entry.id, evidence.replacedBy])).toEqual([
      [2, null],
      [1, 2],
      [3, null],
    ])
  })

  it('includes the other side of a contradiction, however unrelated to the goal', async () => {
    const all = [ranked(1, 90), ranked(2, 80), ranked(3, 2)]
    const { chosen } = await select(all, { links: [{ from: 3, relation: 'contradicts', to: 1 }] })
    expect(idsOf(chosen)).toEqual([1, 3, 2])
    expect(chosen[1]?.evidence.via).toEqual({ id: 1, relation: 'contradicts' })
  })

  it('adds little work unrelated to the goal, after related work', async () => {
    const work = [1, 2, 3, 4, 5].map((id) => ranked(id, 0, { facet: 'active_work', evidence: { inProgress: true } }))
    const all = [...work, ...Array.from({ length: 14 }, (_, i) => ranked(10 + i, 90))]
    const { chosen, anyway, beyond } = await select(all)
    expect([idsOf(chosen).slice(-3), chosen.length, anyway.size]).toEqual([[5, 4, 3], 12, 3])
    expect(idsOf(beyond)).toEqual([14, 13, 12, 11, 10, 2, 1].filter((id) => id < 15 && idsOf(beyond).includes(id)))
    expect((await select(all, { limit: 3 })).anyway.size).toBe(0)
  })

  it('collapses near-duplicates into the latest one, at the place of the best one, unless the goal names that or they are of two projects', async () => {
    const entry = {
      title: 'Backup',
      beginning: 'The nightly backup of the ledger runs at two and is verified on Mondays.',
    }
    const { chosen, duplicates } = await select([ranked(1, 90, { entry }), ranked(2, 60, { entry }), ranked(3, 70)])
    expect([idsOf(chosen), idsOf(duplicates)]).toEqual([[2, 3], [1]])
    const named = ranked(1, 90, { entry, evidence: { titled: true } })
    expect(idsOf((await select([named, ranked(2, 80, { entry })])).chosen)).toEqual([1])
    const elsewhere = ranked(2, 80, { entry: { ...entry, project: 'q' } })
    expect(idsOf((await select([ranked(1, 90, { entry }), elsewhere])).chosen)).toEqual([1])
  })

  it('asks each layer for no more than its items, links and characters', () => {
    const asked = (layer: PackArguments['layer'], more: Partial<PackArguments> = {}) => {
      const args = { goal: ' a \n b ', intent: 'build', layer, includeRelated: true, relatedLimit: 3, ...more } as const
      const { query, limit, relatedLimit, maxJson, maxMarkdown } = readPackRequest(SCOPE, args)
      return [query, limit, relatedLimit, maxJson, maxMarkdown]
    }
    expect(asked('wake', { limit: 12 })).toEqual(['a b', 8, 0, 10_000, 4_760])
    expect(asked('recall', { limit: 50 })).toEqual(['a b', 24, 3, 16_000, 16_000])
    expect((['wake', 'recall', 'deep_search'] as const).map((layer) => asked(layer)[1])).toEqual([8, 12, 50])
    expect(asked('deep_search', { limit: 99 })).toEqual(['a b', 50, 3, 64_000, 64_000])
    expect(asked('recall', { domain: ' c\td ', relatedLimit: 9, limit: -1 })).toEqual(['a b c d', 1, 5, 16_000, 16_000])
    expect(asked('recall', { maxTokens: 900, includeRelated: false })).toEqual(['a b', 12, 0, 3_600, 3_600])
  })

  it('cuts between sentences where there are any', () => {
    const text = `${'Clay dries slowly. '.repeat(30)}The kiln cools in nine hours. ${'Glaze is stirred twice. '.repeat(30)}`
    const cut = cutAround({ ...completePassage(text), at: [text.indexOf('kiln')] }, 300)
    expect(cut).toMatch(/^…(Clay dries slowly\. )*The kiln cools in nine hours\. .*twice\.…$/)
    // Regardless of earlier cuts.
    const short = completePassage('The wheel hums. It does so until the evening comes and')
    cutAround({ ...completePassage(`${'x'.repeat(50)} ${'clay dries '.repeat(3)}on. ${text}`), at: [95] }, 300)
    expect(cutAround(short, 20)).toBe('The wheel hums.…')
    // Of a long text, the parts that add the most information; repeated information counts less.
    const wheel = 'The wheel hums.'
    const long = `${text}${text.replace('kiln cools', 'kiln is cool').replace('The kiln', `${wheel} The kiln`)}`
    const weights = new Map([
      ['kiln', 2],
      ['wheel', 1],
    ])
    const at = bestPlaces(long, weights, analyzer, 900)
    expect(at.map((place) => long.slice(place, place + 5))).toEqual(['wheel', 'kiln '])
    const parts = cutAround({ ...completePassage(long), at }, 900)
    expect([parts.split('\n').length, [...parts].length <= 900, parts.includes(wheel)]).toEqual([2, true, true])
  })
})
