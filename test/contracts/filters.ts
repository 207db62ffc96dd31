import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlLargeMetadata } from '../../src/adapters/sql/stores/entries/large-metadata'
import type { Layer } from '../../src/domain/entry/entry'
import type { JsonValue, Metadata } from '../../src/domain/entry/metadata'
import type { Scope } from '../../src/domain/identity/scope'
import type { Filter, MetadataPath, Scalar } from '../../src/domain/search/filter'
import { and, matches, not } from '../../src/domain/search/filter'
import { LARGE as BYTES } from '../../src/domain/search/filter-weight'
import { WITHOUT_REST } from '../../src/domain/yielder'
import type { EntryStore } from '../../src/ports/entry-store'
import { createSettled } from '../../src/services/searching/ranked/settle-filter'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** `matches()` is what a filter means; every database must agree with it, on random entries and random filters. */
const SEED = Number(process.env.FILTER_SEED ?? 20261120)
/** Each of random entries of its own; the nightly tier plays more. */
const ROUNDS = 1
const ENTRIES = 60
const FILTERS = 120

const texts = fc.constantFrom(
  '',
  'a',
  'A',
  'ab',
  'aB',
  'é',
  'É',
  'ß',
  'done',
  'DONE',
  '5',
  'true',
  'null',
  '%',
  '_',
  '*',
  '[',
  '🌍',
  'z🌍',
  '\uffee',
  "o'x",
  '"',
  '\\',
  'x\ny',
)
/** Around the ends of 2^53 and of 64 bits, and beyond what SQLite holds as an integer. */
const LARGE = [53, 60, 63, 64, 70, 1000].flatMap((power) => [
  2 ** power,
  -(2 ** power),
  2 ** power + 2 ** (power - 52),
  2 ** power - 2 ** (power - 53),
])
const numbers = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    5,
    5.5,
    -1,
    0.1,
    0.2,
    0.30000000000000004,
    1e-7,
    5e-324,
    2 ** 53 - 1,
    -(2 ** 53 - 1),
    123456789.123,
    ...LARGE,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const scalars: fc.Arbitrary<Scalar> = fc.oneof(texts, numbers, fc.boolean())
const keys = fc.constantFrom('a', 'b', 'status', 'priority', '__proto__', 'constructor', '0', 'a-b')
const values: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    texts,
    numbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.oneof(scalars, fc.constant(null)), { maxLength: 4 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
  ),
})).value
const metadatas: fc.Arbitrary<Metadata | undefined> = fc.option(fc.dictionary(keys, values, { maxKeys: 5 }), {
  nil: undefined,
})
const paths: fc.Arbitrary<MetadataPath> = fc.array(keys, { minLength: 1, maxLength: 2 })
const fold = fc.boolean()

const leaves: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ op: fc.constant('thread' as const), is: fc.constantFrom('t1', 't2', 'T1') }),
  fc.record({ op: fc.constant('source' as const), is: fc.constantFrom('user' as const, 'agent' as const) }),
  fc.record({ op: fc.constant('contentType' as const), is: fc.constantFrom('text' as const, 'multimodal' as const) }),
  fc.record({ op: fc.constant('tag' as const), anyOf: fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }) }),
  fc.record({
    op: fc.constant('created' as const),
    from: fc.option(fc.integer({ min: 1_700_000_000, max: 1_700_000_100 })),
    to: fc.option(fc.integer({ min: 1_700_000_000, max: 1_700_000_100 })),
  }),
  fc.record({ op: fc.constant('kind' as const), anyOf: fc.subarray(['note', 'episode', 'decision'] as const) }),
  fc.record({ op: fc.constant('layer' as const), anyOf: fc.subarray([1, 2, 3] as const) }),
  fc.record({ op: fc.constantFrom('project' as const, 'projectScope' as const), is: fc.constantFrom('p', 'q', 'P') }),
  fc.record({ op: fc.constantFrom('present' as const, 'null' as const), path: paths }),
  fc.record({
    op: fc.constant('type' as const),
    path: paths,
    is: fc.constantFrom('string' as const, 'number' as const, 'boolean' as const),
  }),
  fc.record({ op: fc.constant('equals' as const), path: paths, anyOf: fc.array(scalars, { maxLength: 4 }), fold }),
  fc.record({
    op: fc.constant('compare' as const),
    path: paths,
    by: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
    value: fc.oneof(texts, numbers),
  }),
  fc.record({
    op: fc.constant('substring' as const),
    path: paths,
    at: fc.constantFrom('anywhere' as const, 'start' as const, 'end' as const),
    value: texts,
    fold,
  }),
  fc.record({
    op: fc.constant('elements' as const),
    path: paths,
    allOf: fc.array(scalars, { minLength: 1, maxLength: 3 }),
    fold,
  }),
)

const filters: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    leaves,
    leaves,
    fc.record({ op: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ op: fc.constant('not' as const), of: tie('filter') }),
  ),
})).filter

/** Sizes of metadata around the limit from which an entry is checked separately. */
const padding = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(BYTES - 100, BYTES + 100, 3_000, 8 * BYTES + 100) },
)
/** Holds of every entry, and is too much for a database to ask of large metadata. */
const HEAVY = not({ op: 'substring', path: ['pad'], at: 'anywhere', value: 'b'.repeat(5_000), fold: false })

/** Runs random filters against a store: every third as it is, every third in a search, every third together with an expensive one. */
export const filtersMean = (
  name: string,
  make: (clock: TestClock) => { readonly entries: EntryStore; readonly connection: SqlConnection },
  rounds = ROUNDS,
): void =>
  it(`finds in ${name} exactly what matches() admits, for ${rounds * FILTERS} random filters`, async () => {
    const clock = new TestClock()
    const { entries: store, connection } = make(clock)
    const large = createSqlLargeMetadata(connection, clock)
    const page = (scope: Scope, { filter }: { readonly filter: Filter }) => store.page(scope, filter, PAGE)
    const search = createSettled({ large, yielder: WITHOUT_REST })(page)
    const drafts = fc.record({
      threadId: fc.constantFrom('t1', 't2', 'T1'),
      source: fc.constantFrom('user' as const, 'agent' as const),
      metadata: metadatas,
      tags: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
      second: fc.integer({ min: 1_700_000_000, max: 1_700_000_100 }),
      project: fc.constantFrom('p', 'q', null),
      layer: fc.constantFrom(2, 3),
      pad: padding,
    })
    for (let round = 0; round < rounds; round++) {
      const ada = freshPrincipal()
      for (const { second, project, layer, pad, ...draft } of fc.sample(drafts, {
        seed: SEED + round,
        numRuns: ENTRIES,
      })) {
        clock.ms = second * 1000
        // Reserved keys would lift these entries out of view; here they are plain values.
        const { status, ...metadata } = draft.metadata ?? {}
        await store.save(ada, [
          await entryOf(ada, {
            ...draft,
            metadata: draft.metadata && {
              ...metadata,
              ...(status === undefined ? {} : { status }),
              ...(project === null ? {} : { project }),
              ...(pad === 0 ? {} : { pad: 'a'.repeat(pad) }),
            },
            memory: { layer: layer as Layer, life: { pinned: false, lasts: null } },
          }),
        ])
      }
      const all = await store.read(
        ada,
        (await store.page(ada, { op: 'and', of: [] }, PAGE)).entries.map(({ id }) => id),
      )
      expect(all).toHaveLength(ENTRIES)
      for (const [i, filter] of fc.sample(filters, { seed: SEED - round, numRuns: FILTERS }).entries()) {
        const expected = all.filter((entry) => matches(filter, entry)).map(({ id }) => id)
        const asked = i % 3 === 2 ? and([HEAVY, filter]) : filter
        const { entries, total } = await (i % 3 === 0 ? page : search)(ada, { filter: asked })
        const found = entries.map(({ id }) => id)
        const label = `seed ${SEED} round ${round} filter ${i}: ${JSON.stringify(filter)}`
        expect([label, found.sort((a, b) => a - b)]).toEqual([label, expected.sort((a, b) => a - b)])
        expect([label, total]).toEqual([label, expected.length])
      }
    }
  })

const PAGE = { limit: 100, offset: 0, previewLength: 1 }
