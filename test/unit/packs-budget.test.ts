import { describe, expect, it } from 'vitest'
import type { QuantizedVector } from '../../src/domain/meaning/vector'
import { bareOf } from '../../src/domain/pack/bare-item'
import { type Plannable, plan, sizeLeft } from '../../src/domain/pack/budget'
import type { Nearest, PackEntry } from '../../src/domain/pack/candidate'
import { wholeText } from '../../src/domain/pack/content'
import { lastSessions } from '../../src/domain/pack/last-sessions'
import type { PackItem } from '../../src/domain/pack/pack'
import { resumes } from '../../src/domain/pack/work-asked'

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
const given = (id: number, score: number, anyway = false): Plannable => ({
  ...{
    item: item(id, score),
    passage: wholeText('The ash glaze runs above 1,280 degrees. '.repeat(20)),
    most: 800,
    anyway,
  },
})
const chosen = [given(1, 0.25, true), ...[2, 3, 4, 5, 6].map((id) => given(id, id / 10))]
const idsOf = (planned: ReturnType<typeof plan<Plannable>>) => planned.map(({ one }) => Number(one.item.id))

describe('the room of a pack', () => {
  it('goes to what says most of the goal where not all fits, with less of its text each and none for neighbours', () => {
    const room = (chars: number) => plan(chosen, { json: chars, markdown: chars }, true)
    expect(idsOf(room(24_000))).toEqual([6, 5, 4, 3, 2, 1])
    expect(idsOf(room(1_400))).toEqual([6, 5, 4])
    expect(idsOf(room(450))).toEqual([6])
    expect(idsOf(room(200))).toEqual([])
    const [best, , third] = room(1_400).map((one) => one.budget.json) as [number, number, number]
    expect([best > third, third]).toEqual([true, 100])
  })

  it('is for one short item where hardly any is, which then says no more beside its content than it must', () => {
    const [year, reason] = [
      '2026-11-27T11:15:14.000Z',
      'words: glaze, ash; similarity 0.36; linked: references → [7] Kilns',
    ]
    const { item: plain } = given(7, 0.7)
    const long: Plannable = {
      ...{ passage: wholeText('The ash glaze runs.'), most: 800, anyway: false },
      item: {
        ...{ ...plain, reason, name: 'Glaze '.repeat(30), source: 'https://example.org' },
        quality: { ...plain.quality, origin: 'key', created_at: year, updated_at: year, project_id: 'kiln' },
        metadata: { ticket: 'K-7', status: 'doing' },
      },
    }
    const [only, ...others] = plan(
      [long, { ...long, item: { ...long.item, id: '8', score: 0.2 } }],
      { json: 460, markdown: 300 },
      true,
    )
    expect(others).toEqual([])
    expect(only).toMatchObject({ one: long, bare: true, budget: { json: 'The ash glaze runs.'.length } })
    const shown = bareOf(long.item)
    expect(Object.keys(shown)).toEqual(Object.keys(long.item))
    expect(Object.keys(shown.quality)).toEqual(Object.keys(long.item.quality))
    expect(shown).toMatchObject({ reason: 'words: glaze, ash', source: '7', metadata: { status: 'doing' } })
    expect(shown.metadata).not.toHaveProperty('ticket')
    expect(plan([long], { json: 24_000, markdown: 24_000 }, true)).toMatchObject([{ bare: false }])
  })

  it('holds what an item supersedes too, which is known later', () => {
    const [first] = plan(chosen, { json: 1_400, markdown: 1_400 }, true) as [ReturnType<typeof plan<Plannable>>[number]]
    const known = { ...first.one.item, metadata: { supersedes: ['1', '2', '3'] } }
    expect(sizeLeft(first, first.one.item)).toEqual(first.budget)
    expect(first.budget.json - sizeLeft(first, known).json).toBe('"supersedes":["1","2","3"]'.length)
  })
})

describe('work that is taken up again', () => {
  it('is told by what people say', () => {
    for (const goal of [
      ...[
        'resume the kiln log',
        'where was I with the kiln',
        'take over the glaze tests from Codex',
        'where did codex stop',
      ],
      ...['Weiter mit dem Brennbuch', 'reprends les essais', 'what has changed', 'I am back from two weeks off'],
    ])
      expect([goal, resumes(goal)]).toEqual([goal, true])
    for (const goal of ['glaze the bowls', 'what changed the colour of the ash glaze', 'the middle shelf'])
      expect([goal, resumes(goal)]).toEqual([goal, false])
  })

  it('brings the later session that is nearest to it, whatever the words of the goal', () => {
    const entry = (id: number, kind: string, status: string | null = null) =>
      ({ id, kind, status, createdAt: id, superseded: false }) as unknown as PackEntry
    const vector = (...values: number[]): QuantizedVector => ({ values: Int8Array.from(values), scale: 1 })
    const at = (entryId: number, ...values: number[]): [number, Nearest] => [
      entryId,
      {
        entryId,
        start: 0,
        length: 9,
        vector: vector(...values),
        cosine: 0,
        squares: values.reduce((sum, v) => sum + v * v, 0),
      },
    ]
    const entries = [
      ...[entry(1, 'note'), entry(2, 'task', 'doing'), entry(3, 'note'), entry(4, 'session'), entry(5, 'decision')],
      entry(6, 'note'),
    ]
    const nearest = new Map([at(1, 9, 9), at(2, 9, 9), at(3, 9, 0), at(4, 9, 8), at(5, 9, 9), at(6, 0, 9)])
    const found = (own: number) => [...lastSessions(entries, nearest, new Map([[2, own]]))]
    // Not the earlier note, and not the decision.
    expect(found(0.6)).toEqual([[4, { from: 2, relation: 'went on', direction: 'outgoing', strength: 0.6 }]])
    expect(found(0.1)).toEqual([])
  })
})
