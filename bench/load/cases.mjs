// The measured calls. A probe finds the same number of entries in a table of any size, so any additional cost
// in a larger table is growth that the filter should have prevented; the others find more in a larger table.
import { random } from '../support/numbers.mjs'
import { COMMON_TAG, commonWords, entryAt, PHRASE, PROBE, PROBE_MATCHES, probeOf } from './corpus.mjs'

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} tool
 * @property {(n: number) => Record<string, unknown>} args of the n-th call
 * @property {number} [share] of the usual number of calls
 * @property {boolean} [writes] adds to the table
 * @property {(content: any) => number | null} [matches] returns how many entries the call found in all; null if it does not report that
 * @property {number} [expected] how many it must find
 *
 * @typedef {object} Loaded the result of the load
 * @property {number} size
 * @property {readonly number[]} ids
 * @property {string} from when the batch was stored that has its seconds to itself
 * @property {string} to
 */

const total = ({ total, total_is_exact: isExact = true }) => (isExact ? total : null)

/** @param {Loaded} loaded @returns {Case[]} */
function browsing({ from, to }) {
  const page = (name, filter, more = {}) => ({
    name: `search_context, ${name}`,
    tool: 'search_context',
    args: () => filter,
    matches: total,
    ...more,
  })
  const probe = { expected: PROBE_MATCHES }
  return [
    page('newest page', {}),
    page('thread', { thread_id: PROBE.thread }, probe),
    page('tag', { tags: [PROBE.tag] }, probe),
    page('status + priority', { metadata: { status: PROBE.status, priority: PROBE.priority } }, probe),
    page('date range', { start_date: from, end_date: to }, probe),
    page('status, since long ago', { metadata: { status: PROBE.status }, start_date: '2020-01-01' }, probe),
    page('with images (none)', { content_type: 'multimodal' }, { expected: 0 }),
    page('metadata without index', { metadata: { ticket: PROBE.ticket } }, probe),
    page('common tag', { tags: [COMMON_TAG] }),
    page('common status + priority', { metadata: { status: 'done', priority: 3 } }),
  ]
}

/** @returns {Case[]} */
function searching() {
  const search = (name, args, more = {}) => ({
    name: `fts_search_context, ${name}`,
    tool: 'fts_search_context',
    args: (n) => ({ limit: 10, ...args(n) }),
    matches: total,
    ...more,
  })
  const [rare] = PROBE.words
  const boolean = (n, first) => {
    const [a, b, c] = commonWords(n, 3)
    return `${first ?? a} AND (${b} OR ${c}) NOT ${commonWords(n + 1000, 1)[0]}`
  }
  return [
    search('match, rare words', () => ({ query: PROBE.words.join(' ') }), { expected: PROBE_MATCHES }),
    search('match, 3 common words', (n) => ({ query: commonWords(n, 3).join(' ') })),
    search('match, common words in thread', (n) => ({ query: commonWords(n, 3).join(' '), thread_id: PROBE.thread })),
    search('phrase', () => ({ query: PHRASE, mode: 'phrase' }), { expected: PROBE_MATCHES }),
    search('boolean, rare word', (n) => ({ query: boolean(n, rare), mode: 'boolean' })),
    search('boolean, common words', (n) => ({ query: boolean(n), mode: 'boolean' })),
  ]
}

/** By meaning, and by both. @returns {Case[]} */
function ranking() {
  return ['semantic_search_context', 'hybrid_search_context'].flatMap((tool) => [
    {
      name: `${tool}, 8 words`,
      tool,
      args: (n) => ({ query: commonWords(n, 8).join(' '), limit: 10 }),
      matches: total,
    },
    {
      name: `${tool}, 8 words in thread`,
      tool,
      args: (n) => ({ query: commonWords(n, 8).join(' '), limit: 10, thread_id: PROBE.thread }),
      matches: total,
    },
  ])
}

/** @param {Loaded} loaded @returns {Case[]} */
function reading({ ids }) {
  const twenty = (n) => {
    const next = random(n + 1)
    return [...new Set(Array.from({ length: 40 }, () => ids[Math.floor(next() * ids.length)]))].slice(0, 20)
  }
  return [
    { name: 'get_context_by_ids, 20', tool: 'get_context_by_ids', args: (n) => ({ context_ids: twenty(n) }) },
    { name: 'list_threads', tool: 'list_threads', args: () => ({}), matches: total },
    { name: 'get_statistics', tool: 'get_statistics', args: () => ({}) },
  ]
}

/** @param {Loaded} loaded @returns {Case[]} */
function writing({ size, ids }) {
  let at = size
  const plain = ids.filter((_, index) => probeOf(index, size) === null)
  const update = (name, change) => ({
    name: `update_context, ${name}`,
    tool: 'update_context',
    args: (n) => ({ context_id: plain[(n * 7919) % plain.length], ...change(n) }),
    writes: true,
  })
  return [
    { name: 'store_context', tool: 'store_context', args: () => entryAt(at++, size), writes: true },
    {
      name: 'store_context_batch, 100',
      tool: 'store_context_batch',
      args: () => ({ entries: Array.from({ length: 100 }, () => entryAt(at++, size)) }),
      share: 0.2,
      writes: true,
    },
    update('text', () => ({ text: entryAt(at++, size).text })),
    update('metadata_patch', (n) => ({ metadata_patch: { checked: n } })),
    // Deleted entries leave the list, so that no update uses them.
    {
      name: 'delete_context, 1 id',
      tool: 'delete_context',
      args: () => ({ context_ids: [plain.pop()] }),
      share: 0.5,
      writes: true,
    },
  ]
}

/**
 * @param {Loaded} loaded
 * @param {readonly string[]} tools that the server has
 */
export const casesFor = (loaded, tools) =>
  [...browsing(loaded), ...searching(), ...ranking(), ...reading(loaded), ...writing(loaded)].filter(({ tool }) =>
    tools.includes(tool),
  )
