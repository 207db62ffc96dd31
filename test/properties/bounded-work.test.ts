import { parser as java } from '@lezer/java'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ALPHABETS, MEGABYTE, repeated } from '../../bench/faults/alphabets.mjs'
import { parseInParts } from '../../src/adapters/code/tree'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { inBatches } from '../../src/domain/batches'
import { detectImageType } from '../../src/domain/entry/image'
import { withoutEchoes } from '../../src/domain/identity/remove-echoes'
import {
  atOnce,
  createScheduler,
  JSON_UNITS,
  SLICE,
  STEP,
  type Steps,
  scheduler,
  VOLUME_UNITS,
} from '../../src/domain/scheduler'
import { type Analyzer, createAnalyzer } from '../../src/domain/search/analysis'
import { containsText } from '../../src/domain/search/filter'
import { highlight } from '../../src/domain/search/highlight'
import { findHits, findUnit, HIGHLIGHT_LIMIT, passageAround } from '../../src/domain/search/hits'
import { BREAK, codeOf, indexText } from '../../src/domain/search/indexed-text'
import { makeUnit, parseQuery } from '../../src/domain/search/query'
import { withoutTrailing } from '../../src/domain/text'
import { joined } from '../../src/domain/transfer/lines'
import type { EntryRecord } from '../../src/domain/transfer/records'
import { createChunkedResult } from '../../src/http/chunked-result'
import type { ExportStore, VectorRecord } from '../../src/ports/export-store'
import { createRecall } from '../../src/services/searching/memories/recall'
import { packed, unpacked } from '../../src/services/transfer/backups'
import { createExportOrg } from '../../src/services/transfer/export-org'
import { readVolume } from '../../src/services/transfer/parsed-volume'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { createStoreEntries } from '../../src/services/writing/entries/store-entries'
import type { ToolContext } from '../../src/tools/context'
import { readFilter } from '../../src/tools/filters'
import { toJsonSchema } from '../../src/tools/json-schema'
import { parseArguments } from '../../src/tools/parse-arguments'
import { fitting } from '../../src/tools/result-size'
import { readItems } from '../../src/tools/threads/batch'
import { storeArguments } from '../../src/tools/threads/store-context'
import { toResult } from '../../src/tools/tool-result'
import { notePauses, useScheduler } from '../support/pauses'
import { freshPrincipal } from '../support/scope'

/** Limits on work, measured in words and characters, never in time; bench/faults measures times. */
const analyzer = createAnalyzer('english')

/** The characters that each step of some work reads. */
function stepsOf(work: Steps<unknown>): number[] {
  const steps: number[] = []
  for (let next = work.next(); !next.done; next = work.next()) steps.push(next.value)
  return steps
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

/** An analyzer that counts the words it produces. */
function counting(): { analyzer: Analyzer; made: () => number } {
  let made = 0
  function* tokens(text: string) {
    for (const token of analyzer.tokens(text)) {
      made++
      yield token
    }
  }
  return { analyzer: { ...analyzer, tokens, tokenize: (text) => [...tokens(text)] }, made: () => made }
}

const plain = (text: string) => ({ text, metadata: null })

/** Texts with one word or hardly any. A search skips text without words, which is negligible work. */
const HARDLY_WORDS = /one letter|hex|fences|blanks|emoji|slashes|dots|Hangul|accents/

describe('half a megabyte of', () => {
  it.each(Object.entries(ALPHABETS))('%s is analysed in small steps that grow with its length', (name, make) => {
    const text = make().slice(0, MEGABYTE / 2)
    const quarter = text.slice(0, text.length >> 2)
    const [whole, part] = [stepsOf(indexText(analyzer, plain(text))), stepsOf(indexText(analyzer, plain(quarter)))]
    // The text and the code in it, each once; a range without words is skipped by one search for the next word.
    const code = sum(whole) - text.length
    expect(code).toBeGreaterThanOrEqual(0)
    expect(code).toBeLessThanOrEqual(codeOf(text).length)
    expect(whole.length).toBeLessThanOrEqual(4 * part.length + 4)
    if (!HARDLY_WORDS.test(name)) expect(Math.max(...whole)).toBeLessThan(STEP * 2)
  })
})

describe('different words of a text', () => {
  it('are indexed up to the limit of every index, and leave a gap beyond it', () => {
    const text = `${(ALPHABETS['new words'] as () => string)().slice(0, 900_000)} known ground`
    const [known] = text.split(' ')
    const indexed = atOnce(indexText(analyzer, { text: `${text} ${known} ${known}`, metadata: null }))
    const terms = indexed.terms.split(' ')
    const different = new Set(terms)
    expect(sum([...different].map((term) => term.length + 10))).toBeLessThan(710_000)
    expect(different.size).toBeGreaterThan(30_000)
    expect(terms.slice(-3)).toEqual([BREAK, known, known])
    expect(different.has('ground')).toBe(false)
    expect(indexed.written.split(' ')).toHaveLength(terms.length)
    expect(indexed.words).toBeGreaterThan(100_000)
  })
})

describe('code in a text', () => {
  it('is found in paths and fences as they are written', () => {
    const text =
      'See src/http/app.ts, `docs\\a b.md` and lib.rs.\n```ts\nconst a = 1\n```\nnot 1.5 or e.g. this; ./x.y/z.json'
    expect(codeOf(text).split('\n')).toEqual(['const a = 1', '', 'src/http/app.ts', 'b.md', 'lib.rs', './x.y/z.json'])
  })

  it('is not searched in encoded data, nor beyond the indexed part', () => {
    expect(codeOf('a'.repeat(MEGABYTE))).toBe('')
    expect(codeOf(repeated('/a'))).toBe('')
    expect(codeOf(`${repeated('a.b-c_/')}.ts`)).toBe('')
    expect(codeOf(repeated('```\nx\n```\n')).length).toBeLessThan(300_000)
  })
})

describe('a phrase', () => {
  const unitOf = (text: string, prefix = false) => {
    const unit = makeUnit(analyzer.tokenize(text), { phrase: true, prefix })
    if (unit === null) throw new Error('no words')
    return unit
  }

  it('is searched in one pass over the words, however much of it repeats', () => {
    for (const size of [10_000, 40_000]) {
      const tokens = analyzer.tokenize('ab '.repeat(size))
      for (const words of [2, 64, 3300]) {
        const compared = findUnit(unitOf('ab '.repeat(words)), tokens, () => {})
        expect(compared).toBeLessThanOrEqual(tokens.length * 2)
        const broken = findUnit(unitOf(`${'ab '.repeat(words)} cd`), tokens, () => {})
        expect(broken).toBeLessThanOrEqual(tokens.length * 3)
      }
    }
  })

  it('is found wherever comparing word by word finds it', () => {
    const words = fc.array(fc.constantFrom('ab', 'cd', 'abc'), { maxLength: 40 })
    fc.assert(
      fc.property(
        words,
        fc.array(fc.constantFrom('ab', 'cd', 'a'), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (text, phrase, prefix) => {
          const tokens = analyzer.tokenize(text.join(' '))
          const unit = { ...unitOf(phrase.join(' ')), terms: phrase, prefix }
          const fits = (at: number) =>
            at + phrase.length <= tokens.length &&
            phrase.every((term, i) => {
              const word = (tokens[at + i] as { term: string }).term
              return prefix && i === phrase.length - 1 ? word.startsWith(term) : word === term
            })
          const found: number[] = []
          findUnit(unit, tokens, (at) => found.push(at))
          expect(found).toEqual(tokens.flatMap((_, at) => (fits(at) ? [at] : [])))
          const marked = tokens.map((_, i) => found.some((at) => at <= i && i < at + phrase.length))
          expect(Array.from(findHits(tokens, [unit]).low, Boolean)).toEqual(marked)
        },
      ),
    )
  })

  it('has at most 64 words, and a query 16 of them', () => {
    const long = `"${'ab '.repeat(65)}"`
    const refusal = (query: string, mode: 'phrase' | 'prefix' | 'boolean') => {
      try {
        parseQuery(query, mode, analyzer)
        return null
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    const quoted = (count: number) => Array.from({ length: count }, (_, i) => `"a${i} b"`).join(' ')
    expect(refusal('ab '.repeat(64), 'phrase')).toBeNull()
    expect(refusal('ab '.repeat(65), 'phrase')).toBe('limit_exceeded')
    expect(refusal('ab-'.repeat(65), 'prefix')).toBe('limit_exceeded')
    expect(refusal(long, 'boolean')).toBe('limit_exceeded')
    expect(refusal(quoted(16), 'boolean')).toBeNull()
    expect(refusal(quoted(17), 'boolean')).toBe('limit_exceeded')
    const match = parseQuery(`${long} ${'x.'.repeat(65)} fox ${quoted(17)}`, 'match', analyzer)
    expect(match.warnings).toEqual([
      'phrases of more than 64 words were ignored',
      'only the first 16 quoted phrases of the query were used',
    ])
    expect(match.units.filter(({ phrase }) => phrase)).toHaveLength(16)
    expect(match.units[0]?.terms).toEqual(['fox'])
  })
})

describe('what is shown of a long text', () => {
  const { units } = parseQuery('needle', 'match', analyzer)
  const beyond = `${repeated('hay ', 4 * HIGHLIGHT_LIMIT)}needle`

  it('is searched in its first 50,000 characters only', () => {
    const { analyzer: counted, made } = counting()
    expect(highlight(beyond, units, counted)).toBeNull()
    expect(made()).toBeLessThanOrEqual(HIGHLIGHT_LIMIT / 4 + 1)
    expect(highlight(`needle ${beyond}`, units, analyzer)).toMatch(/^<mark>needle<\/mark> hay .*hay…$/)
  })

  it('is not a word that their end has cut', () => {
    expect(
      highlight(
        `${'x '.repeat(HIGHLIGHT_LIMIT / 2 - 3)}needles`,
        parseQuery('needl', 'prefix', analyzer).units,
        analyzer,
      ),
    ).toBeNull()
  })

  it('is found by reading no further than the first hit', () => {
    const { analyzer: counted, made } = counting()
    const passage = passageAround(`${'hay '.repeat(1000)}needle ${beyond}`, units, counted)
    expect(made()).toBe(1001)
    expect([...passage]).toHaveLength(2000)
    expect(passage.indexOf('needle')).toBe(500)
  })

  it('is chosen in one walk, also where dozens of units hit every word', () => {
    const many = parseQuery(
      Array.from({ length: 64 }, (_, i) => 'abcdefgh'.repeat(9).slice(0, i + 1)).join(' '),
      'prefix',
      analyzer,
    )
    expect(many.units.length).toBeGreaterThan(50)
    const shown = highlight(`${'abcdefgh'.repeat(9)} `.repeat(700), many.units, analyzer)
    expect(shown?.match(/<mark>/g)?.length).toBeGreaterThan(2)
  })
})

describe('filters of metadata', () => {
  const asking = (operator: string, values: readonly unknown[]) => () =>
    readFilter({ metadata_filters: values.map((value) => ({ key: 'list', operator, value })) }).filter

  it('ask an array once for all the elements that a call wants', () => {
    const wanted = Array.from({ length: 100 }, (_, i) => i)
    expect(asking('array_contains', wanted)()).toEqual({ op: 'elements', path: ['list'], allOf: wanted, fold: true })
  })

  it('hold at most half a megabyte together, which every database takes', () => {
    const control = '\u0001'.repeat(40_000)
    expect(asking('eq', [control, control])()).toMatchObject({ op: 'and' })
    const message = /^metadata and metadata_filters together hold 7\d{5} bytes of JSON; at most 524288 are allowed/
    expect(asking('eq', [control, control, control])).toThrow(message)
    expect(() => readFilter({ metadata: { key: 'x'.repeat(600_000) } })).toThrow(/at most 524288/)
  })

  it('find long parts of a text in their positions, also where a text and a part are of two letters', () => {
    // Fibonacci words repeat themselves at every length.
    const words = ['b', 'a']
    while ((words.at(-1) as string).length < 4_000) words.push(`${words.at(-1)}${words.at(-2)}`)
    const text = words.at(-1) as string
    const parts = [33, 89, 100, 233, 1_000].flatMap((length) =>
      [0, 7, 500, 2_000].map((from) => text.slice(from, from + length)),
    )
    for (const part of parts) {
      expect(containsText(text, part)).toBe(true)
      for (const other of [`${part}c`, `${part.slice(0, -1)}${part.endsWith('a') ? 'b' : 'a'}`, `b${part}bb`])
        expect(containsText(text, other)).toBe(text.includes(other))
    }
  })
})

describe('items in shares', () => {
  it('are grouped in their order, none left out, however large or small they are', () => {
    const grouped = (sizes: number[], share: number) => inBatches(sizes, (size) => size, share)
    expect(grouped([], 10)).toEqual([])
    expect(grouped([0, 0], 10)).toEqual([[0, 0]])
    expect(grouped([0, 10, 0, 1, 11, 0, 3], 10)).toEqual([[0, 10, 0], [1], [11], [0, 3]])
    expect(grouped([0, 5], 0)).toEqual([[0], [5]])
  })
})

/** Work between two pauses of the scheduler, until the test ends. */
function recorded(): readonly number[] {
  const stretches: number[] = []
  let worked = 0
  const inner = createScheduler(async () => {
    stretches.push(worked)
    worked = 0
  })
  const tick = (cost: number): Promise<void> => {
    worked += cost
    return inner.tick(cost)
  }
  useScheduler({
    tick,
    yield: () => inner.yield(),
    run: async <T>(steps: Steps<T>): Promise<T> => {
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value
        await tick(value)
      }
    },
  })
  return stretches
}

describe('the scheduler', () => {
  it('pauses by a timer that is not due at once, so that a waiting request runs in every pause', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => void timers.mockRestore())
    const { yield: pause, tick } = createScheduler()
    for (let i = 0; i < 3; i++) await pause()
    await tick(SLICE)
    const asked = timers.mock.calls.map(([, ms]) => ms)
    expect(asked).toHaveLength(4)
    for (const ms of asked) expect(ms).toBeGreaterThanOrEqual(1)
  })

  it('pauses for all requests of the isolate, whose work it adds up', async () => {
    let pauses = 0
    notePauses(() => pauses++)
    await Promise.all([scheduler.tick(SLICE / 2), scheduler.tick(SLICE / 2)])
    expect(pauses).toBe(1)
  })

  it('pauses whenever a slice has been read, whether of one long text or of many short ones', async () => {
    for (const texts of [['ab '.repeat(330_000)], Array.from({ length: 100 }, () => 'ab '.repeat(3_300))]) {
      const stretches = recorded()
      for (const text of texts) await scheduler.run(indexText(analyzer, plain(text)))
      expect(stretches.length).toBeGreaterThanOrEqual(Math.floor(990_000 / (SLICE + 2 * STEP)))
      expect(Math.max(...stretches)).toBeLessThan(SLICE + 2 * STEP)
    }
  })

  it('pauses while a result of 8 MB is measured, written once, and sent as structure and as text', async () => {
    const stretches = recorded()
    const metadata = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key_${i}`, 100_000 + i]))
    const entries = Array.from({ length: 100 }, (_, id) => ({
      entry: { id, images: [] },
      show: () => ({ id, metadata }),
    }))
    const { kept, omitted } = await fitting(entries)
    const bytes = kept.length * JSON.stringify(metadata).length
    expect(bytes).toBeGreaterThan(7_500_000)
    expect(kept.length + omitted.length).toBe(100)
    const structured = { results: kept.map(({ shown }) => shown) }
    const apart = createChunkedResult()
    const result = await toResult({ structured, blocks: [] }, apart.send)
    expect(JSON.stringify(result).length).toBeLessThan(200)
    const sent = await apart.fill(Response.json({ id: 1, result })).text()
    expect(stretches.length).toBeGreaterThan((4 * bytes) / JSON_UNITS / (2 * SLICE))
    expect(Math.max(...stretches)).toBeLessThan(2 * SLICE)
    const content = [{ type: 'text', text: JSON.stringify(structured) }]
    expect(sent).toBe(JSON.stringify({ id: 1, result: { structuredContent: structured, content } }))
  })

  it('sends what is large apart, wherever an answer is cut, and everything else as it is', async () => {
    const long = '\u{1f600}\n"'.repeat(60_000)
    const results: [Record<string, unknown>, string][] = [
      [{ long, large: 2 ** 60 }, `{"long":${JSON.stringify(long)},"large":${2n ** 60n}}`],
      [
        { few: ['\u{1f600}', undefined], none: undefined, empty: [{}, []] },
        '{"few":["\u{1f600}",null],"empty":[{},[]]}',
      ],
    ]
    for (const [structured, text] of results)
      for (const size of [1, 7, 1_000_000]) {
        const apart = createChunkedResult()
        const result = await toResult({ structured, blocks: [] }, apart.send)
        const bytes = new TextEncoder().encode(`\u{1f600}data: ${JSON.stringify(result)}\u{1f600}`)
        const { readable, writable } = new TransformStream()
        const writer = writable.getWriter()
        for (let at = 0; at < bytes.length; at += size) void writer.write(bytes.slice(at, at + size))
        void writer.close()
        const headers = { 'content-type': 'text/event-stream' }
        const sent = await apart.fill(new Response(readable, { headers })).text()
        const content = JSON.stringify([{ type: 'text', text }])
        expect(sent).toBe(`\u{1f600}data: {"structuredContent":${text},"content":${content}}\u{1f600}`)
      }
  })

  it('rests while a batch of texts of 0.95 MB is embedded', async () => {
    const stretches = recorded()
    const generate = createGenerate({
      embedder: createLocalEmbedder(analyzer, 32),
      summarizer: null,
      chunking: { size: 1500, overlap: 150 },
      onEmbeddingFailure: 'fail',
      minContentLength: 0,
    })
    const texts = Array.from({ length: 3 }, (_, i) => `${i} ${repeated('ab ', 0.95 * MEGABYTE)}`)
    await generate(texts.map((text) => ({ title: null, text, source: 'agent' })))
    expect(stretches.length).toBeGreaterThan((3 * 0.95 * MEGABYTE) / (SLICE + 2 * STEP))
    // Cutting a text into chunks, and packing its vectors, are one step each; neither reads words.
    expect(Math.max(...stretches)).toBeLessThanOrEqual(MEGABYTE + SLICE)
  })
})

describe('a volume of an export', () => {
  const told = (id: number, text: string): EntryRecord => ({
    ...{ record: 'entry', id, thread_id: 't', source: 'user', text, version: 1 },
    ...{ created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' },
  })
  const entries = [
    ...Array.from({ length: 300 }, (_, i) => told(i + 1, `${i} ${repeated('ab ', 8_000)}`)),
    ...Array.from({ length: 3 }, (_, i) => told(301 + i, `${i} ${repeated('ab ', 0.95 * MEGABYTE)}`)),
  ]
  const scope = freshPrincipal()
  const vectors = (entry: number): VectorRecord[] =>
    Array.from({ length: 5 }, (_, chunk) => ({
      ...{ record: 'vector', entry, model: 'm', chunk, start: 0, length: 1, data: `1:${'x'.repeat(1_000)}` },
    }))
  const store: ExportStore = {
    begin: async () => ({ store: 's', newest: 1, forgotten: 0 }),
    projects: async () => [],
    list: async (_scope, _selection, beyond) =>
      entries
        .filter(({ id }) => Number(id) > beyond)
        .map(({ id, text }) => ({ id: Number(id), what: 'entry', bytes: text.length })),
    changed: async () => ({ ids: [], last: null }),
    listChanged: async () => [],
    read: async (_scope, _selection, ids) => ({
      exported: ids.map((id) => ({ id, entry: entries[id - 1] as EntryRecord, versions: [], vectors: vectors(id) })),
      moreVersions: false,
    }),
    named: async () => ({ inside: new Map(), linkable: new Set() }),
    firstUses: async () => new Map(),
  }
  /** A scheduler that records the work between two pauses. */
  function noting() {
    const between: number[] = []
    let since = 0
    notePauses(() => {
      between.push(since)
      since = 0
    })
    const note = (bytes: number) => {
      since += bytes
    }
    return { between, note }
  }
  /** Bytes between two pauses: a slice, and the longest line. */
  const MOST = SLICE * VOLUME_UNITS + 1.1 * MEGABYTE

  async function exported(): Promise<{ bytes: Uint8Array; between: readonly number[] }> {
    const { between, note } = noting()
    const seal = { seal: async () => 'sealed', open: async () => null }
    const dependencies = { store, images: { get: async () => null }, clock: { now: () => 0 } }
    const exports = createExportOrg({ ...dependencies, cursors: async () => seal, places: async () => seal })
    const request = { project: null, after: null, history: false, vectors: true, images: false }
    const parts: Uint8Array[] = []
    for await (const part of exports.parts(scope, await exports.begin(scope, 'k', request), { limit: 1_000 }))
      if ('bytes' in part) {
        parts.push(part.bytes)
        note(part.bytes.length)
      }
    return { bytes: joined(parts), between }
  }
  async function* streamed(bytes: Uint8Array) {
    yield bytes
  }

  it('is written with a pause after each slice of bytes, of long entries and of short ones', async () => {
    const { bytes, between } = await exported()
    expect(bytes.length).toBeGreaterThan(6_000_000)
    expect(between.length).toBeGreaterThan(bytes.length / MOST)
    expect(Math.max(...between)).toBeLessThan(MOST)
  })

  it('is read, compressed and decompressed with as many pauses', async () => {
    const { bytes } = await exported()
    const least = Math.floor(bytes.length / MOST)
    const reading = noting()
    const { lines } = await readVolume(streamed(bytes))
    expect(lines).toHaveLength(303 * 6)
    expect(reading.between.length).toBeGreaterThan(least)
    const packing = noting()
    const gzip = await packed(bytes)
    expect(packing.between.length).toBe(Math.floor(Math.ceil(bytes.length / 65_536) / 3))
    expect(Buffer.compare(await unpacked(gzip), bytes)).toBe(0)
  })
})

describe('a page of recall', () => {
  it('is cut out of long contents with pauses, where a word that leads to none is the rarest', async () => {
    const stretches = recorded()
    const text = repeated('ab ', 0.95 * MEGABYTE)
    const ids = Array.from({ length: 8 }, (_, i) => i + 1)
    const { units } = parseQuery('zeppelin ab', 'match', analyzer)
    const ranking = {
      ...{ ids, units, nearest: new Map(), capped: false, degraded: false, warnings: [] },
      passes: () => true,
      layerOf: () => 2,
      described: async () => new Map(),
    }
    const { page } = createRecall({
      ...{ analyzer },
      rank: async () => ranking as never,
      memories: {
        shown: async () => ({ memories: ids.map((id) => ({ id, text }) as never), omitted: [] }),
        away: async () => new Set<number>(),
        count: async () => [],
      },
    })
    const { results } = await page(freshPrincipal(), { project: null, offset: 0, limit: 100 } as never, 8_000_000)
    expect(results.map(({ around }) => around)).toEqual(ids.map(() => 0))
    expect(stretches.length).toBeGreaterThan((8 * 0.95 * MEGABYTE) / (SLICE + 2 * STEP) - 1)
    expect(Math.max(...stretches)).toBeLessThan(SLICE + 2 * STEP)
  })
})

describe('the items of a batch', () => {
  it('put no more than 8 MB of metadata into one transaction', async () => {
    const writing = {
      entries: {} as never,
      images: {} as never,
      outbox: {} as never,
      limits: { each: 1, total: 1 },
      generate: {} as never,
    }
    const draft = { threadId: 't', source: 'user', text: 'm', metadata: { m: 'm'.repeat(250_000) } } as const
    const drafts = Array.from({ length: 33 }, () => ({ ok: true, value: draft }) as const)
    const stored = createStoreEntries({ ...writing })(freshPrincipal(), drafts, {
      atomic: true,
      dedupe: true,
    })
    await expect(stored).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('store them in several calls'),
    })
  })

  it('are checked with a pause after each long one', async () => {
    let rests = 0
    notePauses(() => rests++)
    const items = Array.from({ length: 4 }, () => ({ thread_id: 't', source: 'user', text: repeated('ab ', 950_000) }))
    const context = { services: {} } as unknown as ToolContext
    const outcomes = await readItems([...items, { thread_id: 't' }], storeArguments, ({ text }) => text.length, context)
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true, false])
    expect(rests).toBe(4)
  })
})

describe('unknown arguments', () => {
  it('are reported up to the length of a message, however many there are', () => {
    const given = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`${i} ${'k'.repeat(300)}`, i]))
    const parse = () => parseArguments(storeArguments, toJsonSchema(storeArguments, 'input'), given)
    const { message, details } = (() => {
      try {
        return parse()
      } catch (error) {
        return error as { message: string; details: unknown[] }
      }
    })() as { message: string; details: unknown[] }
    expect(message).toMatch(/Unknown argument "0 k+…", .* and 49980 more\. Allowed: /)
    expect([message.length < 10_000, details.length <= 100]).toEqual([true, true])
  })
})

describe('trees of source code', () => {
  const parts = async (text: string, most: number) => {
    const found: { nodes: number; from: number; end: number }[] = []
    for await (const { tree, from, end } of parseInParts(java, text, most)) {
      let nodes = 0
      tree.iterate({ enter: () => void nodes++ })
      found.push({ nodes, from, end })
    }
    return found
  }

  it('have no more nodes each than are built at once, of brackets without end too', async () => {
    const found = await parts('()'.repeat(20_000), 1_000)
    expect(found.length).toBeLessThanOrEqual(8)
    expect(Math.max(...found.map(({ nodes }) => nodes))).toBeLessThan(1_300)
  })

  it('cover a program that has more, and begin where declarations begin', async () => {
    const declared = (i: number) => `class Some${i} { int one() { return ${i}; } }\n`
    const text = Array.from({ length: 100 }, (_, i) => declared(i)).join('')
    const found = await parts(text, 700)
    expect(found.length).toBeGreaterThan(1)
    let at = 0
    for (const { from, end } of found) {
      expect([from, text.slice(from, from + 10)]).toEqual([at, expect.stringMatching(/^class Some/)])
      at = from + end
    }
    expect(text.slice(at).trim()).toBe('')
    expect(found.at(-1)?.nodes).toBeLessThan(900)
  })
})

describe('other readers of long text', () => {
  it('remove a suffix by checking only the end', () => {
    expect(withoutTrailing(`${'='.repeat(MEGABYTE)}x`, '=')).toHaveLength(MEGABYTE + 1)
    expect(withoutTrailing(`x${'*'.repeat(MEGABYTE)}`, '*')).toBe('x')
    expect(detectImageType(new Uint8Array())).toBeNull()
  })

  it('keep a megabyte that repeats out of a message that repeats', () => {
    const message = `bad: ${'a'.repeat(20_000)}`
    expect(
      withoutEchoes(message, { text: 'a'.repeat(MEGABYTE), tags: Array.from({ length: 50_000 }, () => 'aaaa') }),
    ).toBe('bad: …')
  })
})
