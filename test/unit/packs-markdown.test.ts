import { parser } from '@lezer/markdown'
import { describe, expect, it } from 'vitest'
import { itemMarkdown, packMarkdown } from '../../src/domain/pack/markdown'
import type { PackItem } from '../../src/domain/pack/pack'
import { bestPlaces, completePassage, cutAround, fitToBudget, sizeOf } from '../../src/domain/pack/passages'
import { createAnalyzer } from '../../src/domain/search/analysis'

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
    true,
  )

/** Content outside of all quotations: kinds of blocks in order, and the text of headings. */
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
  it('[PACK-43] prevents stored text from changing the structure of the markdown', () => {
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
      // All headings are ours, by any definition of a line.
      expect(markdown.split(/[\n\v\f\r\u0085\u2028\u2029]/).filter((line) => /^\s*#/.test(line))).toHaveLength(6)
      expect(markdown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    }
  })

  it('cuts contents around the match, within the budget', () => {
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
      const cut = cutAround({ ...completePassage(text), at }, most)
      expect([...cut].length).toBeLessThanOrEqual(most)
      if (most >= 40) expect(cut).toContain('kiln')
      expect(cut.isWellFormed()).toBe(true)
      expect(sizeOf(fitToBudget({ ...completePassage(text), at }, 1_500, most))).toBeLessThanOrEqual(most)
    }
    expect(cutAround(completePassage('short'), 10)).toBe('short')
  })

  it('shows a text of one character', () => {
    for (const text of ['c', '是', '👍']) expect(fitToBudget(completePassage(text), 1, 800)).toBe(text)
    expect(fitToBudget(completePassage('c'), 1, 0)).toBe('')
  })

  it('includes the text of an untitled note once', () => {
    const untitled = {
      ...itemWith('plain'),
      name: 'The kiln cools in nine…',
      content: 'The kiln\ncools in nine hours.',
    }
    const named = { ...itemWith('plain'), name: 'Kiln', content: 'The kiln cools.' }
    expect(itemMarkdown(untitled, true)).toMatch(/^### \[7\]\n/)
    expect(itemMarkdown(named, true)).toMatch(/^### \[7\] Kiln\n/)
    expect(itemMarkdown(untitled, false)).toMatch(/^### \[7\] The kiln cools in nine…\n[^>]*$/)
    expect(itemMarkdown({ ...untitled, content: '…nine hours.' }, true)).toMatch(/^### \[7\] The kiln/)
  })
})

it('names a memory that an item supersedes once, in the reason or after it', () => {
  const superseding = (reason: string): PackItem => ({
    ...itemWith('Refunds'),
    ...{ reason, metadata: { supersedes: ['1'] }, related: [] },
  })
  expect(itemMarkdown(superseding('supersedes [1]'), false)).toBe('### [7] Refunds\nnote · supersedes [1]\n')
  expect(itemMarkdown(superseding('words: refund'), false)).toBe(
    '### [7] Refunds\nnote · words: refund · supersedes [1]\n',
  )
})
