import { describe, expect, it } from 'vitest'
import { type Plannable, plan, remainingSize } from '../../src/domain/pack/budget'
import { minimalItem } from '../../src/domain/pack/item'
import type { PackItem } from '../../src/domain/pack/pack'
import { completePassage } from '../../src/domain/pack/passages'

const item = (id: number, score: number): PackItem => ({
  ...{
    id: String(id),
    type: 'note',
    name: `Glaze ${id}`,
    content: '',
    score,
    facet: 'recent_memory',
    reason: 'words: glaze',
  },
  ...{ source: null, metadata: {}, related: [] },
  quality: {
    origin: null,
    source: null,
    url: null,
    created_at: null,
    updated_at: null,
    valid_at: null,
    project_id: null,
  },
})
const given = (id: number, score: number): Plannable => ({
  item: item(id, score),
  passage: completePassage('The ash glaze runs above 1,280 degrees. '.repeat(20)),
  most: 800,
})
const chosen = [6, 5, 4, 3, 2, 1].map((id) => given(id, id / 10))
const idsOf = (planned: ReturnType<typeof plan<Plannable>>) => planned.map(({ one }) => Number(one.item.id))

describe('the budget of a pack', () => {
  it('drops the last items before it cuts the first ones', () => {
    expect(idsOf(plan(chosen, 24_000))).toEqual([6, 5, 4, 3, 2, 1])
    const some = plan(chosen, 2_600)
    expect(idsOf(some)).toEqual([6, 5])
    expect(some.map(({ budget }) => budget)).toEqual([800, 800])
    const [cut, ...others] = plan(chosen, 700)
    expect([cut?.one.item.id, cut?.bare, others]).toEqual(['6', false, []])
    expect(cut?.budget).toBeLessThan(800)
    expect(plan(chosen, 200)).toEqual([])
  })

  it('contains one short item, with only required text in addition to its content', () => {
    const year = '2026-11-27T11:15:14.000Z'
    const { item: plain } = given(7, 0.7)
    const long: Plannable = {
      ...{ passage: completePassage('The ash glaze runs.'), most: 800 },
      item: {
        ...{ ...plain, reason: 'words: glaze, ash; similarity 0.36', name: 'Glaze '.repeat(30) },
        source: 'https://example.org',
        quality: { ...plain.quality, origin: 'key', created_at: year, updated_at: year, project_id: 'kiln' },
        metadata: { ticket: 'K-7', status: 'doing' },
      },
    }
    const [only, ...others] = plan([long, { ...long, item: { ...long.item, id: '8', score: 0.2 } }], 460)
    expect(others).toEqual([])
    expect(only).toMatchObject({ one: long, bare: true })
    const shown = minimalItem(long.item)
    expect(Object.keys(shown)).toEqual(Object.keys(long.item))
    expect(Object.keys(shown.quality)).toEqual(Object.keys(long.item.quality))
    expect(shown).toMatchObject({ reason: 'words: glaze, ash', source: '7', metadata: { status: 'doing' } })
    expect(shown.metadata).not.toHaveProperty('ticket')
    expect(plan([long], 24_000)).toMatchObject([{ bare: false }])
  })

  it('shortens the content for superseded entries beyond the characters reserved for them', () => {
    const [first] = plan(chosen, 1_400) as [ReturnType<typeof plan<Plannable>>[number]]
    const supersedes = Array.from({ length: 20 }, (_, i) => String(i))
    const known = { ...first.one.item, metadata: { supersedes } }
    expect(remainingSize(first, first.one.item)).toBe(first.budget)
    expect(first.budget - remainingSize(first, known)).toBe(`"supersedes":${JSON.stringify(supersedes)}`.length - 40)
  })
})
