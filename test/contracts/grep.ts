import fc from 'fast-check'
import { expect, it } from 'vitest'
import { literalPattern, narrowingOf } from '../../src/domain/reading/literal'
import { expressionLibrary, expressionPattern } from '../../src/domain/reading/regular-expression'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { EntryTexts } from '../../src/ports/entry-texts'
import { createGrepTexts } from '../../src/services/searching/texts/grep-texts'
import { literals, plainScan, regexes, texts, type Wanted } from '../support/grep-model'
import { entryOf, freshPrincipal } from '../support/scope'

await expressionLibrary.load()

/** A plain scan of all texts is what a search through texts means; every database must agree with it, page by page. */
const SEED = Number(process.env.GREP_SEED ?? 20261121)
const ENTRIES = 24
const SEARCHES = 20

/** @param rounds of random texts, with 20 searches each */
export const grepMeans = (name: string, make: () => { entries: EntryStore; texts: EntryTexts }, rounds = 1): void =>
  it(`finds in ${name} what a plain scan finds, page by page, while others write`, async () => {
    const { entries, texts: reader } = make()
    const grep = createGrepTexts({ texts: reader })
    const wanted: fc.Arbitrary<Wanted> = fc.oneof(
      fc.record({ literal: literals, caseSensitive: fc.boolean() }),
      fc.record({ regex: regexes, caseSensitive: fc.boolean() }),
    )
    const limits = fc.record({
      maxMatches: fc.integer({ min: 1, max: 6 }),
      maxEntries: fc.integer({ min: 1, max: 20 }),
    })
    for (let round = 0; round < rounds; round++) {
      const ada = freshPrincipal()
      const drafts = fc.sample(texts, { seed: SEED + round, numRuns: ENTRIES }).map((text, i) => `${i} ${text}`)
      const saved = await entries.save(ada, await Promise.all(drafts.map((text) => entryOf(ada, { text }))))
      const stored = await entries.read(
        ada,
        saved.map(({ id }) => id),
      )
      stored.sort((a, b) => b.id - a.id)
      const newest = stored[0]?.id as number
      const searches = fc.tuple(wanted, limits)
      for (const [i, [one, limit]] of fc.sample(searches, { seed: SEED - round, numRuns: SEARCHES }).entries()) {
        const label = `seed ${SEED} round ${round} search ${i}: ${JSON.stringify(one)} ${JSON.stringify(limit)}`
        const expected = stored.flatMap(({ id, text }) => plainScan(text, one).map((found) => [id, ...found]))
        const { caseSensitive } = one
        const told: number[][] = []
        let beforeId: number | null = newest + 1
        let [scanned, total] = [0, 0]
        while (beforeId !== null) {
          const page = await grep(ada, {
            pattern:
              'literal' in one
                ? literalPattern(one.literal, caseSensitive)
                : expressionPattern(one.regex, caseSensitive),
            narrowing: 'literal' in one ? narrowingOf(one.literal, caseSensitive) : null,
            filter: EVERYTHING,
            ids: null,
            beforeId,
            context: 0,
            ...limit,
          })
          for (const { id, lines } of page.entries)
            told.push(...lines.map(({ number, matchStart, matchEnd }) => [id, number, matchStart, matchEnd]))
          scanned += page.scanned
          total += page.totalMatches
          expect(page.scanned).toBeLessThanOrEqual(limit.maxEntries)
          beforeId = page.nextBeforeId
          if (beforeId !== null && i % 8 === 0)
            await entries.save(ada, [await entryOf(ada, { text: `a b k ${i} ${beforeId}` })])
        }
        expect([label, told]).toEqual([label, expected])
        expect([label, scanned, total]).toEqual([label, ENTRIES, expected.length])
      }
    }
  })
