import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMBEDDING_PROVIDERS, parseConfig, RERANKING_PROVIDERS, SUMMARY_PROVIDERS } from '../../src/config'
import { kindOfTags, resolveKind } from '../../src/domain/entry/kind'
import { linksOfMetadata, MOST_LINKS } from '../../src/domain/entry/link'
import { mergePatch } from '../../src/domain/entry/metadata'
import { titleOf } from '../../src/domain/entry/title'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { highlight } from '../../src/domain/search/highlight'
import { parseQuery } from '../../src/domain/search/query'
import {
  codePointLength,
  compareText,
  cutShort,
  firstCodePoints,
  trim,
  truncate,
  utf8Length,
} from '../../src/domain/text'
import { parseDateBound, parseInstant } from '../../src/domain/time'
import { ANY } from '../support/any-text'
import '../support/languages'

describe('text', () => {
  it('measures code points and bytes as the platform does', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY }), (text) => {
        expect(codePointLength(text)).toBe([...text].length)
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
        expect(firstCodePoints(text, 3)).toBe([...text].slice(0, 3).join(''))
      }),
    )
  })

  it('orders by UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY }), fc.string({ unit: ANY }), (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }),
    )
  })

  it('cuts at the end of a word, and marks the cut', () => {
    expect(cutShort('as it is', 8)).toBe('as it is')
    expect(cutShort('as it was', 8)).toBe('as it…')
    expect(cutShort('返金処理は経理部', 5)).toBe('返金処理…')
    fc.assert(
      fc.property(fc.string({ unit: ANY }), fc.integer({ min: 2, max: 20 }), (text, most) => {
        const cut = cutShort(text, most)
        const isWhole = codePointLength(text) <= most
        expect(codePointLength(cut)).toBeLessThanOrEqual(most)
        if (!isWhole) expect([cut.at(-1), text.startsWith(cut.slice(0, -1))]).toEqual(['…', true])
        else expect(cut).toBe(text)
      }),
    )
  })

  it('trims in linear time and leaves the inside alone', () => {
    expect(trim(`\u001c a${' '.repeat(200_000)}b\u0085`)).toHaveLength(200_002)
  })

  it('never shows more than the limit and three dots', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 100 }), (text, limit) => {
        const shown = truncate(text, limit)
        expect(shown.truncated).toBe(codePointLength(text) > limit)
        expect(codePointLength(shown.text)).toBeLessThanOrEqual(limit + 3)
      }),
    )
  })
})

describe('titles', () => {
  it('are a heading by its words, and everything else as it begins', () => {
    for (const [text, title] of [
      ['# Deploy\n\nOn Tuesdays.', 'Deploy'],
      ['\n\n### Third\n', 'Third'],
      ['#hashtag first', '#hashtag first'],
      ['####### seven', '####### seven'],
      ['#', '#'],
    ] as const)
      expect([text, titleOf({ title: null, text })]).toEqual([text, title])
    expect(titleOf({ title: '# kept', text: 'x' })).toBe('# kept')
  })
})

describe('dates', () => {
  const utc = (value: string) => Date.parse(value) / 1000
  it.each([
    ['2025-W48-6', 'start', utc('2025-11-29T00:00:00Z')],
    ['2025-W48-6', 'end', utc('2025-11-29T23:59:59Z')],
    ['2026-W01-1', 'start', utc('2025-12-29T00:00:00Z')],
    ['2024-02-29', 'end', utc('2024-02-29T23:59:59Z')],
    ['0001-01-01', 'start', utc('0001-01-01T00:00:00Z')],
    ['2025-11-29T10:00:00.1+02', 'start', utc('2025-11-29T08:00:01Z')],
    ['2025-11-29T10:00:00.9-14:00', 'end', utc('2025-11-30T00:00:00Z')],
  ] as const)('reads %s as a %s', (value, bound, expected) => {
    expect(parseDateBound(value, bound)).toBe(expected)
  })

  it.each([
    '2025-W53-1',
    '2025-W00-1',
    '2025-W10-8',
    '2025-02-29',
    '20251301',
    '2025-11-29T',
    '2025-11-29T10',
    '+2025-01-01',
    '2025-11-29t10:00Z',
    '2025-11-29T10:00:00.',
  ])('refuses %s', (value) => {
    expect(parseDateBound(value, 'start')).toBeNull()
    expect(parseInstant(value)).toBeNull()
  })

  it.each([
    ['2025-11-29T10:00:00.25+02:00', '2025-11-29T08:00:00.250Z'],
    ['2025-11-29 10:00:59.9999', '2025-11-29T10:00:59.999Z'],
    ['2025-11-29T10:00:00.000Z', '2025-11-29T10:00:00.000Z'],
    ['2025-11-29', '2025-11-29T00:00:00.000Z'],
  ])('reads %s as an instant to the millisecond, never later than it says', (value, expected) => {
    expect(parseInstant(value)).toBe(Date.parse(expected))
  })
})

describe('merge patch', () => {
  it('never keeps a null member that came from the patch', () => {
    const holdsNull = (value: unknown): boolean =>
      value === null ||
      (typeof value === 'object' && !Array.isArray(value) && Object.values(value as object).some(holdsNull))
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(json, (patch) => {
        expect(Object.values(mergePatch({}, patch as never)).some(holdsNull)).toBe(false)
      }),
    )
  })
})

describe('kinds and links', () => {
  it('uses the given kind, then the one tag, then the work item, then the source', () => {
    expect(resolveKind('rule', 'plan', true, 'user')).toBe('rule')
    expect(resolveKind(null, 'plan', true, 'user')).toBe('plan')
    expect(resolveKind(null, null, true, 'user')).toBe('task')
    expect(resolveKind(null, null, false, 'user')).toBe('episode')
    expect(resolveKind(null, null, false, 'agent')).toBe('note')
    expect(kindOfTags(['plan', 'rule'])).toBeNull()
  })

  it('reads links from metadata and leaves out values that are not ids', () => {
    const metadata = {
      references: { context_ids: [1, '2', 'x', 1.5] },
      supersedes: '3',
      depends_on: [4, 4],
      contradicts: null,
    }
    expect(linksOfMetadata(metadata).map(({ relation, to }) => `${relation} ${to}`)).toEqual([
      'references 1',
      'references 2',
      'supersedes 3',
      'depends_on 4',
    ])
  })

  it('makes a hundred links of metadata at most, and references after all others', () => {
    const named = Array.from({ length: 150 }, (_, i) => i + 1)
    const links = linksOfMetadata({ references: { context_ids: named }, depends_on: [900] })
    expect(links.map(({ to }) => to)).toEqual([900, ...named.slice(0, MOST_LINKS - 1)])
  })
})

describe('analysis', () => {
  const analyzer = createAnalyzer('english')

  it('reads the same words with their places and without', () => {
    const long = 'x'.repeat(300)
    for (const text of [
      'Running naïve RÜNS don’t 日本語とkana ไทย e\u0301a 9_9 \u{20000}x',
      long,
      `${long}日本 ${long}`,
      '',
      '😀 \ud800',
    ]) {
      const words: unknown[] = []
      analyzer.eachWord(text, ({ term, word, isStopWord }) => words.push({ term, word, isStopWord }))
      expect(words).toEqual(analyzer.tokenize(text).map(({ term, word, isStopWord }) => ({ term, word, isStopWord })))
    }
    // Known words are negligible work; long ones and those without spaces are analyzed each time.
    const [read, nothing] = [createAnalyzer('english').eachWord, () => {}]
    expect(
      ['bolt and kiln bolt', 'kiln bolt nut', `nut ${long}日`, '日本 nut'].map((text) => read(text, nothing)),
    ).toEqual([11, 3, 557, 4])
  })

  it('keeps й, by which Russian endings are known, and folds the accents of е and и', () => {
    const russian = createAnalyzer('russian').tokenize('Русский русские Ёлка елка ѝ')
    expect(russian.map(({ word }) => word)).toEqual(['русский', 'русские', 'елка', 'елка', 'и'])
    expect(russian[0]?.term).toBe(russian[1]?.term)
  })

  it('takes ß for ss in German alone, where the stemmer does', () => {
    const terms = (language: string) =>
      createAnalyzer(language)
        .tokenize('Straße STRASSE')
        .map(({ term }) => term)
    expect(terms('german')).toEqual(['strass', 'strass'])
    expect(new Set(terms('english')).size).toBe(2)
  })

  it('returns tokens at their stated positions', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const { start, end, term } of analyzer.tokenize(text)) {
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
          expect(term).not.toMatch(/\s/)
        }
      }),
    )
  })

  it('highlights whatever it is given within 300 characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('alpha', 'beta', ' ', '\n', '猫猫', '<b>', 'x'.repeat(400)), { maxLength: 80 }),
        (parts) => {
          const text = parts.join(' ')
          const { units } = parseQuery('alpha 猫 beta', 'match', analyzer)
          const shown = highlight(text, units, analyzer)
          if (shown !== null) expect(codePointLength(shown)).toBeLessThanOrEqual(300)
          expect(shown === null).toBe(!/alpha|beta|猫/.test(text))
        },
      ),
    )
  })

  it('parses any boolean query or refuses it with a position', () => {
    const piece = fc.constantFrom('a', 'b*', '"c d"', '(', ')', 'AND', 'OR', 'NOT', '"', '*', '-x', ' ')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          parseQuery(pieces.join(' '), 'boolean', analyzer)
        } catch (error) {
          expect((error as Error).message).toMatch(/^Boolean query, position \d+: /)
        }
      }),
    )
  })
})

describe('configuration', () => {
  it('accepts booleans in any spelling and names every bad value at once', () => {
    expect(parseConfig({ ENABLE_FTS: 'Off' }).fts.enabled).toBe(false)
    expect(parseConfig({ ENABLE_FTS: '1', MCP_SERVER_INSTRUCTIONS: '' })).toMatchObject({
      instructions: '',
      fts: { enabled: true },
    })
    expect(() => parseConfig({ ENABLE_FTS: 'maybe', FTS_LANGUAGE: 'klingon', STORAGE_BACKEND: 'oracle' })).toThrow(
      /STORAGE_BACKEND.*ENABLE_FTS.*FTS_LANGUAGE/,
    )
    expect(() => parseConfig({ METADATA_INDEXED_FIELDS: 'a b' })).toThrow(/METADATA_INDEXED_FIELDS/)
  })

  it('accepts every provider of its lists, and names the list for any other', () => {
    for (const provider of EMBEDDING_PROVIDERS) {
      const { embedding } = parseConfig({ EMBEDDING_PROVIDER: provider, OPENAI_API_KEY: 'key' })
      expect([embedding.provider, embedding.model]).toEqual([provider, expect.stringMatching(/./)])
    }
    for (const [kind, providers] of [
      ['SUMMARY', SUMMARY_PROVIDERS],
      ['RERANKING', RERANKING_PROVIDERS],
    ] as const) {
      for (const provider of providers) {
        const env = { OPENAI_API_KEY: 'key', [`${kind}_PROVIDER`]: provider, [`${kind}_MODEL`]: 'm' }
        const { summary, reranking } = parseConfig(env)
        expect(kind === 'SUMMARY' ? summary : reranking).toMatchObject({ provider, model: 'm' })
      }
      expect(() => parseConfig({ [`${kind}_PROVIDER`]: 'local' })).toThrow(
        `${kind}_PROVIDER is "local", but must be one of none, ${providers.join(', ')}`,
      )
    }
  })

  it('retains history for 30 days and receipts for 24 hours, or as configured within bounds', () => {
    expect(parseConfig({})).toMatchObject({ history: { days: 30, receiptHours: 24 }, changesDays: 30, auditDays: 365 })
    const terms = (days: string, hours: string, changes: string) => {
      const { history, changesDays } = parseConfig({
        HISTORY_DAYS: days,
        IDEMPOTENCY_HOURS: hours,
        CHANGES_DAYS: changes,
      })
      return [history.days, history.receiptHours, changesDays]
    }
    expect([terms('0', '1', '1'), terms('3650', '720', '3650')]).toEqual([
      [0, 1, 1],
      [3650, 720, 3650],
    ])
    for (const [days, hours, changes] of [
      ['-1', '0', '0'],
      ['3651', '721', '3651'],
    ] as const)
      expect(() => terms(days, hours, changes)).toThrow(/CHANGES_DAYS.*HISTORY_DAYS.*IDEMPOTENCY_HOURS/)
  })
})
