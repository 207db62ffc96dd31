import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { fingerprint, type Made, makeEntry, rights, STATES, type StateOfEntry, sees } from '../support/entry-states'
import { type Json, type Key, openWorld } from '../support/isolation'

type Rights = ReturnType<typeof rights>
type Named = Pick<Made, 'id' | 'thread' | 'text' | 'changeId' | 'title'>

interface Writing {
  readonly tool: string
  readonly how?: string
  readonly args: (entry: Named) => Record<string, unknown>
  readonly may: (rights: Rights, state: StateOfEntry) => boolean
  /** The error for an authorized caller; then nothing changes either. */
  readonly code?: string
  /** The entry itself does not change. */
  readonly leaves?: true
}

const changes: Writing['may'] = (may) => may.changes
const WRITINGS: readonly Writing[] = [
  { tool: 'update_context', args: ({ id }) => ({ context_id: id, text: 'changed' }), may: changes },
  {
    ...{ tool: 'update_context', how: 'by a patch', may: changes },
    args: ({ id }) => ({ context_id: id, metadata_patch: { plain: 1 } }),
  },
  {
    ...{ tool: 'update_context', how: 'into a project', may: changes },
    args: ({ id }) => ({ context_id: id, metadata_patch: { project: 'a', audience: 'org' } }),
  },
  {
    ...{ tool: 'update_context', how: 'at a wrong version', may: changes, code: 'conflict' },
    args: ({ id }) => ({ context_id: id, tags: ['x'], expected_version: 77 }),
  },
  {
    ...{ tool: 'update_context_batch', may: changes },
    args: ({ id }) => ({ updates: [{ context_id: id, tags: ['x'] }] }),
  },
  { tool: 'delete_context', args: ({ id }) => ({ context_ids: [id] }), may: changes },
  {
    ...{ tool: 'delete_context', how: 'at a wrong version', may: changes, code: 'conflict' },
    args: ({ id }) => ({ context_ids: [id], expected_version: 77 }),
  },
  {
    ...{ tool: 'delete_context', how: 'to see what it would do', may: changes, leaves: true },
    args: ({ id }) => ({ context_ids: [id], dry_run: true }),
  },
  {
    ...{ tool: 'delete_context_batch' },
    args: ({ thread }) => ({ thread_ids: [thread], source: 'user' }),
    may: ({ changes }, { archived, versions }) => changes && !archived && versions.at(-1)?.hidden !== 'diary',
  },
  {
    ...{ tool: 'delete_context', how: 'for good' },
    args: ({ id }) => ({ context_ids: [id], erase: true }),
    may: (may) => may.erases,
  },
  { tool: 'restore_context', args: ({ id }) => ({ context_ids: [id] }), may: (may) => may.returns },
  {
    ...{ tool: 'restore_context', how: 'by the call that deleted it' },
    args: ({ changeId }) => ({ change_id: changeId ?? 'unknown' }),
    may: (may) => may.returns,
  },
  {
    ...{ tool: 'restore_context', how: 'to a version' },
    args: ({ id }) => ({ context_ids: [id], version: 1 }),
    may: (may) => may.reverts,
  },
  {
    ...{ tool: 'restore_context', how: 'to a version, at a wrong one', code: 'conflict' },
    args: ({ id }) => ({ context_ids: [id], version: 1, expected_version: 77 }),
    may: (may) => may.reverts,
  },
  { tool: 'context_update', args: ({ id }) => ({ memoryId: String(id), content: 'changed' }), may: changes },
  {
    ...{ tool: 'context_update', how: 'to promote it', may: changes },
    args: ({ id }) => ({ memoryId: String(id), targetLayer: 3 }),
  },
  { tool: 'context_delete', args: ({ id }) => ({ memoryId: String(id) }), may: changes },
  {
    ...{ tool: 'remember', how: 'to supersede it', leaves: true, may: (may) => may.reads },
    args: ({ id }) => ({ title: 'Later', content: 'later', project: 'a', related_to: [`supersedes:${id}`] }),
  },
]

interface Caller {
  readonly name: string
  readonly key: Key
}

/**
 * Checks who may change an entry by every means: every tool that writes, on an entry in every state, by every kind of caller, against a plain
 * model of the two rules. An unauthorized caller gets, byte for byte, the answer for an entry that never existed, and nothing changes.
 *
 * @param oneOf each state is tested with one of this many calls, and each call with one of this many states
 */
export function isolationChangesContract(oneOf: number): void {
  const world = openWorld({ HISTORY_DAYS: '30' })
  let ada: Key
  let callers: Caller[]

  beforeAll(async () => {
    await migrate()
    ada = await world.makeOrg('changes')
    const stranger = await world.makeOrg('strangers')
    const of = async (name: string, draft: Parameters<typeof world.makeKey>[1]): Promise<Caller> => ({
      name,
      key: await world.makeKey(ada.org, draft),
    })
    callers = [
      { name: 'its owner', key: ada },
      await of('its owner, narrowed to a', { owner: 'ada', projects: ['a'] }),
      await of('another', { owner: 'bob' }),
      await of('another, narrowed to a', { owner: 'eve', projects: ['a'] }),
      await of('another, narrowed to a and b', { owner: 'zoe', projects: ['a', 'b'] }),
      await of('another, narrowed to b', { owner: 'kim', projects: ['b'] }),
      await of('a reader', { owner: 'ada', role: 'reader' }),
      await of('an administrator', { owner: 'root', role: 'admin' }),
      { name: 'a caller of another org', key: stranger },
    ]
  })

  const UNKNOWN: Named = {
    id: 987_654_321,
    thread: 'no such thread',
    text: 'nothing',
    changeId: 'nothing',
    title: 'none',
  }

  /** The answer of a call, without the name of its subject. */
  async function told({ key }: Caller, { tool, args }: Writing, entry: Named): Promise<{ body: string; error: Json }> {
    const { data, error } = await world.call(key, tool, args(entry))
    // The most similar thread is found by the name that the call has sent.
    const body = JSON.stringify(data).replace(/in thread \\".*?(?="])/, 'in thread')
    return { body: body.replaceAll(String(entry.id), 'ID'), error }
  }

  const ofUnknown = new Map<string, Promise<string>>()

  /** The answer of a call about an entry that never existed. */
  function toldOfUnknown(caller: Caller, writing: Writing): Promise<string> {
    const name = `${caller.name} ${WRITINGS.indexOf(writing)}`
    const known = ofUnknown.get(name) ?? told(caller, writing, UNKNOWN).then(({ body }) => body)
    ofUnknown.set(name, known)
    return known
  }

  describe.each(STATES)('an entry that is $name', (state) => {
    let shared: Promise<Made> | null = null
    /** One that no call has changed. */
    const untouched = (): Promise<Made> => {
      shared = state.deleted === 'in parts' || shared === null ? makeEntry(world, ada, state) : shared
      return shared
    }

    const here = WRITINGS.filter((_, i) => (i + STATES.indexOf(state)) % oneOf === 0)
    it.each(here.map((writing) => ({ call: [writing.tool, writing.how ?? []].flat().join(' '), writing })))(
      'meets $call by the rule of who may change it',
      async ({ writing }) => {
        const { tool, may, code, leaves } = writing
        // A project outside of a key's scope is denied before any lookup.
        const asking = callers.filter(({ key }) => tool !== 'remember' || (key.projects?.includes('a') ?? true))
        const allowed = asking.filter(({ key }) => key.role !== 'reader' && may(rights(key, ada.org, state), state))
        const entry = await untouched()
        const before = await fingerprint(entry.id)
        for (const caller of asking) {
          if (allowed.includes(caller)) continue
          const { body, error } = await told(caller, writing, entry)
          if (caller.key.role === 'reader') expect(error.code ?? JSON.parse(body).code).toMatch(/forbidden/i)
          // A caller who may change an entry may learn why it, or its version, is not restored.
          const { changes, erases } = rights(caller.key, ada.org, state)
          const version = ['"version 1 is not retained"', '"it is already at version 1"']
          const asIs = writing.how?.startsWith('to a version') ? version : ['"not deleted"']
          // The version of an entry that they can see and change is not secret, whatever is retained of it.
          const standing = writing.how?.includes('at a wrong') ? ['"code":"conflict"'] : asIs
          const says = changes ? standing : erases ? ['"expired"'] : []
          const expected = await toldOfUnknown(caller, writing)
          if (tool !== 'restore_context' || !says.some((word) => body.includes(word)))
            expect([caller.name, body]).toEqual([caller.name, expected])
        }
        expect(await fingerprint(entry.id)).toEqual(before)
        // One of those who may, another for each tool; for it alone the entry is changed.
        const one = allowed[(STATES.indexOf(state) + WRITINGS.indexOf(writing)) % Math.max(1, allowed.length)]
        if (one === undefined) return
        if (code === undefined && !leaves) shared = null
        const { body, error } = await told(one, writing, entry)
        expect([one.name, body, error?.code ?? null]).toEqual([one.name, body, code ?? null])
        const after = await fingerprint(entry.id)
        if (code !== undefined || leaves) expect([one.name, after]).toEqual([one.name, before])
        else expect([one.name, after]).not.toEqual([one.name, before])
      },
    )

    it('is returned only to those who may read it', async () => {
      const entry = await makeEntry(world, ada, state)
      const { id, thread, title, secrets } = entry
      const about = { goal: 'mend the broken harbour light' }
      const reading: [string, Record<string, unknown>][] = [
        ['get_context_by_ids', { context_ids: [id] }],
        ['search_context', { thread_id: thread }],
        ['fts_search_context', { query: 'broken harbour light', thread_id: thread }],
        ['semantic_search_context', { query: 'broken harbour light', thread_id: thread }],
        ['hybrid_search_context', { query: 'broken harbour light', thread_id: thread }],
        ['grep_context', { pattern: 'secret', context_ids: [id] }],
        ['navigate_context', { context_id: id }],
        ['read_context_range', { context_id: id, start_char: 0 }],
        ['list_threads', {}],
        ['context_get', { memoryId: String(id) }],
        ['context_recall', { query: secrets[1], threshold: 0 }],
        ['context_list', {}],
        ['context_getCurrent', { currentCommand: secrets[1] }],
        ['context', { ...about, project: 'a', agent_id: 'scout' }],
        ['context', about],
      ]
      const was: [string, Record<string, unknown>][] = [
        ['get_context_history', { context_id: id, include_diff: true }],
        ['get_context_history', { context_id: id, version: 1 }],
        ['get_context_history', { context_id: id, version: 2 }],
        ['list_changes', { after: 'start', thread_id: thread }],
      ]
      const writing: [string, Record<string, unknown>][] = [
        ['remember', { title, content: 'The harbour light is broken', kind: 'decision', project: 'a' }],
        ['store_context', { thread_id: thread, source: 'user', text: entry.text, metadata: { project: 'a' } }],
        [
          'context_reportEvent',
          {
            event: {
              ...{ type: 'error_occurred', payload: { error: `Error: ${entry.text}` }, sessionId: 's' },
              ...{ timestamp: '2026-11-20T09:00:00Z', cliType: 'generic', projectPath: 'a' },
            },
          },
        ],
      ]
      // For a fraction of the calls, each state is read by one kind of caller, with every other tool, and repeated in one way, by a
      // third of them.
      const n = STATES.indexOf(state)
      const every = (_: unknown, i: number) => oneOf === 1 || (i + n) % 2 === 0
      const lookers = callers.filter((_, i) => oneOf === 1 || i === n % callers.length)
      const sayers = callers.filter((_, i) => oneOf === 1 || (i + Math.floor(n / 3)) % 3 === 0)
      const sayings = writing.filter((_, i) => oneOf === 1 || i === n % writing.length)
      for (const { name, key } of lookers) {
        const { reads } = rights(key, ada.org, state)
        const open = key.projects?.includes('a') ?? true
        const then = state.expires ? [] : secrets.filter((_, i) => sees(key, ada.org, state.versions[i] as never))
        const given = (args: unknown) => secrets.filter((secret) => JSON.stringify(args).includes(secret))
        const check = (tool: string, args: unknown, body: string, may: readonly string[]) => {
          const shown = [...secrets, title].filter((secret) => body.includes(secret))
          const known = [
            ...may,
            ...given(args),
            ...(may.length > 0 || JSON.stringify(args).includes(title) ? [title] : []),
          ]
          expect([name, tool, shown.filter((secret) => !known.includes(secret))]).toEqual([name, tool, []])
        }
        for (const [tool, args] of reading.filter(every)) {
          if (!open && 'project' in args) continue
          const { body } = await world.call(key, tool, args)
          check(tool, args, body, reads ? [secrets[1] as string] : [])
          if (!reads && !JSON.stringify(args).includes(thread))
            expect([name, tool, body.includes(`"${thread}"`)]).toEqual([name, tool, false])
        }
        for (const [tool, args] of was.filter(every)) check(tool, args, (await world.call(key, tool, args)).body, then)
      }
      const mayChange = ({ key }: Pick<Caller, 'key'>) => rights(key, ada.org, state).changes
      // Restated words belong to their author, so these calls return only which entries are similar.
      for (const [tool, args] of sayings)
        for (const { name, key } of sayers.toSorted((a, b) => Number(mayChange(a)) - Number(mayChange(b)))) {
          if (key.role === 'reader' || !(key.projects?.includes('a') ?? true)) continue
          const { reads } = rights(key, ada.org, state)
          const { data, error } = await world.call(key, tool, args)
          expect([name, tool, error]).toEqual([name, tool, null])
          const like: Json[] = [...(data.conflicts ?? []), ...(data.similar ?? [])]
          if (!reads) expect([name, tool, like.some((other) => Number(other.id) === id)]).toEqual([name, tool, false])
          if (!mayChange({ key })) expect([name, tool, data.context_id === id]).toEqual([name, tool, false])
        }
    })
  })

  describe('who may not change an entry', () => {
    const listed = async (key: Key, goal: string, project?: string): Promise<number[]> => {
      const { sections } = await world.ok(key, 'context', { goal, ...(project ? { project } : {}) })
      return sections.flatMap(({ items }: Json) => items.map(({ id }: Json) => Number(id)))
    }

    it('takes its place in packs of nothing but the projects that it writes in', async () => {
      const org = await world.makeOrg('packs')
      const narrowed = await world.makeKey(org.org, { projects: ['a', 'b'], owner: 'eve' })
      const onlyA = await world.makeKey(org.org, { projects: ['a'], owner: 'zoe' })
      const wider = await world.makeKey(org.org, { projects: ['a', 'c'], owner: 'zoe' })
      const say = async (key: Key, title: string, more: object) =>
        Number(
          (
            await world.ok(key, 'remember', {
              title,
              content: `${title}: deploy on that day`,
              kind: 'decision',
              ...more,
            })
          ).id,
        )
      const everyones = await say(org, 'Deploy on Tuesdays', {})
      const own = await say(narrowed, 'Deploy on Fridays', { project: 'a', related_to: [`supersedes:${everyones}`] })
      const goal = 'on which day do we deploy'
      const both = [everyones, own].toSorted()
      const of = async (key: Key, project?: string) =>
        (await listed(key, goal, project)).filter((id) => both.includes(id)).toSorted()
      expect({
        'all of the org': await of(org),
        'project a': await of(org, 'a'),
        'project c': await of(org, 'c'),
        'a key of a': await of(onlyA),
        'a key of a and b': await of(narrowed),
        'a key of a and c': await of(wider),
      }).toEqual({
        'all of the org': both,
        'project a': [own],
        'project c': [everyones],
        'a key of a': [own],
        'a key of a and b': [own],
        'a key of a and c': both,
      })
      // If the caller may change it, it is superseded for everyone, even if others change the successor later.
      const { id } = await world.ok(org, 'remember', {
        ...{ title: 'Deploy on Mondays', content: 'deploy on Mondays from now on', kind: 'decision', project: 'a' },
        related_to: [`supersedes:${everyones}`],
      })
      expect((await of(org)).includes(everyones)).toBe(false)
      await world.ok(narrowed, 'update_context', { context_id: Number(id), tags: ['agreed'] })
      const { change_id } = await world.ok(narrowed, 'delete_context', { context_ids: [Number(id)] })
      await world.ok(narrowed, 'restore_context', { change_id })
      expect((await of(org)).includes(everyones)).toBe(false)
    })

    it('changes what another has linked without an end to the link, and makes none for others where it names one itself', async () => {
      const org = await world.makeOrg('makers')
      const narrowed = await world.makeKey(org.org, { projects: ['a'], owner: 'eve' })
      const store = async (key: Key, text: string, metadata: object) =>
        Number((await world.ok(key, 'store_context', { thread_id: 't', source: 'agent', text, metadata })).context_id)
      const update = (key: Key, id: number, more: object) =>
        world.ok(key, 'update_context', { context_id: id, ...more })
      const everyones = await store(org, 'The retro takes place on Tuesdays', { type: 'decision' })
      const about = (more: object) => ({ type: 'decision', project: 'a', ...more })
      const named = about({ supersedes: [everyones] })
      const next = await store(org, 'The retro takes place on Fridays', named)
      const stands = async () => (await listed(org, 'when does the retro take place')).includes(everyones)
      expect(await stands()).toBe(false)
      await update(narrowed, next, {
        metadata: { ...named, reviewed: true },
        text: 'The retro takes place on Fridays at noon',
      })
      expect(await stands()).toBe(false)
      const { change_id } = await world.ok(narrowed, 'delete_context', { context_ids: [next] })
      expect(await stands()).toBe(true)
      await world.ok(narrowed, 'restore_context', { change_id })
      expect(await stands()).toBe(false)
      await update(org, next, { metadata: about({ supersedes: null }) })
      expect(await stands()).toBe(true)
      await update(narrowed, next, { metadata: named })
      expect([await stands(), (await listed(narrowed, 'when does the retro take place')).includes(everyones)]).toEqual([
        true,
        false,
      ])
    })

    it('reads a memory that moved to its project in the thread in which it was stored', async () => {
      const org = await world.makeOrg('threads')
      const narrowed = await world.makeKey(org.org, { projects: ['a'], owner: 'eve' })
      const memory = { type: 'decision', content: 'moored at the pier', metadata: { projectPath: 'zeus' } }
      const { id } = await world.ok(org, 'context_store', memory)
      const move = (project: string) =>
        world.ok(org, 'update_context', { context_id: Number(id), metadata_patch: { project, projectPath: project } })
      await move('a')
      const { results } = await world.ok(narrowed, 'search_context', {})
      expect(results.map((entry: Json) => [String(entry.id), entry.thread_id])).toEqual([[id, 'project:zeus']])
      await move('zeus')
      const { threads } = await world.ok(org, 'list_threads')
      expect(threads.map((thread: Json) => [thread.thread_id, thread.entry_count])).toEqual([['project:zeus', 1]])
      expect((await world.ok(narrowed, 'search_context', {})).results).toEqual([])
    })
  })
}
