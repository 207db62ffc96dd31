// The calls that are timed in a large store, and the equivalent FTS5 expressions.
import { stem } from 'porter2'
import { commonWords, entryAt, projectOf, rareWord, textAt } from '../rows/corpus.mjs'

const PRIORITIES = 10
const TICKETS = 1000

/** An entry of 45 common words with two tags, an indexed status and priority, and a key without an index. */
export function largeEntryAt(i, size) {
  const entry = entryAt(i, size)
  return { ...entry, metadata: { ...entry.metadata, priority: (i * 7) % PRIORITIES, ticket: `T-${i % TICKETS}` } }
}

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} tool
 * @property {(n: number) => Record<string, unknown>} args
 * @property {boolean} [writes]
 * @property {(n: number) => string} [match] the same query as an expression of FTS5, whose own order is timed too
 */

/** Position of the nth entry that is changed or deleted. @param {number} n @param {number} size */
export const takenAt = (n, size) => (n * 3_737) % size

/** Maximum number of entries that one run stores, changes or deletes. */
const A_RUN = 1_000

/**
 * @param {number} size
 * @param {readonly number[]} ids
 * @param {number} [run] how many runs the store has seen, so that each stores what is new and changes what is still there
 * @returns {Case[]}
 */
export function casesFor(size, ids, run = 0) {
  let at = size + run * A_RUN
  let taken = run * A_RUN
  const take = () => ids[takenAt(++taken, ids.length)]
  const page = (name, args) => ({ name: `search_context, ${name}`, tool: 'search_context', args })
  const status = (n) => ['todo', 'doing', 'done'][n % 3]
  const words = (count) => (n) => ({ query: commonWords(n, count), limit: 10 })
  const quoted = (n, count) =>
    commonWords(n, count)
      .split(' ')
      .map((word) => `"${stem(word)}"`)
  const call = (tool, name, args, more = {}) => ({ name: `${tool}, ${name}`, tool, args, ...more })
  const writes = { writes: true }
  return [
    page('newest', () => ({})),
    page('a thread', (n) => ({ thread_id: `thread ${n}` })),
    page('a tag of 1 in 7', (n) => ({ tags: [`area-${n % 7}`] })),
    page('status', (n) => ({ metadata: { status: status(n) } })),
    page('status and priority', (n) => ({ metadata: { status: status(n), priority: n % PRIORITIES } })),
    page('operators', (n) => ({
      metadata_filters: [
        { key: 'priority', operator: 'gte', value: 5 },
        { key: 'status', operator: 'in', value: [status(n), status(n + 1)] },
      ],
    })),
    page('a key without an index', (n) => ({ metadata: { ticket: `T-${n % TICKETS}` } })),
    call('fts_search_context', 'two common words', words(2), { match: (n) => quoted(n, 2).join(' OR ') }),
    call('fts_search_context', 'three common words', words(3), { match: (n) => quoted(n, 3).join(' OR ') }),
    call('fts_search_context', 'five common words', words(5), { match: (n) => quoted(n, 5).join(' OR ') }),
    call('fts_search_context', 'eight common words', words(8), { match: (n) => quoted(n, 8).join(' OR ') }),
    call('fts_search_context', 'a phrase of two', (n) => ({ ...words(2)(n), mode: 'phrase' }), {
      match: (n) => quoted(n, 2).join(' + '),
    }),
    call('fts_search_context', 'a rare word', (n) => ({ query: rareWord(n, size), limit: 10 }), {
      match: (n) => `"${stem(rareWord(n, size))}"`,
    }),
    call('semantic_search_context', 'two common words', words(2)),
    call('hybrid_search_context', 'two common words', words(2)),
    call('context_recall', 'in a project', (n) => ({
      query: `${commonWords(n, 2)} ${rareWord(n, size)}`,
      filter: { projectPath: projectOf(n) },
    })),
    call('context', 'three common words', (n) => ({ goal: commonWords(n, 3) })),
    call('context', 'eight common words', (n) => ({ goal: commonWords(n, 8) })),
    call('context', 'wake', (n) => ({ goal: commonWords(n, 3), layer: 'wake', project: projectOf(n) })),
    call('context_getCurrent', 'of a project', (n) => ({ projectPath: projectOf(n), sessionId: 's' })),
    call('get_context_by_ids', 'twenty', (n) => ({
      context_ids: Array.from({ length: 20 }, (_, i) => ids[(n * 1_009 + i * 37) % ids.length]),
    })),
    call('list_threads', 'first page', () => ({})),
    call('get_statistics', 'of the org', () => ({})),
    call('list_changes', 'a first cursor', () => ({})),
    call('store_context', 'two tags and two indexed keys', () => largeEntryAt(at++, size), writes),
    call('update_context', 'text', () => ({ context_id: take(), text: textAt(at++, size) }), writes),
    call('update_context', 'metadata_patch', () => ({ context_id: take(), metadata_patch: { checked: at++ } }), writes),
    call('delete_context', 'one', () => ({ context_ids: [take()] }), writes),
  ]
}
