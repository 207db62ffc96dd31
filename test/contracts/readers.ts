import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { KnownIds } from '../../src/domain/transfer/content-checksum'
import { writeVolumes } from '../../src/domain/transfer/volume-writer'
import { migrate } from '../support/bindings'
import { runSql } from '../support/direct-sql'
import { type Json, type Key, openWorld } from '../support/isolation'
import { seeded } from '../support/seeded'

/**
 * No write adds readers to an entry unless the call names the field that does so (platform contract §1): random writes by random callers
 * on entries in every state, and the reported calls by themselves.
 *
 * @param runs how many random histories
 * @param seed of the first one
 */
export function readersContract(runs: number, seed: number): void {
  const world = openWorld({ HISTORY_DAYS: '30' })
  const { call, ok } = world
  let keys: Record<string, Key>

  beforeAll(async () => {
    await migrate()
    const ada = await world.makeOrg('readers')
    const of = (owner: string, projects: string[] | null = null) => world.makeKey(ada.org, { owner, projects })
    keys = {
      ada,
      'ada in a': await of('ada', ['a']),
      bob: await of('bob'),
      'eve in a': await of('eve', ['a']),
      'kim in b': await of('kim', ['b']),
    }
  })

  /** Names of the keys that read an entry by its id. */
  async function readersOf(id: number): Promise<string[]> {
    const readers: string[] = []
    for (const [name, key] of Object.entries(keys)) {
      const { result } = await ok(key, 'get_context_by_ids', { context_ids: [id] })
      if (result.length > 0) readers.push(name)
    }
    return readers
  }

  const entryOf = async (key: Key, id: number): Promise<Json> =>
    (await ok(key, 'get_context_by_ids', { context_ids: [id] })).result[0]

  const PRIVATE = { kind: 'decision', audience: 'private', project: 'a', title: 'Secret' }
  let made = 0

  describe('a write that names no access field', () => {
    it('keeps a private memory private when update_context replaces its metadata', async () => {
      const { ada } = keys as { ada: Key }
      const memory = { title: 'Salary', content: 'ninety thousand', kind: 'note', project: 'a', audience: 'private' }
      const { id } = await ok(ada, 'remember', { ...memory, metadata: { mood: 'low' } })
      const before = await entryOf(ada, Number(id))
      for (const change of [
        ['update_context', { context_id: Number(id), metadata: { mood: 'ok', own: null } }],
        ['update_context_batch', { updates: [{ context_id: Number(id), metadata: { mood: 'ok', own: null } }] }],
      ] as const) {
        await ok(ada, change[0], change[1])
        expect(await readersOf(Number(id))).toEqual(['ada', 'ada in a'])
        const { metadata, thread_id } = await entryOf(ada, Number(id))
        expect(metadata).toEqual({ ...before.metadata, mood: 'ok', own: null })
        expect(thread_id).toBe(before.thread_id)
      }
    })

    it('keeps a diary page in the diary, and links and kind where they are', async () => {
      const { ada } = keys as { ada: Key }
      const { id: first } = await ok(ada, 'remember', { title: 'First', content: 'the first', kind: 'note' })
      const page = { title: 'Page', content: 'a page', diary: true, agent_id: 'scout', kind: 'note' }
      const { id } = await ok(ada, 'remember', page)
      await ok(ada, 'update_context', { context_id: Number(id), metadata: { mood: 'ok' } })
      expect(await readersOf(Number(id))).toEqual(['ada', 'ada in a'])
      const linked = {
        thread_id: 'l',
        source: 'agent',
        text: 'linked',
        metadata: { type: 'decision', supersedes: [first] },
      }
      const { context_id } = await ok(ada, 'store_context', linked)
      await ok(ada, 'update_context', { context_id, metadata: { mood: 'ok' } })
      const { metadata } = await entryOf(ada, context_id)
      expect(metadata).toEqual({ type: 'decision', supersedes: [first], mood: 'ok' })
    })

    it('clears a reserved key with null, and replaces the field when another of its keys is named', async () => {
      const { ada } = keys as { ada: Key }
      const given = { ...PRIVATE, task_name: 'Task' }
      const { context_id } = await ok(ada, 'store_context', {
        thread_id: 'n',
        source: 'user',
        text: 'n',
        metadata: given,
      })
      await ok(ada, 'update_context', {
        context_id,
        metadata: { audience: null, report_type: 'rule', task_name: 'Other' },
      })
      const { metadata } = await entryOf(ada, context_id)
      expect(metadata).toEqual({ report_type: 'rule', project: 'a', task_name: 'Other' })
      expect(await readersOf(context_id)).toEqual(['ada', 'ada in a', 'bob', 'eve in a'])
    })

    it('keeps a repeated store as private as the turn that it repeats', async () => {
      const { ada } = keys as { ada: Key }
      const turn = { thread_id: 'again', source: 'user', text: 'said twice' }
      const { context_id } = await ok(ada, 'store_context', { ...turn, metadata: { audience: 'private', title: 'T' } })
      const again = await ok(ada, 'store_context', { ...turn, metadata: { mood: 'ok' } })
      expect(again).toMatchObject({ context_id, version: 2 })
      const { results } = await ok(ada, 'store_context_batch', {
        entries: [
          { ...turn, metadata: { mood: 'better' } },
          { ...turn, metadata: { mood: 'best' } },
        ],
      })
      expect(results.map(({ context_id: id }: Json) => id)).toEqual([context_id, context_id])
      expect(await readersOf(context_id)).toEqual(['ada', 'ada in a'])
      expect((await entryOf(ada, context_id)).metadata).toEqual({ audience: 'private', title: 'T', mood: 'best' })
      expect((await ok(ada, 'store_context', { ...turn, metadata: { audience: 'org' } })).context_id).toBe(context_id)
      expect(await readersOf(context_id)).toEqual(Object.keys(keys))
    })

    it('gives a new turn of a batch none of the keys of the turn before the answer', async () => {
      const { ada } = keys as { ada: Key }
      const yes = { thread_id: 'yes', source: 'user', text: 'yes' }
      const { results } = await ok(ada, 'store_context_batch', {
        entries: [
          { ...yes, metadata: { title: 'T' } },
          { ...yes, source: 'agent', text: 'done' },
          { ...yes, metadata: { mood: 'ok' } },
        ],
      })
      expect((await entryOf(ada, results[2].context_id)).metadata).toEqual({ mood: 'ok' })
    })

    it('keeps a turn private that a later item of the same batch repeats', async () => {
      const { ada } = keys as { ada: Key }
      const stored = async (thread_id: string, items: readonly Json[]): Promise<number[]> => {
        const entries = items.map((item) => ({ thread_id, source: 'agent', text: 'twice in a batch', ...item }))
        const { results } = await ok(ada, 'store_context_batch', { entries })
        return results.map(({ context_id }: Json) => context_id)
      }
      const secret = { metadata: { audience: 'private', project: 'a' } }
      const plain = { metadata: { mood: 'ok', project: 'a' } }
      const page = { source: 'user', text: 'a page', metadata: { diary: true } }
      for (const [name, between] of Object.entries({ page, bare: {} })) {
        const ids = await stored(`batch ${name}`, [secret, between, plain])
        expect([name, ids[2]]).toEqual([name, ids[0]])
        for (const id of ids) expect([name, id, await readersOf(id)]).toEqual([name, id, ['ada', 'ada in a']])
      }
      const [turn] = await stored('batch later', [secret])
      await stored('batch later', [page, plain])
      await stored('batch later', [{}, plain])
      expect(await readersOf(turn as number)).toEqual(['ada', 'ada in a'])
    })

    it('stores a batch in which an answer comes before the text of the newest turn', async () => {
      const { ada } = keys as { ada: Key }
      const turn = { thread_id: 'ok', source: 'agent', text: 'ok' }
      const { context_id } = await ok(ada, 'store_context', { ...turn, metadata: { title: 'T', audience: 'private' } })
      const { results } = await ok(ada, 'store_context_batch', {
        entries: [
          { ...turn, source: 'user', text: 'thanks' },
          { ...turn, metadata: { mood: 'ok' } },
        ],
      })
      expect(results.map(({ success }: Json) => success)).toEqual([true, true])
      expect(results[1].context_id).not.toBe(context_id)
      expect(await readersOf(context_id)).toEqual(['ada', 'ada in a'])
    })

    it('remembers the text of an entry for no more readers than that entry has', async () => {
      const { ada } = keys as { ada: Key }
      const entry = { thread_id: 'from', source: 'user' }
      for (const metadata of [{ audience: 'private' }, { diary: true, agent_name: 'scout' }, { project: 'a' }]) {
        const text = `a text with ${Object.keys(metadata)[0]}`
        const { context_id } = await ok(ada, 'store_context', { ...entry, text, metadata })
        const copy = await ok(ada, 'remember', { title: text, kind: 'note', from: [context_id] })
        expect([metadata, await readersOf(Number(copy.id))]).toEqual([metadata, await readersOf(context_id)])
        const named = { title: `${text}, named`, kind: 'note', from: [context_id], project: 'b', audience: 'org' }
        expect(await readersOf(Number((await ok(ada, 'remember', named)).id))).toEqual(['ada', 'bob', 'kim in b'])
      }
    })

    it('restores an older version without its wider audience, project and diary, and reports that', async () => {
      const { ada } = keys as { ada: Key }
      const wide = { thread_id: 'r', source: 'user', text: 'first', metadata: { title: 'Wide' } }
      const { context_id } = await ok(ada, 'store_context', wide)
      const narrow = { audience: 'private', project: 'a', diary: true, title: 'Narrow' }
      await ok(ada, 'update_context', { context_id, text: 'second', metadata: narrow })
      const restored = await ok(ada, 'restore_context', { context_ids: [context_id], version: 1 })
      expect(restored.warnings.join(' ')).toMatch(/keeps its current audience, project, diary/)
      expect(await readersOf(context_id)).toEqual(['ada', 'ada in a'])
      expect(await entryOf(ada, context_id)).toMatchObject({
        text_content: 'first',
        metadata: { title: 'Wide', audience: 'private', project: 'a', diary: true },
      })
      const { change_id } = await ok(ada, 'delete_context', { context_ids: [context_id] })
      expect(change_id).toBeTruthy()
      const back = await ok(ada, 'restore_context', { context_ids: [context_id], version: 1 })
      expect([back.restored.length, back.warnings.length]).toEqual([1, 1])
      expect(await readersOf(context_id)).toEqual(['ada', 'ada in a'])
      // Naming the field widens.
      await ok(ada, 'update_context', { context_id, metadata_patch: { audience: null, diary: null, project: null } })
      expect(await readersOf(context_id)).toEqual(Object.keys(keys))
    })

    it('restores a session that was approved and captured again as captured', async () => {
      const { ada } = keys as { ada: Key }
      const { context_id } = await ok(ada, 'store_context', { thread_id: 'c', source: 'agent', text: 'approved' })
      const captured = JSON.stringify({ captured: true, expires_at: '2027-01-01T00:00:00Z' })
      await ok(ada, 'update_context', { context_id, text: 'captured' })
      await runSql(sql`UPDATE entries SET captured = 1, archived = 1, metadata = ${captured} WHERE id = ${context_id}`)
      const { warnings } = await ok(ada, 'restore_context', { context_ids: [context_id], version: 1 })
      expect(warnings.join(' ')).toMatch(/keeps its current captured/)
      expect((await entryOf(ada, context_id)).metadata).toEqual({ captured: true, expires_at: '2027-01-01T00:00:00Z' })
      expect((await ok(ada, 'search_context', { thread_id: 'c' })).results).toEqual([])
    })

    it('refuses an import that would widen an entry without naming the field', async () => {
      const { ada } = keys as { ada: Key }
      const record = { record: 'entry', id: 7, thread_id: 't', source: 'user', text: 'imported', version: 1 } as const
      const imported = async (metadata: Json, at: string, version: number) => {
        const entry = { ...record, version, metadata }
        const known = new KnownIds()
        known.note(entry)
        const scope = { org: ada.org, projects: null, owner: 'ada', keyId: ada.id, agent: null, role: 'admin' as const }
        const caller = { ...scope, action: 'import', tool: null, changeId: `i${++made}` }
        const chunks = (async function* () {
          for await (const { bytes } of writeVolumes({ store: 'test:readers', at }, [entry], known)) yield bytes
        })()
        const options = { onConflict: 'replace', dryRun: false, keepsIds: false } as const
        return world.services.transfer.imports(caller, chunks, options)
      }
      const first = await imported({ audience: 'private' }, '2026-11-01T00:00:00.000Z', 1)
      const id = Number(first.map?.[0]?.[1])
      expect(await readersOf(id)).toEqual(['ada', 'ada in a'])
      const second = await imported({ mood: 'ok' }, '2026-11-02T00:00:00.000Z', 2)
      expect(second.entries.refused).toBe(1)
      expect(second.problems[0]?.message).toMatch(/audience/)
      expect(await readersOf(id)).toEqual(['ada', 'ada in a'])
      const third = await imported({ audience: 'org', mood: 'ok' }, '2026-11-03T00:00:00.000Z', 3)
      expect(third.entries.replaced).toBe(1)
      expect(await readersOf(id)).toEqual(Object.keys(keys))
    })
  })

  it.each(Array.from({ length: runs }, (_, i) => seed + i))(
    'adds no reader to an entry in a random history of writes that name no access field (seed %i)',
    async (run) => {
      const random = seeded(run)
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
      const { ada } = keys as { ada: Key }
      const writers = Object.entries(keys)
      const [thread, text] = [`random ${run}`, `the light of harbour ${run}`]
      const access = () => ({
        ...pick([{}, { audience: 'org' }, { audience: 'project' }, { audience: 'private' }, { audience: 'private' }]),
        ...pick([{}, {}, { diary: true, agent_name: 'scout' }]),
        ...pick([{}, { project: 'a' }, { project: 'b' }]),
      })
      const named = () => ({ audience: null, diary: null, project: null, ...access() })
      const content = () =>
        pick([{ mood: run }, {}, { title: `T${run}` }, { kind: 'rule' }, { status: 'doing', own: null }])
      const metadata = { title: 'T', kind: 'decision', ...access() }
      const id: number = (await ok(ada, 'store_context', { thread_id: thread, source: 'user', text, metadata }))
        .context_id
      const memoryId = String(id)
      let versions = 1
      let deleted: string | null = null
      /** Calls that name no access field, and those that do. */
      const calls: (() => [string, Record<string, unknown>])[] = [
        () => ['update_context', { context_id: id, metadata: content() }],
        () => ['update_context', { context_id: id, metadata: content(), text: `${text} ${versions}` }],
        () => ['update_context', { context_id: id, metadata_patch: content() }],
        () => ['update_context', { context_id: id, tags: ['x'] }],
        () => [
          'update_context_batch',
          {
            updates: [
              { context_id: id, metadata: content() },
              { context_id: id, tags: [] },
            ],
          },
        ],
        () => ['context_update', { memoryId, metadata: content() }],
        () => ['context_update', { memoryId, content: `${text} ${versions}`, pinned: true }],
        () => ['store_context', { thread_id: thread, source: 'user', text, metadata: content() }],
        () => ['store_context', { thread_id: thread, source: 'user', text }],
        () => ['store_context_batch', { entries: [{ thread_id: thread, source: 'user', text, metadata: content() }] }],
        () => ['context_store', { type: 'decision', content: text, metadata: content() }],
        () => ['remember', { title: 'T', content: text, kind: 'decision' }],
        () => ['restore_context', { context_ids: [id], version: 1 + Math.floor(random() * versions) }],
        () => ['restore_context', deleted === null ? { context_ids: [id] } : { change_id: deleted }],
        () => ['context_summarize', { options: { targetTokens: 100 }, olderThanDays: 1 }],
        () => ['core:update', { id, metadata: { mood: run, own: null }, status: 'doing' }],
        () => ['core:update', { id, title: `T${run}`, kind: 'rule', pinned: true, tags: ['x'] }],
        () => ['core:update', { id, clear: [pick(['title', 'status', 'tags', 'expires_at', 'pinned'])] }],
        () => ['core:remember', { title: 'T', content: text, kind: 'decision' }],
        () => ['core:restore', { id, ...pick([{}, { version: 1 + Math.floor(random() * versions) }]) }],
      ]
      for (let step = 0; step < 14; step++) {
        const before = await readersOf(id)
        if (random() < 0.25) {
          await ok(ada, 'update_context', { context_id: id, metadata: { ...content(), ...named() } }).catch(() => null)
          versions++
          continue
        }
        if (random() < 0.1 && deleted === null) {
          deleted = (await ok(ada, 'delete_context', { context_ids: [id] })).change_id ?? null
          const how = pick([{ change_id: deleted }, { context_ids: [id] }, { context_ids: [id], version: 1 }])
          await call(ada, 'restore_context', how)
        } else {
          const [, writer] = pick(writers)
          const [tool, args] = pick(calls)()
          await call(writer, tool, args)
        }
        versions++
        const after = await readersOf(id)
        const added = after.filter((name) => !before.includes(name))
        expect({ step, added }).toEqual({ step, added: [] })
      }
    },
  )
}
