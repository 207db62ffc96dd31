import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Caller } from '../../src/domain/identity/scope'
import { lineIndex } from '../../src/domain/reading/lines'
import { narrowingOf } from '../../src/domain/reading/literal'
import { checkPart, type Part, rangeFor } from '../../src/domain/reading/range'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { EntryTexts, ScanRequest } from '../../src/ports/entry-texts'
import { createReadTexts } from '../../src/services/searching/texts/read-texts'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface MadeTexts {
  readonly entries: EntryStore
  readonly texts: EntryTexts
  readonly clock: TestClock
}

const ALL: ScanRequest = { filter: EVERYTHING, ids: null, beforeId: null, narrowing: null, limit: 1000 }

/** A long text of lines of every kind, with characters beyond U+FFFF. */
const longText = (lines: number): string =>
  Array.from(
    { length: lines },
    (_, i) => `${i + 1} ${'ä🌍x'.repeat(i % 40)}${['\n', '\r\n', '\r', '\n\n'][i % 4]}`,
  ).join('')

/** Behavior of every adapter of EntryTexts, on every database. */
export function entryTextsContract(name: string, make: () => MadeTexts): void {
  describe(`${name} reads texts in parts`, () => {
    let made: MadeTexts
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const save = async (text: string, draft: Partial<EntryDraft> = {}, by = ada): Promise<number> => {
      const [saved] = await made.entries.save(by, [await entryOf(by, { text, ...draft })])
      return saved?.id as number
    }
    const scan = (request: Partial<ScanRequest> = {}, by = ada) => made.texts.scan(by, { ...ALL, ...request })
    const candidates = async (request: Partial<ScanRequest> = {}, by = ada) =>
      (await scan(request, by)).candidates.map(({ id }) => id)

    it('covers entries newest first, page by page, whatever is written meanwhile', async () => {
      const ids: number[] = []
      for (const text of ['one', 'two', 'three', 'four']) ids.push(await save(text))
      const first = await scan({ limit: 2 })
      expect(first).toMatchObject({ covered: 2, more: true, lastId: ids[2] })
      expect(first.candidates.map(({ id, place, text }) => [id, place, text])).toEqual([
        [ids[3], 1, 'four'],
        [ids[2], 2, 'three'],
      ])
      await save('five')
      const second = await scan({ limit: 2, beforeId: first.lastId })
      expect(second).toMatchObject({ covered: 2, more: false, lastId: ids[0] })
      expect(await scan({ beforeId: ids[0] as number })).toMatchObject({
        candidates: [],
        covered: 0,
        more: false,
        lastId: null,
      })
    })

    it('narrows to texts that hold a string, and still counts the others as covered', async () => {
      const wanted = await save('The ERROR code is 17')
      const other = await save('all is well')
      const upper = narrowingOf('error CODE', false)
      expect(await scan({ narrowing: upper })).toMatchObject({ covered: 2, lastId: wanted })
      expect((await scan({ narrowing: upper })).candidates).toMatchObject([{ id: wanted, place: 2 }])
      expect(await candidates({ narrowing: narrowingOf('ERROR', true) })).toEqual([wanted])
      expect(await candidates({ narrowing: narrowingOf('error', true) })).toEqual([])
      expect(await candidates({ narrowing: narrowingOf('%', false) })).toEqual([])
      expect(await candidates({ narrowing: null })).toEqual([other, wanted])
    })

    it('sees what searches see, and covers only the ids it is given', async () => {
      const eve = freshPrincipal({ org: ada.org, owner: 'eve' })
      const open = await save('needle open')
      const secret = await save('needle secret', { metadata: { audience: 'private' } })
      const diary = await save('needle diary', { metadata: { diary: true } })
      const expiring = await save('needle expiring', { metadata: { expires_at: '2026-11-20T09:00:10Z' } })
      const inA = await save('needle inA', { metadata: { project: 'a' }, tags: ['t'] })
      expect(await candidates()).toEqual([inA, expiring, secret, open])
      expect(await candidates({}, eve)).toEqual([inA, expiring, open])
      expect(await candidates({}, freshPrincipal({ org: ada.org, projects: ['b'] }))).toEqual([expiring, secret, open])
      expect(await candidates({}, freshPrincipal())).toEqual([])
      made.clock.advance(10_000)
      expect(await candidates()).toEqual([inA, secret, open])
      expect(await candidates({ ids: [open, inA, diary, 999_999_999] })).toEqual([inA, open])
      expect(await candidates({ filter: { op: 'tag', anyOf: ['t'] } })).toEqual([inA])
      expect([...(await made.texts.texts(eve, [open, secret, diary])).keys()]).toEqual([open])
    })

    it('returns texts at once up to a megabyte, and scans at most some sixteen', async () => {
      const ids: number[] = []
      for (let i = 0; i < 3; i++) ids.push(await save(`${i}${'xyz '.repeat(112_500)}end`))
      const { candidates } = await scan()
      expect(candidates.map(({ text }) => text?.length ?? null)).toEqual([450_004, 450_004, null])
      const last = ids[0] as number
      expect((await made.texts.texts(ada, [last])).get(last)).toHaveLength(450_004)
    })

    it('stores the line index of a long text, and deletes it with the text', async () => {
      const text = longText(2000).trim()
      const id = await save(text)
      const { textHash, ...measure } = (await made.texts.measure(ada, id)) ?? { textHash: '' }
      expect(measure).toEqual({ marks: lineIndex(text), text: null, range: null })
      const cut = await made.texts.range(ada, id, textHash, { from: 20_000, to: 20_010, line: 1 })
      expect(cut).toBe([...text].slice(20_000, 20_010).join(''))
      const [changed] = [{ id, version: 1, steps: 1, text: { text: 'short now', hash: 'other' } }]
      await made.entries.change(ada, [changed as never])
      expect(await made.texts.measure(ada, id)).toEqual({
        textHash: 'other',
        marks: null,
        text: 'short now',
        range: null,
      })
      expect(await made.texts.range(ada, id, textHash, { from: 0, to: 5, line: 1 })).toBeNull()
      expect(await made.texts.measure(freshPrincipal(), id)).toBeNull()
    })

    it('returns a part of a long text together with its line index, of letters of one byte and of four', async () => {
      const plain = Array.from({ length: 4000 }, (_, i) => `line ${i + 1}`).join('\n')
      for (const text of [plain, longText(2000).trim()]) {
        const id = await save(text)
        const marks = lineIndex(text)
        const parts: Part[] = [
          { by: 'chars', start: 0, end: 5 },
          { by: 'chars', start: 20_000, end: null },
          { by: 'lines', first: 1, last: 1 },
          { by: 'lines', first: 1500, last: 1510 },
          { by: 'lines', first: 1500, last: null },
          { by: 'lines', first: 9_000_000_000_000, last: null },
        ]
        for (const part of parts) {
          const measure = await made.texts.measure(ada, id, part)
          const wanted = rangeFor(part, marks)
          expect([part, measure?.marks?.lines, measure?.text]).toEqual([part, marks.lines, null])
          const near = measure?.range ?? { from: -1, to: -1, text: '' }
          expect([part, near.from, near.to >= wanted.to]).toEqual([part, wanted.from, true])
          expect([part, near.text === [...text].slice(near.from, near.to).join('')]).toEqual([part, true])
        }
        const behind = await made.texts.measure(ada, id, { by: 'chars', start: 9_000_000_000_000, end: null })
        expect(behind?.range?.text).toBe('')
      }
      const short = await save('short')
      expect(await made.texts.measure(ada, short, { by: 'lines', first: 1, last: 1 })).toMatchObject({
        marks: null,
        text: 'short',
        range: null,
      })
    })

    it('returns the length of a text that a list shows in part', async () => {
      const id = await save(longText(2000).trim())
      const short = await save('🌍🌍🌍')
      const { entries } = await made.entries.page(ada, EVERYTHING, { limit: 10, offset: 0, previewLength: 2 })
      expect(entries.map(({ id, chars }) => [id, chars])).toEqual([
        [short, 3],
        [id, [...longText(2000).trim()].length],
      ])
    })

    it('reads the same parts of short and long texts as cutting the text does', async () => {
      const read = createReadTexts({ ...made })
      const edge = `${'y'.repeat(8191)}\r\n${'z'.repeat(8190)}\n${'w'.repeat(8191)}\r`
      for (const text of [
        'one\ntwo\r\nthree',
        longText(1500).trim(),
        `${edge.repeat(2)}end`,
        `a${'\n'.repeat(30_000)}b`,
      ]) {
        const id = await save(text)
        const chars = [...text]
        const lines = text.split(/\r\n|\r|\n/)
        const places = fc.oneof(
          fc.integer({ min: 0, max: chars.length + 50 }),
          fc.constantFrom(8191, 8192, 8193, 16_384),
        )
        const rows = fc.integer({ min: 1, max: lines.length + 3 })
        const parts: fc.Arbitrary<Part> = fc.oneof(
          fc.record({ by: fc.constant('chars' as const), start: places, end: fc.option(places) }),
          fc.record({ by: fc.constant('lines' as const), first: rows, last: fc.option(rows) }),
        )
        for (const part of fc.sample(parts, { numRuns: 25, seed: 20261121 })) {
          const [start, end] = part.by === 'chars' ? [part.start, part.end] : [part.first, part.last]
          if (end !== null && start > end) {
            expect(() => checkPart(part)).toThrow('is greater than')
            continue
          }
          const range = await read.range(ada, id, part)
          const cut = chars.slice(range.startChar, range.endChar).join('')
          const label = `${text.slice(0, 5)} ${JSON.stringify(part)}`
          // Long texts are compared, not shown: a difference of theirs takes minutes to print.
          expect([label, range.text === cut]).toEqual([label, true])
          expect([label, range.totals]).toMatchObject([label, { chars: chars.length, lines: lines.length }])
          const expected =
            part.by === 'chars'
              ? [Math.min(part.start, chars.length), Math.min(part.end ?? chars.length, chars.length)]
              : null
          if (expected) expect([label, range.startChar, range.endChar]).toEqual([label, ...expected])
          else if (start > lines.length) expect([label, range.text, range.startChar]).toEqual([label, '', chars.length])
          else {
            const shown = range.text.replace(/\r\n|\r/g, '\n')
            const wanted = lines.slice(start - 1, end ?? lines.length).join('\n')
            expect([label, shown === wanted]).toEqual([label, true])
            expect([label, range.startLine, range.endLine]).toEqual([
              label,
              start,
              Math.min(end ?? lines.length, lines.length),
            ])
          }
          if (range.text !== '') {
            const before = chars.slice(0, range.startChar).join('')
            const split = before.endsWith('\r') && range.text.startsWith('\n')
            expect([label, range.startLine]).toEqual([label, before.split(/\r\n|\r|\n/).length - Number(split)])
          }
        }
      }
    })

    it('returns at most 100,000 characters of a part, and where it continues', async () => {
      const read = createReadTexts({ ...made })
      const id = await save('🌍'.repeat(240_000))
      const pages: string[] = []
      for (let start: number | null = 0; start !== null; ) {
        const range = await read.range(ada, id, { by: 'chars', start, end: null })
        pages.push(range.text)
        start = range.truncated ? range.endChar : null
      }
      expect(pages.map((page) => page.length / 2)).toEqual([100_000, 100_000, 40_000])
      expect(await read.range(ada, id, { by: 'lines', first: 1, last: 1 })).toMatchObject({
        endChar: 100_000,
        truncated: true,
      })
    })

    it('reads each node of an outline as its span, archived ones and own diary pages too', async () => {
      const read = createReadTexts({ ...made })
      const text = `# One\n${'text 🌍\n'.repeat(3000)}## Two\r\n${'more\r\n'.repeat(2000)}# Three\nend`
      const id = await save(text, { metadata: { diary: true } })
      const chars = [...text]
      const { root, totals } = await read.outline(ada, id, 6)
      expect(totals).toMatchObject({ chars: chars.length })
      for (const node of [root, ...root.children, ...(root.children[0]?.children ?? [])]) {
        const range = await read.node(ada, id, node.id)
        expect([node.id, range.startChar, range.endChar]).toEqual([node.id, node.start, node.end])
        expect(range.text === chars.slice(node.start, node.end).join('')).toBe(true)
      }
      await expect(read.node(ada, id, 'one/tow')).rejects.toMatchObject({
        code: 'not_found',
        message: `Entry ${id} has no node "one/tow"; the most similar is "one/two"`,
      })
      await expect(read.outline(freshPrincipal({ org: ada.org, owner: 'eve' }), id, 6)).rejects.toMatchObject({
        code: 'not_found',
        message: `Context entry with ID ${id} not found`,
      })
    })
  })
}
