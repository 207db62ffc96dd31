// Entries with metadata as large as they may be, and filters that ask much of them; for hostile-text.mjs.

/** Entries of each sort. */
const LARGE = 100
/** Entries of middling size. */
const MEDIUM = 2_000

/**
 * Calls that store one array, one string and very many keys, and some of 8 KB.
 *
 * @returns {Generator<[string, Record<string, unknown>]>}
 */
export function* metadataWorld() {
  const sorts = {
    array: { a: Array.from({ length: 40_000 }, (_, i) => 10_000 + i) },
    string: { s: 'a'.repeat(240_000) },
    keys: Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, i])),
  }
  for (const [sort, metadata] of Object.entries(sorts))
    for (let i = 0; i < LARGE; i++)
      yield ['store_context', { thread_id: sort, source: 'agent', text: `common ${sort} ${i}`, metadata }]
  const metadata = { s: 'a'.repeat(3000), l: Array.from({ length: 900 }, (_, i) => 1000 + i) }
  const one = (i) => ({ thread_id: 'medium', source: 'agent', text: `common ${i}`, metadata })
  for (let i = 0; i < MEDIUM; i += 100)
    yield ['store_context_batch', { entries: Array.from({ length: 100 }, (_, k) => one(i + k)) }]
}

/**
 * Expensive filters on metadata, for entries of `metadataWorld`.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
export function* amongMetadata() {
  const hundred = (filter) => Array.from({ length: 100 }, (_, i) => filter(i))
  const filters = {
    'an equal value': [{ key: 's', value: 'y' }],
    'an element': [{ key: 'a', operator: 'array_contains', value: -1 }],
    '100 elements': hundred((i) => ({ key: 'a', operator: 'array_contains', value: 49_999 - i })),
    'an element of middling arrays': [{ key: 'l', operator: 'array_contains', value: 5 }],
    '100 keys': hundred((i) => ({ key: `k${14_999 - i}`, operator: 'gte', value: 0 })),
    '100 missing keys': hundred((i) => ({ key: `x${i}`, operator: 'not_exists' })),
    '100 parts of a string': hundred((i) => ({ key: 's', operator: 'contains', value: 'a'.repeat(5 + (i % 15)) })),
    'a part of 100,000 letters': [{ key: 's', operator: 'contains', value: `${'a'.repeat(100_000)}b` }],
    '100 lists of 100': hundred((i) => ({ key: 'k1', operator: 'not_in', value: hundred((j) => -i * 100 - j) })),
  }
  for (const [name, metadata_filters] of Object.entries(filters)) {
    yield [`a page by ${name}`, () => ['search_context', { metadata_filters, limit: 1 }]]
    yield [`words under ${name}`, () => ['fts_search_context', { query: 'common', metadata_filters, limit: 1 }]]
  }
  const whole = { limit: 100, thread_id: 'keys' }
  yield ['a page of 8 MB of many keys', () => ['search_context', whole]]
  yield ['words, 8 MB of many keys', () => ['fts_search_context', { query: 'common', ...whole }]]
  yield ['a recall of 8 MB of many keys', () => ['context_recall', { query: 'common keys', limit: 100 }]]
  const keys = filters['100 keys']
  for (const tool of ['semantic_search_context', 'hybrid_search_context'])
    yield [`${tool} under 100 keys`, () => [tool, { query: 'common', metadata_filters: keys, limit: 1 }]]
  yield ['grep under 100 keys', () => ['grep_context', { pattern: 'common', metadata_filters: keys }]]
}
