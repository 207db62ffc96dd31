// Calls other than searches in a store of many short entries: resources, prompts, completions, routes, writes.

const goal = 'short note number about the deployment'
const PAGE = 100

/**
 * Each a name and a call.
 *
 * @param {import('../support/mcp.mjs').Client} client
 * @param {string} origin
 * @param {boolean} spoils whether to include calls that delete many entries
 * @returns {[name: string, call: () => Promise<unknown>][]}
 */
export function requestsOf(client, origin, spoils) {
  const tool = (name, args) => () => client.call(name, args)
  const read = (uri) => () => client.request('resources/read', { uri })
  const complete = (template, name, value) => () =>
    client.request('completion/complete', { ref: { type: 'ref/resource', uri: template }, argument: { name, value } })
  const prompt = (name, args) => () => client.request('prompts/get', { name, arguments: args })
  const get = (path) => async () => {
    const response = await fetch(`${origin}${path}`)
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 90)}`)
  }
  const item = (i, more) => ({ thread_id: 'one', source: 'user', text: `a new note ${i}`, tags: ['common'], ...more })
  const hundred = Array.from({ length: PAGE }, (_, i) => i + 1)
  /** @type {[string, () => Promise<unknown>][]} */
  const calls = [
    ['resources', () => client.request('resources/list', {})],
    ['a thread of a third as a resource', read('memory://thread/one')],
    ['a project as a resource', read('memory://project/p0')],
    ['an entry that a third refer to, as a resource', read('memory://entry/1')],
    ['a pack as a resource', read(`memory://pack/${encodeURIComponent(goal)}`)],
    ['threads that begin as many do', complete('memory://thread/{thread_id}', 'thread_id', 'own ')],
    ['threads that begin as none does', complete('memory://thread/{thread_id}', 'thread_id', 'zzz')],
    ['projects that begin so', complete('memory://project/{project}', 'project', 'p')],
    ['the prompt of a session', prompt('start_session', { goal })],
    ['the prompt of a hand-off', prompt('hand_off', {})],
    ['a page of threads, far behind', tool('list_threads', { limit: PAGE, offset: 90_000 })],
    ['a hundred entries whole', tool('get_context_by_ids', { context_ids: hundred })],
    ['the history of an entry that a third refer to', tool('get_context_history', { context_id: 1 })],
    ['the outline of an entry', tool('navigate_context', { context_id: 1 })],
    ['changes from the start', tool('list_changes', { after: 'start', limit: 200 })],
    ['changes of a thread of none', tool('list_changes', { after: 'start', thread_id: 'none' })],
    ['changes of a project of none', tool('list_changes', { after: 'start', project: 'none' })],
    ['deletions since the start', tool('list_changes', { after: 'start', actions: ['deleted'] })],
    ['changes as lines', get('/api/v1/orgs/local/changes?after=start&limit=200')],
    ['the audit log, 1,000 rows', get('/api/v1/orgs/local/audit?limit=1000')],
    ['the audit log, far behind', get('/api/v1/orgs/local/audit?limit=1000&after=2000')],
    ['keys', get('/api/v1/orgs/local/keys')],
    ['where one stands', tool('context_orient', {})],
    ['a store into a thread of a third', tool('store_context', item(0, {}))],
    ['a hundred stores', tool('store_context_batch', { entries: hundred.map((i) => item(i, {})) })],
    [
      'a hundred stores that all refer to one',
      tool('store_context_batch', {
        entries: hundred.map((i) => item(i, { metadata: { references: { context_ids: [1] } } })),
      }),
    ],
    [
      'fifty stores that refer to a hundred each',
      tool('store_context_batch', {
        entries: hundred.slice(0, 50).map((i) => {
          const ids = hundred.map((n) => 1 + ((i * 7919 + n * 2999) % 300_000))
          return item(i, { metadata: { references: { context_ids: ids } } })
        }),
      }),
    ],
    [
      'a pack about an entry that a third refer to',
      tool('context', { goal: 'short note number 0', layer: 'deep_search' }),
    ],
    [
      'a change of an entry that a third refer to',
      tool('update_context', { context_id: 1, metadata_patch: { status: 'done' } }),
    ],
    [
      'a hundred changes of metadata',
      tool('update_context_batch', {
        updates: hundred.map((i) => ({ context_id: i, metadata_patch: { seen: true } })),
      }),
    ],
    [
      'a hundred changes of tags',
      tool('update_context_batch', { updates: hundred.map((i) => ({ context_id: i, tags: ['common'] })) }),
    ],
    ['a memory to remember', tool('remember', { title: 'a note', content: goal, kind: 'decision' })],
    ['a memory of layer 3', tool('context_store', { type: 'decision', content: goal, layer: 3, metadata: {} })],
    [
      'a summary of old memories',
      tool('context_summarize', { projectPath: 'p0', olderThanDays: 1, options: { targetTokens: 500 } }),
    ],
    ['a delete of an entry that a third refer to', tool('delete_context', { context_ids: [1] })],
    ['the same undone', tool('restore_context', { context_ids: [1] })],
  ]
  /** @type {[string, () => Promise<unknown>][]} */
  const spoiling = [
    ['an erasure of an entry that a third refer to', tool('delete_context', { context_ids: [1], erase: true })],
    ['an erasure of a thread of 500', tool('delete_context', { thread_id: 'group 2', erase: true })],
    ['a delete of a thread of a third', tool('delete_context', { thread_id: 'one' })],
    ['a delete of the old', tool('delete_context_batch', { older_than_days: 1, thread_ids: ['one'] })],
  ]
  return spoils ? [...calls, ...spoiling] : calls
}
