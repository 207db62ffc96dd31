import { describe, expect, it } from 'vitest'
import { type Listed, laterFirst, laterWords } from '../../src/domain/currency/later-first'
import { contentMark } from '../../src/domain/currency/pair'
import { hasSubject, SUBJECT, similarityIn, subjectOf } from '../../src/domain/currency/subject'
import { hasEnded, validityOf } from '../../src/domain/currency/validity'
import { createAnalyzer } from '../../src/domain/search/analysis'

const analyzer = createAnalyzer('english')
const RETENTION = 'Audit logs of the gateway are retained for thirty days and then deleted from the bucket.'
const LONGER = 'We retain audit logs of the gateway for ninety days in the archive bucket.'
const OTHER = 'Interns choose their laptop colour in the first week.'

const listed = (id: number, text: string, more: Partial<Listed> = {}): Listed => ({
  ...{
    id,
    title: `Note ${id}`,
    textHash: `hash of ${text}`,
    kind: 'rule',
    project: 'p',
    domain: null,
    metadata: null,
    createdAt: id,
    score: 1,
    isNamed: false,
  },
  subject: subjectOf(`Note ${id}`, text, analyzer),
  ...more,
})
const idsOf = (all: readonly Listed[]) => laterFirst(all).order.map((place) => (all[place] as Listed).id)

describe('memories on one subject', () => {
  it('are found by the words that they share, however they are put, and others are not', () => {
    const similarity = similarityIn([RETENTION, LONGER, OTHER].map((text) => subjectOf(null, text, analyzer)))
    expect(similarity(0, 1)).toBeGreaterThan(SUBJECT.named)
    expect(similarity(0, 2)).toBeLessThan(SUBJECT.shown.scoredAlike)
    expect(similarity(0, 0)).toBeCloseTo(1)
  })

  const bothHold = (one: Listed, other: Listed): Listed => ({
    ...one,
    metadata: { both_hold: { [other.id]: contentMark(one, other) } },
  })

  it('are next to each other in a list, at the place of the better one, the later one first; the list keeps all of its members', () => {
    const list = [listed(1, RETENTION), listed(3, OTHER), listed(2, LONGER)]
    expect(idsOf(list)).toEqual([2, 1, 3])
    expect([...laterFirst(list).later]).toEqual([[1, [2]]])
    expect(laterWords([2, 5])).toBe('later on the same subject: [2], [5]')
    expect(laterWords([2, 5], [5])).toBe('says otherwise: [5]; later on the same subject: [2]')
    expect(laterWords([])).toBe('')
  })

  it('are ordered by the time from which they hold, not by the time at which they were stored', () => {
    const old = { metadata: { valid_at: '1960-01-01T00:00:00Z' } }
    expect(idsOf([listed(2, LONGER, old), listed(1, RETENTION)])).toEqual([1, 2])
  })

  it('stay where they are if they belong to two projects or domains, have no subject, or are judged as both valid', () => {
    const first = listed(1, RETENTION)
    const second = listed(2, LONGER)
    for (const other of [{ ...second, project: 'q' }, { ...second, subject: null }, bothHold(second, first)])
      expect(laterFirst([first, other])).toEqual({ order: [0, 1], later: new Map() })
    expect(idsOf([listed(1, RETENTION, { domain: 'a' }), listed(2, LONGER, { domain: 'b' })])).toEqual([1, 2])
  })

  it('are judged again once one of the two has another text or title', () => {
    const first = listed(1, RETENTION)
    const judged = bothHold(listed(2, LONGER), first)
    expect(idsOf([first, judged])).toEqual([1, 2])
    for (const changed of [{ textHash: 'another' }, { title: 'Another' }]) {
      expect(idsOf([{ ...first, ...changed }, judged])).toEqual([2, 1])
      expect(idsOf([first, { ...judged, ...changed }])).toEqual([2, 1])
    }
  })

  it('leave the first place to the memory that the query names', () => {
    expect(idsOf([listed(1, RETENTION, { isNamed: true }), listed(2, LONGER)])).toEqual([1, 2])
  })

  it('are not turns of a conversation, which have no title', () => {
    expect(hasSubject({ kind: 'note', title: null })).toBe(false)
    expect(hasSubject({ kind: 'note', title: 'Retention' })).toBe(true)
    expect(hasSubject({ kind: 'decision', title: null })).toBe(true)
  })
})

describe('the validity of a memory', () => {
  it('ends at its valid_until, and never without one', () => {
    const metadata = { valid_until: '2026-11-01T00:00:00Z' }
    const end = Date.parse(metadata.valid_until)
    expect([hasEnded(metadata, end - 1), hasEnded(metadata, end), hasEnded(null, end)]).toEqual([false, true, false])
  })

  it('is refused where it is not a time or ends before it begins', () => {
    expect(() => validityOf({ valid_until: 'soon' })).toThrow('valid_until must be an ISO 8601 time')
    const [valid_from, valid_until] = ['2026-11-02T00:00:00Z', '2026-11-01T00:00:00Z']
    expect(() => validityOf({ valid_from, valid_until })).toThrow('valid_until must be after valid_from')
    expect(validityOf({ valid_from })).toEqual({ valid_at: valid_from })
  })
})
