import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Finding the line, seeing the outline and reading the part of long entries, over a real connection. */
export function longEntriesContract(connect: Connect): void {
  describe('long entries', () => {
    const s = useSession(connect)
    const grep = (pattern: string, args: Record<string, unknown> = {}) => s.ok('grep_context', { pattern, ...args })
    const range = (context_id: number, args: Record<string, unknown>) =>
      s.ok('read_context_range', { context_id, ...args })
    const message = async (name: string, args: Record<string, unknown>) => (await s.fail(name, args)).data.error.message

    it('[THREADS-157] answers a search through texts with the documented shape, in each mode', async () => {
      const thread_id = unique()
      const id = await s.store('first\nThe ERROR is here\nlast', { thread_id })
      await s.store('nothing', { thread_id })
      expect(await grep('error', { thread_id, context_lines: 1 })).toEqual({
        mode: 'content',
        total_matches: 1,
        truncated: false,
        entries_scanned: 2,
        results: [
          {
            context_id: id,
            line_number: 2,
            line: 'The ERROR is here',
            match_start: 4,
            match_end: 9,
            start_char: 10,
            end_char: 15,
            before: ['first'],
            after: ['last'],
          },
        ],
      })
      const rows = async (output_mode: string) => (await grep('r', { thread_id, output_mode })).results
      expect(await rows('count')).toEqual([{ context_id: id, matches: 2 }])
      expect(await rows('files_with_matches')).toEqual([{ context_id: id, thread_id }])
      expect(await grep('error', { thread_id, case_sensitive: true })).toMatchObject({ total_matches: 0, results: [] })
      expect(await message('grep_context', { pattern: 'x', output_mode: 'lines' })).toContain('output_mode')
    })

    it('[THREADS-157] finds strings and expressions within lines, with positions in code points and the lines around', async () => {
      const thread_id = unique()
      await s.store('🌍🌍 Straße\r\nline two\rthree (a+b)\n\nfive', { thread_id })
      const found = async (pattern: string, args: Record<string, unknown> = {}) =>
        (await grep(pattern, { thread_id, ...args })).results.map(
          (row: { line_number: number; match_start: number; match_end: number }) => [
            row.line_number,
            row.match_start,
            row.match_end,
          ],
        )
      expect(await found('STRAẞE')).toEqual([[1, 3, 9]])
      expect(await found('strasse')).toEqual([])
      expect(await found('(a+b)')).toEqual([[3, 6, 11]])
      expect(await found('^\\w+ (two|\\()', { is_regex: true })).toEqual([
        [2, 0, 8],
        [3, 0, 7],
      ])
      expect(await found('^$', { is_regex: true })).toEqual([[4, 0, 0]])
      expect(await found('two\rthree')).toEqual([])
    })

    it('[THREADS-157] searches texts within the filters and ids, and only texts that searches see', async () => {
      const thread_id = unique()
      const user = await s.store('needle one', { thread_id, tags: ['a'], metadata: { n: 1 } })
      const agent = await s.store('needle two', { thread_id, source: 'agent' })
      await s.store('needle three', { thread_id, metadata: { diary: true } })
      const elsewhere = await s.store('needle four')
      const found = async (args: Record<string, unknown>) =>
        (await grep('needle', { output_mode: 'files_with_matches', ...args })).results.map(
          ({ context_id }: { context_id: number }) => context_id,
        )
      expect(await found({ thread_id })).toEqual([agent, user])
      expect(await found({ thread_id, source: 'agent' })).toEqual([agent])
      expect(await found({ tags: ['A'], thread_id })).toEqual([user])
      expect(await found({ thread_id, metadata: { n: 1 } })).toEqual([user])
      expect(await found({ context_ids: [elsewhere, String(user), 999_999_999] })).toEqual([elsewhere, user])
      // Clients that fill in every argument send empty lists for those that they mean not to give.
      expect(await found({ context_ids: [], tags: [] })).toEqual(await found({}))
      expect(await found({ thread_id, end_date: '2020-01-01' })).toEqual([])
      expect((await s.fail('grep_context', { pattern: 'x', metadata: { a: null } })).data).toMatchObject({
        mode: 'content',
        results: [],
        validation_errors: [expect.any(String)],
      })
    })

    it('[THREADS-165] continues a search through texts where a limit ended it, and skips or repeats nothing', async () => {
      const thread_id = unique()
      const ids: number[] = []
      for (let i = 0; i < 9; i++) ids.push(await s.store(`entry ${i}${i % 3 === 0 ? ' needle' : ''}`, { thread_id }))
      for (const limits of [
        { max_entries_scanned: 2 },
        { max_matches: 1 },
        { max_matches: 2, max_entries_scanned: 4 },
      ]) {
        const told: number[] = []
        let before: number | undefined
        let scanned = 0
        do {
          const page = await grep('needle', { thread_id, ...limits, ...(before ? { before_id: before } : {}) })
          told.push(...page.results.map(({ context_id }: { context_id: number }) => context_id))
          scanned += page.entries_scanned
          expect(page.truncated).toBe(page.next_before_id !== undefined)
          before = page.next_before_id
          await s.store(`needle written meanwhile ${unique()}`, { thread_id })
        } while (before)
        // Entries written meanwhile are newer than all that remained to be covered.
        const known = told.filter((id) => ids.includes(id))
        expect([limits, known]).toEqual([limits, [ids[6], ids[3], ids[0]]])
        expect(new Set(told).size).toBe(told.length)
        expect(scanned).toBeGreaterThanOrEqual(9)
      }
    })

    it('[THREADS-163] finishes the entry in which a limit is reached, and names entries that are not listed completely', async () => {
      const thread_id = unique()
      const older = await s.store('needle', { thread_id })
      const many = await s.store('needle in each line\n'.repeat(1500), { thread_id })
      const page = await grep('needle', { thread_id, max_matches: 1 })
      expect(page).toMatchObject({ total_matches: 1500, truncated: true, next_before_id: many, cut_entries: [many] })
      expect(page.results).toHaveLength(1000)
      const rest = await grep('needle', { thread_id, before_id: page.next_before_id })
      expect(rest).toMatchObject({ total_matches: 1, truncated: false })
      expect(rest.results[0].context_id).toBe(older)
      const long = await s.store(`${'start '.repeat(300)}needle${' end'.repeat(300)}`)
      const [row] = (await grep('needle', { context_ids: [long] })).results
      expect([...row.line]).toHaveLength(502)
      expect(row).toMatchObject({ match_start: 1800, match_end: 1806, line: expect.stringMatching(/^….*needle.*…$/) })
    })

    it('explains that a pattern matches within lines if one that spans lines finds nothing', async () => {
      const thread_id = unique()
      await s.store('if (ready) {\n  start()\n}', { thread_id })
      const warnings = [expect.stringContaining('within a line')]
      for (const [pattern, is_regex] of [
        ['ready) {\n  start', false],
        ['start\\(\\)\\r?\\n', true],
      ])
        expect(await grep(pattern as string, { thread_id, is_regex })).toMatchObject({ total_matches: 0, warnings })
      for (const [pattern, is_regex] of [
        ['stop', false],
        ['\\n', false],
        ['[^\\n]stop|\\\\n', true],
        ['start|ready\\n', true],
      ])
        expect(await grep(pattern as string, { thread_id, is_regex })).not.toHaveProperty('warnings')
    })

    it('[THREADS-166] refuses a malformed or too large expression, with the position of the error', async () => {
      expect(await message('grep_context', { pattern: 'ab(c', is_regex: true })).toMatch(
        /Invalid regular expression: missing closing \), position 3/,
      )
      expect(await message('grep_context', { pattern: '(a)\\1', is_regex: true })).toContain('position 4')
      const { data } = await s.fail('grep_context', { pattern: '(?:abcd){900}', is_regex: true })
      expect(data.error).toMatchObject({ code: 'limit_exceeded', message: expect.stringContaining('too large') })
      expect(await message('grep_context', { pattern: '' })).toContain('pattern is empty')
      // With everything else that is wrong with the call, in form or in matter.
      const filters = { tags: [' '], start_date: 'soon', thread_id: ' ' }
      for (const more of [{}, { max_matches: 0, context_ids: ['x'] }]) {
        const all = await message('grep_context', { pattern: 'ab(c', is_regex: true, ...filters, ...more })
        for (const told of ['missing closing', 'non-blank tag', 'start_date', 'thread_id', ...Object.keys(more)])
          expect(all.replace('Invalid context ID: x', 'context_ids')).toContain(told)
      }
      expect(await message('grep_context', { pattern: 'x'.repeat(1001) })).toContain('1000')
      expect(await grep('x', { thread_id: unique(), context_lines: 21, max_matches: 5000 })).toMatchObject({
        warnings: ['context_lines 21 was applied as 20', 'max_matches 5000 was applied as 1000'],
      })
    })

    it('[THREADS-169] shows the outline of an entry by its headings, or its parts if it has no headings', async () => {
      const text = '# Guide\nintro\n## Set up\nsteps\n```\n# no heading\n```\n# Über 🌍\nend'
      const id = await s.store(text)
      const shown = await s.ok('navigate_context', { context_id: id })
      expect(shown).toMatchObject({ context_id: id, total_chars: [...text].length, total_lines: 9, node_count: 3 })
      expect(shown.truncated).toBe(false)
      expect(shown.root).toEqual({
        node_id: 'root',
        level: 0,
        ordinal: 1,
        title: '',
        char_start: 0,
        char_end: [...text].length,
        children: [
          {
            node_id: 'guide',
            level: 1,
            ordinal: 1,
            title: 'Guide',
            char_start: 0,
            char_end: text.indexOf('# Über'),
            children: [expect.objectContaining({ node_id: 'guide/set-up', level: 2, title: 'Set up', children: [] })],
          },
          expect.objectContaining({ node_id: 'über', ordinal: 2, title: 'Über 🌍', children: [] }),
        ],
      })
      const flat = await s.ok('navigate_context', { context_id: String(id), max_depth: 1 })
      expect(flat).toMatchObject({ node_count: 2, truncated: true })
      const plain = await s.store('word '.repeat(900))
      const parts = (await s.ok('navigate_context', { context_id: plain })).root.children
      expect(parts.map(({ node_id }: { node_id: string }) => node_id)).toEqual(['part-1', 'part-2', 'part-3'])
      expect(await message('navigate_context', { context_id: 999_999_999 })).toBe(
        'Context entry with ID 999999999 not found',
      )
    })

    it('[THREADS-177] reads a part of an entry by characters, lines or node, and clamps a range beyond the text', async () => {
      const text = 'one\r\n🌍two\n# Three\nfour'
      const id = await s.store(text)
      expect(await range(id, { start_line: 2, end_line: 2 })).toEqual({
        context_id: id,
        start_char: 5,
        end_char: 9,
        start_line: 2,
        end_line: 2,
        total_chars: 22,
        total_lines: 4,
        text: '🌍two',
      })
      expect((await range(id, { start_char: 5, end_char: 6 })).text).toBe('🌍')
      expect((await range(id, { end_char: 3 })).text).toBe('one')
      expect((await range(id, { end_line: 1 })).text).toBe('one')
      expect((await range(id, { start_line: 3 })).text).toBe('# Three\nfour')
      expect((await range(id, { node_id: 'three' })).text).toBe('# Three\nfour')
      expect((await range(id, { node_id: 'root' })).text).toBe(text)
      expect(await range(id, { start_char: 7, end_char: 7 })).toMatchObject({ text: '', start_char: 7, end_char: 7 })
      expect(await range(id, { start_line: 90 })).toMatchObject({ text: '', start_char: 22, end_char: 22, end_line: 4 })
      for (const end of [99_000, 1e9 + 1, 2 ** 53, 1e300]) {
        expect(await range(id, { start_char: 18, end_char: end })).toMatchObject({ text: 'four', end_char: 22 })
        expect(await range(id, { start_line: 4, end_line: end })).toMatchObject({ text: 'four', end_line: 4 })
        expect(await range(id, { start_char: end, end_char: end })).toMatchObject({ text: '', start_char: 22 })
        expect(await range(id, { start_line: end })).toMatchObject({ text: '', start_char: 22, end_line: 4 })
      }
      const long = await s.store('0123456789'.repeat(25_000))
      const first = await range(long, { start_char: 10 })
      expect([first.text.length, first.truncated, first.next_start_char]).toEqual([100_000, true, 100_010])
      const last = await range(long, { start_char: 200_010, end_char: 1e9 + 1 })
      expect(await range(long, { start_line: 1e300, end_line: 1e301 })).toMatchObject({ text: '', start_char: 250_000 })
      expect([last.text.length, last.truncated, last.end_char]).toEqual([49_990, undefined, 250_000])
    })

    it('[THREADS-178] refuses no range, two ranges or a backward range, and an unknown node with the most similar one', async () => {
      const id = await s.store('# One\ntext\n# Two')
      const refused = (args: Record<string, unknown>) => message('read_context_range', { context_id: id, ...args })
      expect(await refused({})).toContain('exactly one of')
      expect(await refused({ start_char: 0, start_line: 1 })).toContain('exactly one of')
      expect(await refused({ node_id: 'one', end_char: 3 })).toContain('exactly one of')
      expect(await refused({ start_char: 5, end_char: 4 })).toContain('start_char 5 is greater than end_char 4')
      expect(await refused({ start_line: 2, end_line: 1 })).toContain('start_line 2 is greater than end_line 1')
      expect(await refused({ start_char: -1 })).toContain('start_char')
      expect(await refused({ start_line: 0 })).toContain('start_line')
      expect(await refused({ start_line: 1, end_line: 2.5 })).toContain('end_line must be an integer')
      expect(await refused({ start_char: 1e301, end_char: 1e300 })).toContain('is greater than')
      // All errors of a call are reported at once.
      for (const args of [{}, { start_char: 5, end_char: 4 }]) {
        const all = await message('read_context_range', { context_id: 'x', ...args })
        expect([args, /exactly one of|is greater than/.test(all), all.includes('Invalid context ID: x')]).toEqual([
          args,
          true,
          true,
        ])
      }
      expect(await refused({ node_id: 'onee' })).toContain('the most similar is "one"')
      expect(await refused({ node_id: 'ONE' })).toContain('the most similar is "one"')
      const accents = await s.store('# Two\n# e\u0301')
      const other = await message('read_context_range', { context_id: accents, node_id: '\u00e9' })
      expect(other).toContain('the most similar is "e\u0301"')
      expect(await message('read_context_range', { context_id: 999_999_999, start_char: 0 })).toBe(
        'Context entry with ID 999999999 not found',
      )
    })

    it('[THREADS-155] shows parts of archived entries and own diary pages, which searches do not show', async () => {
      const id = await s.store('# Page\nneedle', { metadata: { diary: true } })
      expect((await range(id, { start_line: 2 })).text).toBe('needle')
      expect((await s.ok('navigate_context', { context_id: id })).node_count).toBe(1)
      expect((await grep('needle', { context_ids: [id] })).entries_scanned).toBe(0)
    })

    it('[THREADS-181] reports the length of every text that a search shows in part', async () => {
      const thread_id = unique()
      await s.store(`${'🌍 '.repeat(200)}end`, { thread_id })
      await s.store('short', { thread_id })
      for (const [name, args] of [
        ['search_context', {}],
        ['fts_search_context', { query: 'end short' }],
        ['semantic_search_context', { query: 'end' }],
        ['hybrid_search_context', { query: 'end short' }],
      ] as const) {
        const { results } = await s.ok(name, { thread_id, ...args })
        const lengths = new Map(
          results.map((entry: { total_chars?: number; is_text_content_truncated: boolean }) => [
            entry.is_text_content_truncated,
            entry.total_chars,
          ]),
        )
        expect([name, lengths.get(true), lengths.get(false)]).toEqual([name, 403, undefined])
      }
    })

    it('[THREADS-155] answers a question about one line of a megabyte of log in less than 3,000 tokens of results', async () => {
      const thread_id = unique()
      const lines = Array.from(
        { length: 12_000 },
        (_, i) =>
          `2026-11-20T09:${String(i % 60).padStart(2, '0')} INFO worker-${i % 7} handled job ${i} in ${i % 90} ms`,
      )
      lines[8_123] =
        '2026-11-20T09:23 ERROR worker-3 could not reach ledger-db:5432 (timeout after 1500 ms), job 8123 lost'
      await s.store(lines.join('\n'), { thread_id, metadata: { title: 'night run' } })
      const spent: string[] = []
      const ask = async (name: string, args: Record<string, unknown>) => {
        const { text, data } = await s.client.call(name, args)
        spent.push(text)
        return data
      }
      // From a search to the entry, from the entry to the line, from the line to its context.
      const [hit] = (await ask('fts_search_context', { query: 'ledger timeout', limit: 1, thread_id })).results
      expect(hit).toMatchObject({ is_text_content_truncated: true, total_chars: lines.join('\n').length })
      const [row] = (await ask('grep_context', { pattern: 'could not reach', context_ids: [hit.id] })).results
      const part = await ask('read_context_range', {
        context_id: row.context_id,
        start_line: row.line_number - 5,
        end_line: row.line_number + 5,
      })
      expect(part.text).toBe(lines.slice(8_118, 8_129).join('\n'))
      expect(spent.join('').length / 4).toBeLessThan(3_000)
    })
  })
}
