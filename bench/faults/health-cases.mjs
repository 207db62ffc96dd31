// Calls with the largest allowed work, for health.mjs.
import { createHash } from 'node:crypto'

const MANY = [50_000, 900_000]
/** Entries of a megabyte each. */
const LARGE = 20
const KEYS = { jsonrpc: '2.0', id: 1 }

/** @param {number} length @param {number} seed */
function words(length, seed) {
  let text = ''
  for (let i = 0; text.length < length; i++) text += `deployment ${seed} note ${(i * 7919) % 50_021} of the workers.\n`
  return text.slice(0, length)
}

/** @param {string} name @param {string} args JSON */
const callText = (name, args) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`

/** @param {number} count @param {(i: number) => string} member */
const list = (count, member) => Array.from({ length: count }, (_, i) => member(i)).join(',')

/** @typedef {[name: string, call: () => Promise<{status: number, text: string}>]} Case */

/** @param {string} origin @param {string} path @param {RequestInit} [options] */
async function ask(origin, path, options) {
  const response = await fetch(`${origin}${path}`, options)
  return { status: response.status, text: await response.text() }
}

/** @param {string} origin @param {string} body */
const postTo = (origin, body) =>
  ask(origin, '/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
  })

/**
 * Requests with very many members or items.
 *
 * @param {string} origin
 * @returns {Case[]}
 */
export function memberCases(origin) {
  const post = (/** @type {string} */ body) => () => postTo(origin, body)
  return MANY.flatMap((count) => {
    const members = list(count, (i) => `"k${i}":${i}`)
    const tags = list(count, (i) => `"t${i}"`)
    const n = count.toLocaleString('en-GB')
    const entry = '"thread_id":"t","source":"agent","text":"x"'
    /** @type {Case[]} */
    const cases = [
      [`get_statistics, ${n} unknown arguments`, post(callText('get_statistics', `{${members}}`))],
      [
        `ping, ${n} params`,
        post(JSON.stringify({ ...KEYS, method: 'ping', params: {} }).replace('{}', `{${members}}`)),
      ],
      [`store_context, ${n} metadata keys`, post(callText('store_context', `{${entry},"metadata":{${members}}}`))],
      [`search_context, ${n} tags`, post(callText('search_context', `{"tags":[${tags}]}`))],
      [`search_context, ${n} numbers as tags`, post(callText('search_context', `{"tags":[${list(count, String)}]}`))],
      [
        `store_context_batch, ${n} entries`,
        post(callText('store_context_batch', `{"entries":[${list(count, () => '{}')}]}`)),
      ],
      [
        `search_context, ${n} tags in a JSON string`,
        post(callText('search_context', JSON.stringify({ tags: `[${tags}]` }))),
      ],
      [
        `store_context, ${n} metadata keys in a JSON string`,
        post(
          callText(
            'store_context',
            JSON.stringify({ thread_id: 't', source: 'agent', text: 'x', metadata: `{${members}}` }),
          ),
        ),
      ],
      [`get_context_by_ids, ${n} words as ids`, post(callText('get_context_by_ids', `{"context_ids":[${tags}]}`))],
      [
        `search_context, ${n} values of a filter`,
        post(callText('search_context', `{"metadata_filters":[{"key":"a","operator":"in","value":[${tags}]}]}`)),
      ],
      [
        `resources/read, ${n} params`,
        post(JSON.stringify({ ...KEYS, method: 'resources/read', params: {} }).replace('{}', `{${members}}`)),
      ],
    ]
    return cases
  })
}

/**
 * Fills the store with few large and many small entries.
 *
 * @param {import('../support/mcp.mjs').Client} client
 */
export async function fill(client) {
  const text = words(990_000, 0)
  for (let i = 0; i < LARGE; i++)
    await client.call('context_store', {
      type: 'decision',
      content: `${i} ${text}`.slice(0, 990_000),
      layer: 2,
      metadata: {},
    })
  for (let at = 0; at < 1_000; at += 100)
    await client.call('store_context_batch', {
      entries: Array.from({ length: 100 }, (_, i) => ({
        thread_id: 'small',
        source: 'agent',
        text: words(8_000, at + i),
        metadata: { project: 'small' },
      })),
    })
}

/**
 * Recall, export and import over what `fill` stored.
 *
 * @param {string} origin
 * @returns {Promise<Case[]>}
 */
export async function storeCases(origin) {
  const query = 'deployment note workers zeppelin'
  const exported = (/** @type {string} */ more) => () => ask(origin, `/api/v1/orgs/local/export?${more}`)
  const imported = (/** @type {() => string} */ file) => () =>
    ask(origin, '/api/v1/orgs/local/import', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: file(),
    })
  const { text: file } = await exported('project=small&vectors=true')()
  const { text: bare } = await exported('project=small')()
  return [
    ...['keyword', 'semantic', 'hybrid'].map(
      (mode) =>
        /** @type {Case} */ ([
          `context_recall ${mode}, 100 of ${LARGE} entries of 1 MB`,
          () => postTo(origin, callText('context_recall', JSON.stringify({ query, mode, limit: 100, threshold: 0 }))),
        ]),
    ),
    ['export of 1,000 entries of 8 KB', exported('project=small')],
    ['export of 1,000 entries of 8 KB with vectors', exported('project=small&vectors=true')],
    [`export of ${LARGE} entries of 1 MB and 1,000 of 8 KB`, exported('')],
    [`export of ${LARGE} entries of 1 MB and 1,000 of 8 KB with vectors`, exported('vectors=true')],
    ['import of 1,000 entries of 8 KB with vectors, all there', imported(() => file)],
    ['import of 1,000 entries of 8 KB with vectors', imported(() => anew(file))],
    ['import of 1,000 entries of 8 KB without vectors', imported(() => anew(bare))],
  ]
}

/**
 * Files of code with very many declarations on one line.
 *
 * @param {string} origin
 * @returns {Case[]}
 */
export function codeCases(origin) {
  const put = (/** @type {string} */ path, /** @type {string} */ content) => () =>
    ask(origin, '/api/v1/code/p/files', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ files: [{ path, content: `${content}//${Math.random()}` }] }),
    })
  const many = (/** @type {(i: number) => string} */ one, by = '') =>
    Array.from({ length: 40_000 }, (_, i) => one(i)).join(by)
  return [
    [
      'code: 40,000 exported constants on one line',
      put(
        'src/a.ts',
        many((i) => `export const a${i}=1;`),
      ),
    ],
    [
      'code: 40,000 exported functions on one line',
      put(
        'src/b.ts',
        many((i) => `export function a${i}(){}`),
      ),
    ],
    ['code: one export of 40,000 names on one line', put('src/c.ts', `export{${many((i) => `a${i} as b${i}`, ',')}}`)],
    [
      'code: 40,000 assignments to exports on one line',
      put(
        'src/d.js',
        many((i) => `exports.a${i}=${i};`),
      ),
    ],
    [
      'code: 40,000 functions of C on one line',
      put(
        'src/e.c',
        many((i) => `void f${i}(){}`),
      ),
    ],
    [
      'code: 40,000 functions of Python',
      put(
        'src/f.py',
        many((i) => `def f${i}(): pass\n`),
      ),
    ],
    [
      'code: 40,000 functions of Ruby on one line',
      put(
        'src/g.rb',
        many((i) => `def f${i};end;`),
      ),
    ],
  ]
}

/** Characters of the hash at the end of a volume, and what follows it. */
const UNHASHED = 67

/**
 * A volume as another store would export it, with other texts.
 *
 * @param {string} file
 */
function anew(file) {
  const seed = Math.floor(Math.random() * 1e9)
  const changed = file.replace(/"store":"[^"]+"/, `"store":"bench:${seed}"`).replaceAll(/"text":"/g, `"text":"${seed} `)
  const covered = changed.slice(0, -UNHASHED)
  return `${covered}${createHash('sha256').update(covered).digest('hex')}"}\n`
}
