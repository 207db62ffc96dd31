import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { runSql } from '../support/direct-sql'
import { type Key, openWorld } from '../support/isolation'

/** Entries that a key limited to projects may write, and entries that it can only read. */
const world = openWorld()
const { call, ok } = world

beforeAll(migrate)

describe('a narrowed writer', () => {
  let ada: Key
  let one: Key
  let two: Key
  beforeAll(async () => {
    ada = await world.makeOrg('narrowed')
    one = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
    two = await world.makeKey(ada.org, { projects: ['a', 'b'], owner: 'eve' })
  })
  let threads = 0
  const draft = (text: string, metadata?: Record<string, unknown>) => ({
    thread_id: `t${threads}`,
    source: 'user',
    text,
    ...(metadata ? { metadata } : {}),
  })
  const store = async (key: Key, text: string, metadata?: Record<string, unknown>): Promise<number> =>
    (await ok(key, 'store_context', draft(text, metadata))).context_id
  const sees = async (key: Key, id: number) => (await ok(key, 'get_context_by_ids', { context_ids: [id] })).result[0]

  it('writes to its only project when it names none', async () => {
    threads++
    const id = await store(one, 'by default')
    const outsider = await world.makeKey(ada.org, { projects: ['b'] })
    expect([await sees(one, id), await sees(two, id), await sees(ada, id)].every(Boolean)).toBe(true)
    expect(await sees(outsider, id)).toBeUndefined()
  })

  it('keeps an entry in the project it was given by default, also when others change its metadata', async () => {
    threads++
    const outsider = await world.makeKey(ada.org, { projects: ['b'] })
    for (const [key, change] of [
      [ada, { metadata_patch: { title: 'x' } }],
      [two, { metadata_patch: { title: 'y' } }],
      [ada, { metadata: { n: 1 } }],
      [one, { metadata: { n: 2 } }],
      [ada, { text: 'new words' }],
    ] as const) {
      const id = await store(one, `by default ${JSON.stringify(change)}`)
      await ok(key, 'update_context', { context_id: id, ...change })
      expect([change, await sees(outsider, id), (await sees(one, id))?.id]).toEqual([change, undefined, id])
    }
  })

  it('moves an entry to no project when an authorized caller removes the project from its metadata', async () => {
    threads++
    const outsider = await world.makeKey(ada.org, { projects: ['b'] })
    const id = await store(one, 'named', { project: 'a' })
    await ok(ada, 'update_context', { context_id: id, metadata_patch: { project: null } })
    expect((await sees(outsider, id)).id).toBe(id)
  })

  it('gets the list of its projects when it has several and names none', async () => {
    threads++
    const { error } = await call(two, 'store_context', draft('nowhere'))
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: 'metadata.project is required for this key; choose one of: a, b',
      details: [{ path: 'metadata.project', given: 'nothing', example: 'a' }],
    })
    const remembered = await call(two, 'remember', { title: 'Nowhere', content: 'nowhere' })
    expect(remembered.error).toMatchObject({ details: [{ path: 'project', given: 'nothing', example: 'a' }] })
    expect(await call(two, 'context_store', { type: 'decision', content: 'nowhere', metadata: {} })).toMatchObject({
      data: { details: [{ path: 'metadata.projectPath', message: 'given nothing; an example is "a"' }] },
    })
    expect((await ok(ada, 'search_context', { thread_id: `t${threads}` })).total).toBe(0)
  })

  it('is denied a project outside its list in the same words whether that exists or not', async () => {
    threads++
    await ok(ada, 'store_context', draft('c exists', { project: 'c' }))
    const id = await store(one, 'mine')
    for (const project of ['c', 'z']) {
      const message = `Project access denied: ${project}`
      const calls: [string, Record<string, unknown>][] = [
        ['store_context', draft('foreign', { project })],
        ['update_context', { context_id: id, metadata: { project } }],
        ['update_context', { context_id: id, metadata_patch: { project: ` ${project}/ ` } }],
      ]
      for (const [tool, args] of calls)
        expect([tool, (await call(one, tool, args)).error]).toMatchObject([
          tool,
          { code: 'forbidden', message, retryable: false },
        ])
      const batch = await call(one, 'store_context_batch', { entries: [draft('good'), draft('foreign', { project })] })
      expect(batch.error?.code).toBe('forbidden')
      expect(batch.error?.message).toContain(message)
    }
    expect((await sees(one, id)).version).toBe(1)
    expect((await ok(ada, 'search_context', { thread_id: `t${threads}` })).total).toBe(2)
  })

  it('reads entries of the organization and changes none of them', async () => {
    threads++
    const id = await store(ada, 'for everybody', { n: 1 })
    const before = await sees(ada, id)
    expect(await sees(one, id)).toEqual(before)
    const unknown = 999_999_999
    const writes: [string, (context_id: number) => Record<string, unknown>][] = [
      ['update_context', (context_id) => ({ context_id, text: 'mine now' })],
      ['update_context', (context_id) => ({ context_id, text: 'mine now', expected_version: 7 })],
      ['update_context', (context_id) => ({ context_id, tags: ['mine'] })],
      ['update_context', (context_id) => ({ context_id, metadata_patch: { plain: 1 } })],
      ['update_context', (context_id) => ({ context_id, metadata_patch: { project: 'a' } })],
      ['update_context_batch', (context_id) => ({ updates: [{ context_id, metadata: { project: 'a' } }] })],
      ['delete_context', (context_id) => ({ context_ids: [context_id] })],
      ['delete_context', (context_id) => ({ context_ids: [context_id], expected_version: 7 })],
      ['delete_context', (context_id) => ({ context_ids: [context_id], dry_run: true })],
      ['delete_context_batch', (context_id) => ({ context_ids: [context_id], source: 'user' })],
    ]
    for (const [tool, args] of writes) {
      const told = async (context_id: number) => {
        const { data } = await call(one, tool, args(context_id))
        return JSON.stringify(data).replaceAll(String(context_id), 'ID')
      }
      // As an entry that never was.
      expect([tool, await told(id)]).toEqual([tool, await told(unknown)])
      expect(await sees(ada, id)).toEqual(before)
    }
    expect((await ok(one, 'delete_context', { thread_id: `t${threads}` })).deleted_count).toBe(0)
    world.clock.advance(3 * 86_400_000)
    expect(
      (await ok(one, 'delete_context_batch', { thread_ids: [`t${threads}`], older_than_days: 1 })).deleted_count,
    ).toBe(0)
    expect(await sees(ada, id)).toEqual(before)
  })

  it('deletes of the ids that it names those that are its own to change', async () => {
    threads++
    const [own, everyones] = [await store(one, 'own'), await store(ada, 'for everybody')]
    expect((await ok(one, 'delete_context', { context_ids: [own, everyones] })).deleted_count).toBe(1)
    expect((await sees(one, everyones)).id).toBe(everyones)
  })

  it('adds a separate entry when it repeats one of the organization', async () => {
    threads++
    const id = await store(ada, 'the same words', { n: 1 })
    const before = await sees(ada, id)
    const again = await ok(one, 'store_context', draft('the same words', { n: 2 }))
    expect([again.context_id === id, again.version]).toEqual([false, 1])
    expect(await sees(ada, id)).toEqual(before)
  })

  it('adds a separate entry when the same text is in an invisible project', async () => {
    threads++
    const id = await store(ada, 'words of c', { project: 'c' })
    const again = await ok(one, 'store_context', draft('words of c'))
    expect([again.context_id === id, again.version]).toEqual([false, 1])
    expect((await sees(ada, id)).version).toBe(1)
  })
})

describe('an owner', () => {
  it('finds its private entry again, also when another user has stored the same text publicly', async () => {
    const ada = await world.makeOrg('owners')
    const bob = await world.makeKey(ada.org, { owner: 'bob' })
    for (const metadata of [{ audience: 'private' }, { diary: true }]) {
      const turn = { thread_id: JSON.stringify(metadata), source: 'user', text: 'the same words' }
      const { context_id: open } = await ok(ada, 'store_context', turn)
      const { context_id: own } = await ok(bob, 'store_context', { ...turn, metadata })
      const seen = async (key: Key) =>
        (await ok(key, 'get_context_by_ids', { context_ids: [open, own] })).result.map(
          (entry: { id: number }) => entry.id,
        )
      expect([await seen(bob), await seen(ada)]).toEqual([[open, own], [open]])
    }
  })
})

describe('counts other than of entries', () => {
  it('include queued work only of entries that the key can read', async () => {
    const ada = await world.makeOrg('queue')
    const bob = await world.makeKey(ada.org, { owner: 'bob' })
    const narrowed = await world.makeKey(ada.org, { projects: ['a'], owner: 'eve' })
    const queue = async (topic: string, key: string) =>
      runSql(
        sql`INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (${ada.org}, ${topic}, ${key}, 0, 9000000000000000)`,
      )
    for (const [by, metadata] of [
      [ada, { project: 'a' }],
      [ada, { project: 'b' }],
      [bob, { audience: 'private' }],
    ] as const) {
      const text = JSON.stringify(metadata)
      const { context_id: id } = await ok(by, 'store_context', { thread_id: 'q', source: 'user', text, metadata })
      await world.settle()
      await queue('embed', String(id))
      await queue('summarize', String(id))
    }
    await queue('image_delete', '0'.repeat(64))
    const pending = async (key: Key) => (await ok(key, 'get_statistics')).pending_work.pending
    expect([await pending(ada), await pending(bob), await pending(narrowed)]).toEqual([5, 7, 2])
  })

  it('of an organization are refused to a narrowed administrator', async () => {
    const ada = await world.makeOrg('reembed')
    const narrowed = await world.makeKey(ada.org, { role: 'admin', projects: ['a'] })
    expect((await world.http(narrowed.secret, 'POST', '/api/v1/reembed')).status).toBe(403)
    expect((await world.http(ada.secret, 'POST', '/api/v1/reembed')).json).toEqual({
      made: 0,
      next: null,
      entries: 0,
      embedded: 0,
    })
    expect((await world.auditOf(ada)).at(-1)).toMatchObject({ key_id: narrowed.id, action: 'reembed', allowed: false })
  })
})
