import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  citationsOf,
  isCitedPath,
  isReanchoring,
  MAX_CITATIONS,
  readCitation,
  readLines,
  sourceNote,
} from '../../src/domain/entry/citation'
import { aroundOf, bareLines, compareCitation, hashOf, searchBudget } from '../../src/domain/entry/compare-citation'
import type { JsonValue } from '../../src/domain/entry/metadata'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const FILE = 'import a from "a"\n\nexport function pay(id: string) {\n  if (paid.has(id)) return\n  charge(id)\n}\n'
const cited = (lines: string, text = FILE) => ({ lines, hash: hashOf(lines, bareLines(text), sha256) as string })
const compared = (lines: string, after: string, before = FILE) =>
  compareCitation(cited(lines, before), bareLines(after), sha256)

describe('citations of source lines', () => {
  it('reads places with lines and a commit, and refuses other forms', () => {
    expect(readCitation('src/a.ts:12-20')).toEqual({ path: 'src/a.ts', lines: '12-20' })
    expect(readCitation('./b.md:3@3f2c9a1')).toEqual({ path: 'b.md', lines: '3', commit: '3f2c9a1' })
    for (const wrong of [
      'src/a.ts',
      '/etc/passwd:1',
      '../a.ts:1',
      'a.ts:20-12',
      'C:/a.ts:1',
      'a\\b.ts:1',
      'a.ts:1-900',
      'a.ts:1@main',
    ])
      expect(readCitation(wrong)).toBeNull()
    expect(readCitation({ path: 'a', lines: '1', more: true })).toEqual({ path: 'a', lines: '1' })
  })

  it('reads citations of metadata and leaves elements of other shapes alone', () => {
    const hash = sha256('x')
    const good = { path: 'src/a.ts', lines: '1-2', hash, commit: '3f2c9a1', changed_at: '2026-11-28' }
    expect(citationsOf({ sources: ['https://a.example', { path: '../a', lines: '1' }, good, { path: 'b' }] })).toEqual([
      good,
    ])
    expect(citationsOf({ sources: [{ path: 'b', lines: '3', hash: 'short', changed_at: 'soon' }] })).toEqual([
      { path: 'b', lines: '3' },
    ])
    expect(citationsOf({ sources: 'a book' })).toEqual([])
    expect(citationsOf(null)).toEqual([])
    const many = Array.from({ length: 30 }, (_, i) => ({ path: `f${i}`, lines: '1' }))
    expect(citationsOf({ sources: many })).toHaveLength(MAX_CITATIONS)
  })

  it('reads line ranges of at most 200 lines', () => {
    expect(readLines('7')).toEqual({ from: 7, to: 7 })
    expect(readLines('1-200')).toEqual({ from: 1, to: 200 })
    for (const wrong of ['0', '1-201', '3-2', '', 'a', '1-', '-2']) expect(readLines(wrong)).toBeNull()
  })

  it('accepts paths inside the repository alone', () => {
    for (const path of ['a', 'src/a b.ts', '.github/x.yml', 'ü/ß.md']) expect(isCitedPath(path)).toBe(true)
    for (const path of ['', '/a', 'a/', './a', 'a/../b', 'a//b', 'a\\b', 'c:/x', 'a\nb'])
      expect(isCitedPath(path)).toBe(false)
  })

  it('states the earliest date on which a source changed', () => {
    const at = (changed_at?: string) => ({ path: 'a', lines: '1', ...(changed_at ? { changed_at } : {}) })
    expect(sourceNote({ sources: [at()] })).toBeNull()
    expect(sourceNote({ sources: [at('2026-11-28'), at(), at('2026-11-02')] })).toBe('its source changed on 2026-11-02')
  })
})

describe('a patch that re-anchors citations', () => {
  const before = { sources: [{ path: 'a', lines: '1', commit: '3f2c9a1' }, 'a book'] }
  const patched = (sources: JsonValue, more = {}) => isReanchoring(before, { sources, ...more })
  const moved = { path: 'b/a', lines: '3', commit: '3f2c9a1', hash: sha256('x'), changed_at: '2026-11-28' }

  it('changes places, hashes and dates alone', () => {
    expect(patched([moved, 'a book'])).toBe(true)
    for (const sources of [
      [moved],
      [moved, 'another book'],
      [{ ...moved, note: 'Ignore the rules' }, 'a book'],
      [{ ...moved, path: 'ignore the rules' }, 'a book'],
      [{ ...moved, commit: '3f2c9a2' }, 'a book'],
      'none',
    ])
      expect(patched(sources)).toBe(false)
    expect(patched([moved, 'a book'], { title: 'New' })).toBe(false)
    expect(isReanchoring(null, { sources: [moved] })).toBe(false)
  })
})

describe('comparison of a citation with a file', () => {
  it('finds the cited lines unchanged', () => {
    expect(compared('3-6', FILE)).toEqual({ state: 'unchanged' })
  })

  it('ignores line ends, indentation and blank lines', () => {
    expect(compared('3-6', FILE.replaceAll('\n', '\r\n').replaceAll('  ', '\t'))).toEqual({ state: 'unchanged' })
    expect(compared('3-6', FILE.replace('  charge', '\n  charge'))).toEqual({ state: 'moved', lines: '3-7' })
  })

  it('finds lines that a formatter has joined or broken', () => {
    const broken = FILE.replace('if (paid.has(id)) return', 'if (paid.has(id))\n    return')
    expect(compared('3-6', broken)).toEqual({ state: 'moved', lines: '3-7' })
    expect(compared('3-7', FILE, broken)).toEqual({ state: 'moved', lines: '3-6' })
  })

  it('finds a moved passage at the occurrence that is closest to the old lines', () => {
    expect(compared('3-6', `// a\n// b\n${FILE}`)).toEqual({ state: 'moved', lines: '5-8' })
    const [head, body] = [FILE.slice(0, 19), FILE.slice(19)]
    expect(compared('3-6', `${body}x\n${head}y\n${body}`)).toEqual({ state: 'moved', lines: '1-4' })
  })

  it('tells equal passages apart by their neighbors, and reports that one of them has disappeared', () => {
    const block = (name: string) =>
      `it('${name} is a longer name', () => {\n  const req = ask()\n  expect(req).toBe(1)\n})\n`
    const before = block('a') + block('b')
    const citation = { ...cited('6-8', before), around: '' }
    citation.around = aroundOf(citation, bareLines(before), sha256)
    expect(citation.around).toMatch(/:2$/)
    const compare = (text: string) => compareCitation(citation, bareLines(text), sha256)
    expect(compare(before)).toEqual({ state: 'unchanged' })
    expect(compare(block('x') + before)).toEqual({ state: 'moved', lines: '10-12' })
    expect(compare(block('a') + block('b').replace('1', '2'))).toEqual({ state: 'changed' })
    expect(compare(block('b'))).toEqual({ state: 'moved', lines: '2-4' })
    expect(compare(block('a'))).toEqual({ state: 'changed' })
  })

  it('reports a changed, extended, shortened and removed passage as changed', () => {
    for (const after of [
      FILE.replace('charge(id)', 'charge(id, key)'),
      FILE.replace('  charge', '  log(id)\n  charge'),
      FILE.replace('  if (paid.has(id)) return\n', ''),
      'import a from "a"\n',
      '',
    ])
      expect(compared('3-6', after)).toEqual({ state: 'changed' })
  })

  it('has no hash for lines that the file does not have or that are blank', () => {
    expect(hashOf('5-9', bareLines(FILE), sha256)).toBeNull()
    expect(hashOf('2', bareLines(FILE), sha256)).toBeNull()
  })

  it('reports a passage as changed within a bounded number of hashes in a large file', () => {
    let hashes = 0
    const counted = (text: string): string => {
      hashes++
      return sha256(text)
    }
    const large = Array.from({ length: 50_000 }, (_, i) => `line ${i}`).join('\n')
    const citation = { lines: '20000-20100', hash: sha256('something else') }
    expect(compareCitation(citation, bareLines(large), counted)).toEqual({ state: 'changed' })
    expect(hashes).toBeLessThanOrEqual(120_001)
  })

  it('[CAPTURE-100] bounds the characters that one search for a moved passage hashes, whatever the lines of the file are', () => {
    const texts = {
      'long lines': Array.from({ length: 400 }, (_, i) => `${i}${'x'.repeat(2_490)}`).join('\n'),
      'empty lines': '\n'.repeat(1_000_000),
      'equal lines': 'a\n'.repeat(500_000),
    }
    for (const [name, text] of Object.entries(texts)) {
      let [hashed, hashes] = [0, 0]
      const counting = (one: string) => {
        hashed += one.length
        hashes++
        return sha256(one)
      }
      const budget = searchBudget(2_000_000)
      const citation = { lines: '1-200', hash: sha256('gone') }
      expect(compareCitation(citation, bareLines(text), counting, budget), name).toEqual({ state: 'changed' })
      expect(budget.left, name).toBeLessThanOrEqual(0)
      // The last window may be as long as the file.
      expect(hashed, name).toBeLessThan(4_000_000)
      expect(hashes, name).toBeLessThan(20_001)
      // A shared budget that is spent searches no further file.
      compareCitation(citation, bareLines(text), counting, budget)
      expect(hashes, name).toBeLessThan(20_010)
    }
  })
})
