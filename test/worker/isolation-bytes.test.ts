import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { onPostgres, runSql } from '../support/direct-sql'
import { type Key, OPERATOR, openWorld } from '../support/isolation'
import { base64, pngBytes } from '../support/scope'

/** An invisible entry and a missing one are answered by the same bytes. */
const world = openWorld()
const { http, ok } = world
const SOON = 60_000

let key: Key
let other: Key
/** Ids that are all nothing to `key`, by the reason why. */
const ids: Record<string, number> = {}
const hashes: Record<string, string> = {}
let own = 0

beforeAll(async () => {
  await migrate()
  // Ids of six digits are nothing else in an answer.
  await runSql(
    sql`INSERT INTO entries (id, org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes,
      text_words, text) VALUES (700000, 'nobody', 't', 'user', 2, 0, 0, 'k', 'h', 0, 0, 't')`,
  )
  if (onPostgres()) await runSql(sql`SELECT setval('entries_id_seq', 700000)`)
  const ada = await world.makeOrg('bytes')
  other = await world.makeOrg('other')
  key = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
  const expires_at = new Date(world.clock.ms + SOON).toISOString()
  const hidden: [string, Key, Record<string, unknown>][] = [
    ['of another org', other, {}],
    ['of another org, in a project of the same name', other, { project: 'a' }],
    ['of another project', ada, { project: 'b' }],
    ['private to another owner', ada, { audience: 'private', project: 'a' }],
    ['a diary page of another owner', ada, { diary: true, project: 'a' }],
    ['expired', ada, { project: 'a', expires_at }],
    ['deleted', ada, { project: 'a' }],
  ]
  for (const [reason, by, metadata] of hidden) {
    const bytes = pngBytes(reason)
    const turn = { thread_id: threadOf(reason), source: 'user', text: `a secret ${reason}`, metadata, tags: ['secret'] }
    ids[reason] = (await ok(by, 'store_context', { ...turn, images: [{ data: base64(bytes) }] })).context_id
    hashes[reason] = await hashOf(bytes)
  }
  await ok(ada, 'delete_context', { context_ids: [ids.deleted] })
  world.clock.advance(SOON)
  own = (await ok(key, 'store_context', { thread_id: 'own', source: 'user', text: 'own' })).context_id
  ids['never there'] = own + 1000
  hashes['never there'] = await hashOf(pngBytes('never there'))
  await world.settle()
})

const threadOf = (reason: string): string => `thread-of-${reason.replaceAll(/\W/g, '-')}`

async function hashOf(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toHex()
}

const rpc = (name: string, args: unknown) => ({
  jsonrpc: '2.0',
  id: 'call',
  method: 'tools/call',
  params: { name, arguments: args },
})

/** Everything that is sent for a call, with what the caller named written as `#`. */
async function sent(secret: string, method: string, path: string, said: string, body?: unknown): Promise<string> {
  const { status, headers, body: text } = await http(secret, method, path, body)
  const bare = headers.replace(/^content-length.*$/m, '')
  return `${status}\n${bare}\n${text}`.replaceAll(new RegExp(`(?<![\\w-])${said}(?![\\w-])`, 'g'), '#')
}

const calls: [string, (id: number) => Record<string, unknown>][] = [
  ['get_context_by_ids', (id) => ({ context_ids: [id] })],
  ['get_context_by_ids', (id) => ({ context_ids: [own, id] })],
  ['update_context', (id) => ({ context_id: id, text: 'mine' })],
  ['update_context', (id) => ({ context_id: id, metadata_patch: { plain: 1 } })],
  ['update_context', (id) => ({ context_id: id, metadata_patch: { project: 'a' } })],
  ['update_context', (id) => ({ context_id: id, metadata: { project: 'b' } })],
  ['update_context', (id) => ({ context_id: id, tags: [], images: [] })],
  ['update_context_batch', (id) => ({ updates: [{ context_id: id, text: 'mine' }] })],
  ['update_context_batch', (id) => ({ updates: [{ context_id: id, text: 'mine' }], atomic: false })],
  [
    'update_context_batch',
    (id) => ({
      updates: [
        { context_id: id, metadata_patch: { n: 1 } },
        { context_id: own, tags: ['x'] },
      ],
    }),
  ],
  ['delete_context', (id) => ({ context_ids: [id] })],
  ['delete_context_batch', (id) => ({ context_ids: [id], source: 'user' })],
]

const state = () =>
  runSql(
    sql`SELECT id, version, text, metadata, tags, images FROM entries WHERE org IN (${key.org}, ${other.org}) ORDER BY id`,
  )

describe('forbidden and absent are the same bytes', () => {
  for (const [i, [tool, args]] of calls.entries())
    it(`in ${tool} (${i + 1}), which changes nothing`, async () => {
      const before = await state()
      const answers = new Map<string, string>()
      for (const [reason, id] of Object.entries(ids))
        answers.set(reason, await sent(key.secret, 'POST', '/mcp', String(id), rpc(tool, args(id))))
      for (const [reason, answer] of answers) expect([reason, answer]).toEqual([reason, answers.get('never there')])
      expect(answers.get('never there')).not.toContain('secret')
      expect(await state()).toEqual(before)
    })

  it('in links: what a writer cannot see becomes none, and the answer does not reveal that', async () => {
    const answers = new Set<string>()
    for (const [i, [reason, id]] of Object.entries(ids).entries()) {
      const metadata = { references: { context_ids: [id] }, supersedes: id, depends_on: [id], contradicts: String(id) }
      const turn = { thread_id: `link ${i}`, source: 'user', text: 'links', metadata }
      const stored = await ok(key, 'store_context', turn)
      answers.add(JSON.stringify({ ...stored, context_id: 0, thread_id: '' }))
      const links = await runSql(sql`SELECT * FROM links WHERE from_id = ${stored.context_id}`)
      expect([reason, links]).toEqual([reason, []])
    }
    expect(answers.size).toBe(1)
  })

  it('in filters and deletes by thread, tag and metadata', async () => {
    const before = await state()
    const asked: [string, (thread: string) => Record<string, unknown>][] = [
      ['search_context', (thread) => ({ thread_id: thread, include_images: true })],
      ['fts_search_context', (thread) => ({ query: 'secret', thread_id: thread, highlight: true })],
      ['semantic_search_context', (thread) => ({ query: 'secret', thread_id: thread })],
      ['hybrid_search_context', (thread) => ({ query: 'secret', thread_id: thread })],
      ['delete_context', (thread) => ({ thread_id: thread })],
      ['delete_context_batch', (thread) => ({ thread_ids: [thread], source: 'user' })],
    ]
    for (const [tool, args] of asked) {
      const answers = new Set<string>()
      for (const thread of Object.keys(ids).map(threadOf)) {
        const answer = await sent(key.secret, 'POST', '/mcp', thread, rpc(tool, args(thread)))
        // The most similar thread that the key sees depends only on the name that was sent.
        answers.add(answer.replaceAll(/; the most similar thread is \\+"[^"\\]*\\+"/g, ''))
      }
      expect([tool, answers.size]).toEqual([tool, 1])
    }
    expect((await ok(key, 'search_context', { tags: ['secret'] })).total).toBe(0)
    expect((await ok(key, 'search_context', { metadata: { project: 'b' } })).total).toBe(0)
    expect(await state()).toEqual(before)
  })

  it('as resources, in their list and in completions, also for a reader', async () => {
    const reader = await world.makeKey(key.org, { role: 'reader', projects: ['a'], owner: 'bob' })
    const ask = (method: string, params: unknown, said = 'nothing in particular') =>
      sent(reader.secret, 'POST', '/mcp', said, { jsonrpc: '2.0', id: 'ask', method, params })
    const answers = new Map<string, string>()
    for (const [reason, id] of Object.entries(ids))
      answers.set(reason, await ask('resources/read', { uri: `memory://entry/${id}` }, String(id)))
    for (const [reason, answer] of answers) expect([reason, answer]).toEqual([reason, answers.get('never there')])
    const names = [...Object.keys(ids).map(threadOf), 'never-there']
    const threads = await Promise.all(
      names.map((name) => ask('resources/read', { uri: `memory://thread/${name}` }, name)),
    )
    expect(new Set(threads).size).toBe(1)
    const projects = ['b', 'never-there'].map((name) =>
      ask('resources/read', { uri: `memory://project/${name}` }, name),
    )
    expect(new Set(await Promise.all(projects)).size).toBe(1)

    const completed = async (variable: string, value: string) => {
      const ref = { type: 'ref/prompt', name: 'hand_off' }
      // After the head, which comes before it.
      const answer = await ask('completion/complete', { ref, argument: { name: variable, value } })
      return JSON.parse(/\{"result".*\}/.exec(answer)?.[0] ?? 'null')
    }
    expect((await completed('thread_id', 'thread-of')).result.completion.values).toEqual([])
    expect((await completed('project', '')).result.completion.values).toEqual(['a'])
    expect(await ask('resources/list', {})).not.toContain('thread-of')
    expect(await ask('resources/read', { uri: `memory://entry/${own}` })).toContain('\\"text_content\\":\\"own\\"')
  })

  it('on the image route', async () => {
    const answers = new Map<string, string>()
    for (const [reason, hash] of Object.entries(hashes))
      answers.set(reason, await sent(key.secret, 'GET', `/images/${hash}`, hash))
    for (const [reason, answer] of answers) expect([reason, answer]).toEqual([reason, answers.get('never there')])
  })

  it('on administration routes, for another org and for one that never was', async () => {
    const admin = await world.makeKey(key.org, { role: 'admin' })
    const narrowed = await world.makeKey(key.org, { role: 'admin', projects: ['a'] })
    const theirs = await world.makeKey(other.org, {})
    const routes: [string, string, unknown?][] = [
      ['GET', '/keys'],
      ['GET', '/projects'],
      ['GET', '/audit'],
      ['GET', '/cost'],
      ['GET', '/usage'],
      ['GET', '/audit?after=1&limit=1'],
      ['POST', '/projects', { id: 'a' }],
      ['POST', '/projects', { id: '' }],
      ['POST', '/keys', { name: 'k', role: 'reader', projects: ['a'] }],
      ['POST', '/keys', { name: 'k', role: 'emperor' }],
      ['DELETE', `/keys/${theirs.id}`],
    ]
    for (const by of [admin, narrowed])
      for (const [method, path, body] of routes) {
        const of = (org: string) => sent(by.secret, method, `/api/v1/orgs/${org}${path}`, org, body)
        expect([path, await of(other.org)]).toEqual([path, await of('never-was')])
      }
    const orgs = await http(admin.secret, 'GET', '/api/v1/orgs')
    expect(orgs.json.orgs.map(({ id }: { id: string }) => id)).toEqual([key.org])
  })

  it('for keys of another org, keys outside an administrator’s projects, and keys that never were', async () => {
    const narrowed = await world.makeKey(key.org, { role: 'admin', projects: ['a'] })
    const hidden = [
      await world.makeKey(other.org, { projects: ['a'] }),
      await world.makeKey(key.org, { projects: ['a', 'b'] }),
      await world.makeKey(key.org, {}),
      { id: 'key_00000000000000000000', secret: null },
    ]
    const answers = new Set<string>()
    for (const { id } of hidden)
      answers.add(await sent(narrowed.secret, 'DELETE', `/api/v1/orgs/${key.org}/keys/${id}`, id))
    expect(answers.size).toBe(1)
    for (const { secret } of hidden) if (secret) expect((await http(secret, 'GET', '/images/x')).status).toBe(404)
  })

  it('for a credential that was revoked, has expired, or never was', async () => {
    const revoked = await world.makeKey(key.org, {})
    await http(OPERATOR, 'DELETE', `/api/v1/orgs/${key.org}/keys/${revoked.id}`)
    const expires_at = new Date(world.clock.ms + SOON).toISOString()
    const draft = { name: 'k', role: 'writer', expires_at }
    const expired = (await http(OPERATOR, 'POST', `/api/v1/orgs/${key.org}/keys`, draft)).json.key
    world.clock.advance(SOON)
    const answers = new Set<string>()
    for (const secret of [revoked.secret, expired, `${revoked.secret.slice(0, -1)}!`, 'cp_nothing'])
      answers.add(await sent(secret, 'POST', '/mcp', '#', rpc('list_threads', {})))
    expect(answers.size).toBe(1)
  })
})
