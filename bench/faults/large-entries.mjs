// Calls for `hostile-text.mjs` on a store whose entries have a megabyte each.

/** Entries of a few words in the same store. */
export const SHORT = 10_000

/**
 * Searches whose candidates are entries of a megabyte each.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
export function* amongMany() {
  const all = { limit: 100, thread_id: 'many' }
  const query = 'deployment workers dashboards'
  yield ['words', () => ['fts_search_context', { query, ...all }]]
  yield ['words, highlights of all', () => ['fts_search_context', { query, highlight: true, ...all }]]
  yield ['phrase', () => ['fts_search_context', { query: 'connection pool was exhausted', mode: 'phrase', ...all }]]
  yield ['beginnings', () => ['fts_search_context', { query: 'w d', mode: 'prefix', ...all }]]
  yield [
    'boolean',
    () => ['fts_search_context', { query: 'deployment AND (workers OR NOT dashboards)', mode: 'boolean', ...all }],
  ]
  yield ['recall', () => ['context_recall', { query }]]
  yield ['what matters now', () => ['context_getCurrent', {}]]
  yield ['a pack', () => ['context', { goal: query }]]
  yield ['meaning', () => ['semantic_search_context', { query, ...all }]]
  yield ['words and meaning', () => ['hybrid_search_context', { query, ...all }]]
  yield ['grep', () => ['grep_context', { pattern: 'exhausted, as', thread_id: 'many', max_matches: 1000 }]]
  yield [
    'grep by an expression',
    () => ['grep_context', { pattern: 'exh.{2}sted, [a-z]+', is_regex: true, thread_id: 'many' }],
  ]
  yield ['a page', () => ['search_context', all]]
  yield ['threads', () => ['list_threads', {}]]
  yield ['statistics', () => ['get_statistics', {}]]
  yield [
    'eight of them whole',
    () => ['get_context_by_ids', { context_ids: Array.from({ length: 100 }, (_, i) => i + 1) }],
  ]
  yield ['words and meaning, everywhere', () => ['hybrid_search_context', { query, limit: 100 }]]
}

/**
 * Calls that change many entries at once: the entries of a megabyte, and short ones.
 *
 * @param {number} many entries of a megabyte in the thread `many`
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
export function* changes(many, first) {
  const ids = Array.from({ length: Math.min(many, 100) }, (_, i) => first + i)
  const updates = ids.map((context_id) => ({ context_id, metadata: { title: `title ${context_id}` } }))
  yield [`an update of the metadata of ${ids.length} entries of 1 MB`, () => ['update_context_batch', { updates }]]
  const part = ids.slice(0, 20)
  yield [`a delete of ${part.length} entries of 1 MB`, () => ['delete_context', { context_ids: part }]]
  yield [`the same undone`, () => ['restore_context', { context_ids: part }]]
  yield [`a delete of a thread of ${many} entries of 1 MB`, () => ['delete_context', { thread_id: 'many' }]]
  yield [`a delete of a thread of ${SHORT} short entries`, () => ['delete_context', { thread_id: 'short' }]]
}
