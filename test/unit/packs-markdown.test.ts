import { parser } from '@lezer/markdown'
import { describe, expect, it } from 'vitest'
import { bestPlaces, cutAround, fitted, sizeOf, wholeText } from '../../src/domain/pack/content'
import { identifiersIn } from '../../src/domain/pack/identifiers'
import { itemMarkdown, packMarkdown } from '../../src/domain/pack/markdown'
import type { PackItem } from '../../src/domain/pack/pack'
import { recencyOf, withoutSayings } from '../../src/domain/pack/recency'
import { type Selectable, select } from '../../src/domain/pack/selection'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { WITHOUT_REST } from '../../src/domain/yielder'
import { promise } from '../requirements/packs'

const OMITTED = { limit: 0, budget: 0, duplicate: 0, superseded: 0 }
const QUALITY = {
  ...{ origin: 'k', source: '7', url: null, created_at: null, updated_at: null, valid_at: null, project_id: null },
}

const itemWith = (text: string): PackItem => ({
  ...{ id: '7', type: 'note', name: text, content: text, score: 0.5, facet: 'decisions', reason: text, source: '7' },
  ...{ quality: QUALITY, metadata: { status: text } },
  related: [{ id: '8', type: 'note', name: text, relationship: 'part_of', direction: 'incoming', distance: 1 }],
})

const render = (text: string): string =>
  packMarkdown(
    {
      ...{ goal: text, intent: 'build', layer: 'recall', project: text, domain: text, said: [] },
      sections: [
        { facet: 'decisions', title: 'Decisions', items: [itemWith(text), itemWith('plain')] },
        { facet: 'gotchas', title: 'Gotchas', items: [itemWith('plain')] },
      ],
    },
    OMITTED,
    1_000_000,
  )

/** What stands at the outside of every quote: kinds of blocks in order, the text of headings for those that we wrote. */
function outside(markdown: string): string[] {
  const blocks: string[] = []
  for (let block = parser.parse(markdown).topNode.firstChild; block; block = block.nextSibling) blocks.push(block.name)
  return blocks
}

/** Every kind of node inside the document. */
function kinds(markdown: string): Set<string> {
  const found = new Set<string>()
  parser.parse(markdown).iterate({ enter: ({ name }) => void found.add(name) })
  return found
}

const PIECES = [
  ...[
    '# ',
    '## Decisions',
    '### [9] x',
    '```',
    '~~~',
    '````js',
    '> ',
    '>',
    '- ',
    '* ',
    '+ ',
    '1. ',
    '12) ',
    '---',
    '===',
    '***',
    '___',
  ],
  ...[
    '<script>',
    '</div>',
    '<!--',
    '-->',
    '<![CDATA[',
    '<?php',
    '<details>',
    '| a | b |',
    '[x]: http://e',
    '![](http://e)',
    '    ',
    '\t',
  ],
  ...[
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\u2028',
    '\u2029',
    '\u0085',
    '\v',
    '\f',
    ' ',
    'word',
    '`',
    '\\',
    '\u202e',
    '\u2066',
    '*',
    '_',
    ':::',
  ],
]

describe('packs as text', () => {
  it(promise('p6-safe'), () => {
    let seed = 7
    const next = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % most
    }
    const expected = outside(render('plain'))
    const texts = Array.from({ length: 1_500 }, () =>
      Array.from({ length: 1 + next(9) }, () => PIECES[next(PIECES.length)] as string).join(''),
    ).filter((text) => /\w/.test(text))
    for (const text of [...PIECES.map((piece) => `${piece}x\n${piece}x`), ...texts]) {
      const markdown = render(text)
      expect([text, outside(markdown)]).toEqual([text, expected])
      const found = kinds(markdown)
      for (const kind of [
        'FencedCode',
        'SetextHeading1',
        'SetextHeading2',
        'HTMLBlock',
        'HTMLTag',
        'Image',
        'LinkReference',
        'BulletList',
        'OrderedList',
        'HorizontalRule',
      ])
        expect([text, kind, found.has(kind)]).toEqual([text, kind, false])
      // Headings are ours, line by line, whatever reads the text.
      expect(markdown.split(/[\n\v\f\r\u0085\u2028\u2029]/).filter((line) => /^\s*#/.test(line))).toHaveLength(6)
      expect(markdown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    }
  })

  it('cuts contents around what matched, never more than there is room for', () => {
    const analyzer = createAnalyzer('english')
    const text = `${'lorem ipsum dolor "sit" amet.\n'.repeat(200)}the kiln cools\u{1F525} ${'consetetur \\ sadipscing elitr. '.repeat(200)}`
    const at = bestPlaces(
      text,
      new Map([
        ['kiln', 2],
        ['cool', 1],
      ]),
      analyzer,
      1_500,
    )
    expect(at.map((place) => text.slice(place, place + 4))).toEqual(['kiln'])
    for (const most of [2, 9, 40, 333, 1_500]) {
      const cut = cutAround({ ...wholeText(text), at }, most)
      expect([...cut].length).toBeLessThanOrEqual(most)
      if (most >= 40) expect(cut).toContain('kiln')
      expect(cut.isWellFormed()).toBe(true)
      const room = { json: most, markdown: most + 20 }
      const taken = sizeOf(fitted({ ...wholeText(text), at }, 1_500, room))
      expect(taken.json <= room.json && taken.markdown <= room.markdown).toBe(true)
    }
    expect(cutAround(wholeText('short'), 10)).toBe('short')
  })

  it('shows a text of one character', () => {
    for (const text of ['c', '是', '👍']) expect(fitted(wholeText(text), 1, { json: 800, markdown: 800 })).toBe(text)
    expect(fitted(wholeText('c'), 1, { json: 0, markdown: 0 })).toBe('')
  })

  it('knows names that mean one thing exactly, and no others', () => {
    const goal =
      'Fix E_CONN_42 and TS2304 in src/auth/token.ts, rotateRefreshToken() of auth.session since v2.3.1 (AUTH-7, BOOK-410-HOLD, #12).'
    expect(identifiersIn(`${goal} Nothing else: e.g. a Word, an ALL-CAPS one, and/or 5 pm.`)).toEqual([
      ...['E_CONN_42', 'TS2304', 'src/auth/token.ts', 'rotateRefreshToken', 'auth.session', 'v2.3.1', 'AUTH-7'],
      ...['BOOK-410-HOLD', '#12'],
    ])
    expect(identifiersIn('a'.repeat(1_000_000))).toEqual([])
  })

  it('reads the time that a goal names, by whole days', () => {
    const now = Date.UTC(2026, 10, 22, 15, 30)
    const since = (goal: string) => new Date(recencyOf(goal, now, 24).since).toISOString().slice(0, 10)
    expect(since('what did we do yesterday')).toBe('2026-11-21')
    expect(since('Summarise last week')).toBe('2026-11-09')
    expect(since('the changes of the last 3 days')).toBe('2026-11-19')
    expect(since('Continue the migration')).toBe('1970-01-01')
    const span = (goal: string) => {
      const { since: from, until } = recencyOf(goal, now, 24)
      return [from, until].map((ms) => new Date(ms).toISOString().slice(0, 10)).join(' ')
    }
    for (const goal of [
      'the logs of last week',
      'Berichte der letzten Woche',
      'la semaine dernière',
      'la semana pasada',
    ])
      expect([goal, span(goal)]).toEqual([goal, '2026-11-09 2026-11-16'])
    for (const goal of ['yesterday', 'Was war gestern?', "Qu'avons-nous fait hier ?", 'lo de ayer', 'vor 1 Tag'])
      expect([goal, span(goal)]).toEqual([goal, '2026-11-21 2026-11-22'])
    for (const goal of [
      'Weiter mit dem Import',
      "Reprendre l'import",
      'Seguir con la importación',
      'Resume the import',
    ])
      expect([goal, recencyOf(goal, now, 24)]).toEqual([goal, { limit: 6, since: 0, until: expect.any(Number) }])
    for (const goal of ['Was ist hier zu tun', 'Migrate the last table', 'La dernière colonne', 'El último campo'])
      expect([goal, recencyOf(goal, now, 24).limit]).toEqual([goal, 0])
    expect(withoutSayings('Weiter mit dem Import von gestern')).toMatch(/^\s*dem Import von\s*$/)
    expect(recencyOf('Migrate the last table', now, 24).limit).toBe(0)
  })

  it('says the text of an untitled note once', () => {
    const untitled = {
      ...itemWith('plain'),
      name: 'The kiln cools in nine…',
      content: 'The kiln\ncools in nine hours.',
    }
    const named = { ...itemWith('plain'), name: 'Kiln', content: 'The kiln cools.' }
    expect(itemMarkdown(untitled)).toMatch(/^### \[7\]\n/)
    expect(itemMarkdown(named)).toMatch(/^### \[7\] Kiln\n/)
    expect(itemMarkdown({ ...untitled, content: '…nine hours.' })).toMatch(/^### \[7\] The kiln/)
  })

  it('lets a weak entry bring its contradiction only when both are worth their places', async () => {
    const evidence = {
      ...{ words: 0.2, beyond: false, matched: [], cosine: null, similarity: 0, identifiers: [], identifierShare: 0 },
      ...{ named: [], link: null, inProgress: false, asked: 0, diary: false, recent: 0, later: null },
    }
    const one = (id: number, score: number) =>
      ({
        ...{ entry: { id }, facet: 'decisions', score, worth: score, vector: null, squares: 0 },
        evidence: { ...evidence, words: score },
        shape: { text: `text ${id}`, words: new Set([`word${id}`]), pairs: new Set([`pair${id}`]) },
      }) as unknown as Selectable
    const chosen = async (limit: number, ...scores: number[]) => {
      const opponents = (id: number) => new Set(id === 1 ? [2] : id === 2 ? [1] : [])
      const all = scores.map((score, i) => one(i + 1, score))
      return (
        await select(all, { limit, intent: 'decide', familiar: 1, named: 0, entries: 1_000 }, opponents, WITHOUT_REST)
      ).chosen.map(({ entry }) => entry.id)
    }
    expect(await chosen(9, 0.5, 0.1, 0.4)).toEqual([1, 2, 3])
    expect(await chosen(9, 0.18, 0.02, 0.4)).toEqual([3])
    // Two places for the price of one are given to the better one.
    expect(await chosen(2, 0.3, 0.16, 0.5, 0.28)).toEqual([3, 4])
  })
})
