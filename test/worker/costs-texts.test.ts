import { beforeAll, describe, expect, it } from 'vitest'
import { literalPattern, narrowingOf } from '../../src/domain/reading/literal'
import { expressionLibrary, expressionPattern } from '../../src/domain/reading/regular-expression'
import { EVERYTHING } from '../../src/domain/search/filter'
import { createGrepTexts, type GrepRequest } from '../../src/services/searching/texts/grep-texts'
import { createReadTexts } from '../../src/services/searching/texts/read-texts'
import { pageInPartsCases } from '../contracts/page-in-parts'
import { searchBoundCases } from '../contracts/search-bound'
import { bindings, type Costs, d1Adapters, migrate, resetCosts } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

await expressionLibrary.load()

/** D1 costs of finding a line and reading a part: round trips, rows, characters. */
const made = d1Adapters(new TestClock(Date.now()))
const ada = freshPrincipal()

async function grow(org: string, from: number, to: number): Promise<void> {
  await bindings.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes, text_words, text)
     SELECT ?3, 'thread ' || (i % 50), 'user', 2, 1000 * i, 1, 'ada', 'key-1', ?3 || i, 100, 10,
       'filler text number ' || i || CASE WHEN i % 500 = 7 THEN ' E_QUOTA(17)' ELSE '' END FROM n`,
  )
    .bind(from, to - 1, org)
    .run()
}

async function cost(call: () => Promise<unknown>): Promise<Costs> {
  resetCosts(made.costs)
  await call()
  return { ...made.costs }
}

const grep = createGrepTexts({ texts: made.texts })
const literal = (wanted: string, maxEntries = 1000): GrepRequest => ({
  pattern: literalPattern(wanted, false),
  narrowing: narrowingOf(wanted, false),
  filter: EVERYTHING,
  ids: null,
  beforeId: null,
  context: 0,
  maxMatches: 100,
  maxEntries,
})
const search = (wanted: string, isRegex = false) =>
  grep(
    ada,
    isRegex ? { ...literal(wanted), pattern: expressionPattern(wanted, false), narrowing: null } : literal(wanted),
  )

describe('what long texts cost in D1', () => {
  let small: Costs
  beforeAll(async () => {
    await migrate()
    await grow(ada.org, 0, 1000)
    await grow('another org', 0, 1000)
    small = await cost(() => search('E_QUOTA'))
    await grow(ada.org, 1000, 10_000)
    await grow('another org', 1000, 10_000)
  })

  it('looks through as many rows for 1,000 entries in an org of 10,000 as in one of 1,000, in one round trip', async () => {
    expect((await search('E_QUOTA')).totalMatches).toBe(2)
    const literal = await cost(() => search('E_QUOTA'))
    expect(literal.roundTrips).toBe(1)
    expect(literal.rowsRead).toBeLessThanOrEqual(small.rowsRead + 100)
    expect(literal.rowsRead).toBeLessThan(1000 * 10)
    const expression = await cost(() => search('E_QUOTA\\(\\d+\\)', true))
    expect(expression.roundTrips).toBe(1)
    expect(expression.rowsRead).toBeLessThan(1000 * 16)
  })

  it('returns of 10,000 entries only the texts with the literal, in one round trip', async () => {
    let characters = 0
    const texts: typeof made.texts = {
      ...made.texts,
      async scan(...args) {
        const scan = await made.texts.scan(...args)
        for (const { text } of scan.candidates) characters += text?.length ?? 0
        return scan
      },
    }
    const { roundTrips, rowsRead } = await cost(async () => {
      const found = await createGrepTexts({ texts })(ada, literal('E_QUOTA', 10_000))
      expect([found.totalMatches, found.scanned]).toEqual([20, 10_000])
    })
    expect([roundTrips, characters < 20 * 40]).toEqual([1, true])
    expect(rowsRead).toBeLessThan(10_000 * 10)
  })

  it('[THREADS-168] reads about 16 MB of text a call, reports that more follows, and continues after them', async () => {
    const bob = freshPrincipal()
    await bindings.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
       INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes, text_words, text)
       SELECT ?1, 'long', 'user', 2, 1000 * i, 1, 'ada', 'key-1', 'h' || i, 950000, 10,
         'a needle ' || replace(hex(zeroblob(4750)), '00', 'word ' || hex(zeroblob(47)) || char(10)) FROM n`,
    )
      .bind(bob.org)
      .run()
    const found: number[] = []
    const pages: number[] = []
    for (let beforeId: number | null = Number.MAX_SAFE_INTEGER; beforeId !== null; ) {
      const pattern = expressionPattern('a [m-o]eedle', false)
      const page = await grep(bob, { ...literal('', 1000), pattern, narrowing: null, beforeId })
      found.push(...page.entries.map(({ id }) => id))
      pages.push(page.scanned)
      beforeId = page.nextBeforeId
    }
    expect([found.length, new Set(found).size, pages.reduce((a, b) => a + b)]).toEqual([20, 20, 20])
    expect(pages.map((scanned) => scanned <= 17)).toEqual([true, true])
  })

  it('reads a line of a megabyte in one round trip, a few hundred marks and some ten thousand characters', async () => {
    const bob = freshPrincipal()
    const lines = Array.from({ length: 12_000 }, (_, i) => `line ${i + 1} ${'word '.repeat(14)}`)
    const [saved] = await made.entries.save(bob, [await entryOf(bob, { text: lines.join('\n').trim() })])
    const id = saved?.id as number
    let characters = 0
    const texts: typeof made.texts = {
      ...made.texts,
      async measure(...args) {
        const measure = await made.texts.measure(...args)
        characters += (measure?.text ?? measure?.range?.text ?? '').length
        return measure
      },
    }
    const read = createReadTexts({ texts, entries: made.entries })
    for (const part of [
      { by: 'lines', first: 11_000, last: 11_000 },
      { by: 'chars', start: 900_000, end: 900_010 },
    ] as const) {
      characters = 0
      // Marks are rows of a list: one for 8,192 characters, counted up to either end.
      const { roundTrips, rowsRead } = await cost(() => read.range(bob, id, part))
      expect([part.by, roundTrips, rowsRead <= 300, characters <= 17_000]).toEqual([part.by, 1, true, true])
    }
    expect((await read.range(bob, id, { by: 'lines', first: 11_000, last: 11_000 })).text).toBe(lines[10_999])
  })
})

describe('a search by words in D1', () => {
  beforeAll(migrate)

  const make = () => {
    const clock = new TestClock()
    return { ...d1Adapters(clock), clock }
  }
  // Among twice as many, and every page under every filter: test/nightly.
  searchBoundCases(make, 640)
  pageInPartsCases(make, false)
})
