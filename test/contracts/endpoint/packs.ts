import { beforeAll, describe, expect, it } from 'vitest'
import type { Team } from '../../support/access'
import type { CallResult, Connect } from '../../support/clients'
import { sharedTeam, unique, useSession } from './session'

type Data = CallResult['data']

const itemsOf = (pack: Data): Data[] => pack.sections.flatMap(({ items }: { items: Data[] }) => items)
const idsOf = (pack: Data): string[] => itemsOf(pack).map(({ id }) => id)
const itemOf = (pack: Data, id: string): Data => itemsOf(pack).find((item) => item.id === id)

/** Remembering and packs over MCP (packs contract). */
export function packsContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok, fail } = session
  const remember = (title: string, content: string, args: object = {}) => ok('remember', { title, content, ...args })
  const pack = (goal: string, args: object = {}) => ok('context', { goal, ...args })
  const errorOf = async (name: string, args: Record<string, unknown>) => (await fail(name, args)).data.error
  /** A project of its own, and what remembers in it. */
  const inProject = () => {
    const project = unique('shop')
    const add = async (title: string, content: string, args: object = {}): Promise<string> =>
      (await remember(title, content, { project, ...args })).id
    return { project, add, ask: (goal: string, args: object = {}) => pack(goal, { project, ...args }) }
  }
  const read = async (id: string) => (await ok('get_context_by_ids', { context_ids: [id] })).result

  describe('remember', () => {
    it('[PLATFORM-14] lists context and remember at their own address and together with other families', async () => {
      const client = await session.connect('/mcp/packs')
      expect((await client.tools()).map(({ name }) => name)).toEqual(['context', 'remember'])
      await client.close()
      const all = (await session.client.tools()).map(({ name }) => name)
      expect(all).toEqual(expect.arrayContaining(['store_context', 'context_store', 'context', 'remember']))
    })

    it('[PACK-1] stores a titled memory verbatim in layer 2, by kind, project, domain, agent, tags and source', async () => {
      const project = unique('shop')
      const done = await remember('Rotate\nrefresh\u2028tokens', '  Refresh tokens rotate on each use. ', {
        ...{ kind: 'decision', project, tags: ['Auth'], domain: 'security', source_url: 'https://example.org/adr/7' },
        ...{ valid_at: '2026-01-02T03:04:05Z', agent_id: 'planner', metadata: { ticket: 'SEC-7', title: 'other' } },
      })
      expect(done).toEqual({
        ...{ success: true, id: expect.stringMatching(/^\d+$/), kind: 'decision', project, links: [], conflicts: [] },
      })
      const [entry] = await read(done.id)
      expect(entry).toMatchObject({
        ...{ thread_id: `project:${project}`, source: 'agent', tags: ['auth'] },
        text_content: '  Refresh tokens rotate on each use. ',
        metadata: {
          ...{ title: 'Rotate refresh tokens', kind: 'decision', project, domain: 'security', audience: 'project' },
          ...{ agent_name: 'planner', ticket: 'SEC-7', valid_at: '2026-01-02T03:04:05Z' },
          source_url: 'https://example.org/adr/7',
        },
      })
      const item = itemOf(await pack('how do refresh tokens rotate', { project }), done.id)
      expect(item.quality).toMatchObject({ url: 'https://example.org/adr/7', valid_at: '2026-01-02T03:04:05Z' })
      expect(item.metadata).toMatchObject({ ticket: 'SEC-7', tags: ['auth'], domain: 'security', agent: 'planner' })
      const plain = await remember('No project', 'of the whole org')
      expect((await read(plain.id))[0]).toMatchObject({ thread_id: 'memory' })
      const layers = (await ok('context_list', { layer: 2, projectPath: project })).memories
      expect(layers.map(({ id }: Data) => id)).toEqual([done.id])
    })

    it('[PACK-1] refuses bad arguments of remember and reports all problems, for an unknown kind with the list of kinds', async () => {
      const right = { title: 'a title', content: 'a content' }
      const kind = await errorOf('remember', { ...right, kind: 'nonsense' })
      expect([kind.code, kind.message]).toEqual(['invalid_input', expect.stringContaining('scratchpad')])
      const bad: [Record<string, unknown>, string][] = [
        [{ title: ' \n ' }, 'title'],
        [{ title: 'x'.repeat(201) }, 'title'],
        [{ content: ' ' }, 'content'],
        [{ status: 'doing' }, 'status'],
        [{ kind: 'task', status: 'resting' }, 'status'],
        [{ valid_at: 'soon' }, 'valid_at'],
        [{ related_to: ['likes:1'] }, 'related_to'],
        [{ related_to: ['x'] }, 'related_to'],
        [{ related_to: Array.from({ length: 21 }, (_, i) => String(i + 1)) }, 'related_to'],
        [{ audience: 'everyone' }, 'audience'],
        [{ audience: 'project' }, 'audience'],
        [{ diary: true }, 'agent_id'],
        [{ diary: true, agent_id: 'a', audience: 'org' }, 'audience'],
        [{ project: '  ' }, 'project'],
        [{ nonsense: 1 }, 'nonsense'],
        [{ metadata: { audience: 'nobody' } }, 'metadata.audience'],
        [{ metadata: { diary: 'yes' } }, 'metadata.diary'],
        [{ audience: 'org', metadata: { audience: 'private' } }, 'metadata.audience'],
        [{ project: 'north', metadata: { project: 'south' } }, 'metadata.project'],
      ]
      for (const [args, path] of bad) {
        const { code, details } = await errorOf('remember', { ...right, ...args })
        expect([code, details[0].path]).toEqual(['invalid_input', path])
      }
      // Of a list those are named that are wrong.
      const links = await errorOf('remember', {
        ...right,
        related_to: ['1', 'likes:1', 'supersedes:x'],
        from: ['1', 'y'],
      })
      expect(links.message).toContain('not "likes:1", "supersedes:x".')
      expect(links.message).toContain('from must contain IDs of entries, such as "42", not "y"')
      const several = await errorOf('remember', { title: '', content: '', kind: 'x' })
      expect(several.details.map(({ path }: Data) => path)).toEqual(['title', 'content', 'kind'])
    })

    it('[PACK-4] links to named entries, in both ways of naming them, or stores nothing', async () => {
      const { project, add, ask } = inProject()
      const [plan, rule] = [await add('Plan', 'ship the walrus'), await add('Rule', 'feed the walrus daily')]
      const made = await remember('Decision', 'the walrus gets fish', {
        ...{ project, kind: 'decision', related_to: [`depends_on:${plan}`, rule, `depends_on:${plan}`] },
      })
      expect(made.links).toEqual([
        { relation: 'depends_on', id: plan },
        { relation: 'related_to', id: rule },
      ])
      // A keyword of Python has a second name; both together are one list.
      const kept = await remember('Note', 'kept from both', { project, from: [plan], from_ids: [rule, plan] })
      expect(kept.links).toEqual([
        { relation: 'derived_from', id: plan },
        { relation: 'derived_from', id: rule },
      ])
      // A write of metadata leaves them alone.
      await ok('update_context', { context_id: made.id, metadata_patch: { depends_on: [Number(rule)] } })
      await ok('update_context', { context_id: made.id, metadata_patch: { depends_on: null } })
      const related = itemOf(await ask('what does the walrus get'), made.id).related
      expect(related).toEqual(
        expect.arrayContaining([
          { id: plan, type: 'note', name: 'Plan', relationship: 'depends_on', direction: 'outgoing', distance: 1 },
          { id: rule, type: 'note', name: 'Rule', relationship: 'related_to', direction: 'outgoing', distance: 1 },
        ]),
      )
      const { total_count: before } = await ok('search_context', { limit: 1 })
      const missing = await errorOf('remember', { title: 'x', content: 'y', related_to: ['987654321'] })
      expect([missing.code, missing.message]).toEqual(['not_found', expect.stringContaining('987654321')])
      expect((await ok('search_context', { limit: 1 })).total_count).toBe(before)
    })

    it('[PACK-7] names entries of the same kind and project with the same title or nearly the same text', async () => {
      const { project, add } = inProject()
      const text = 'We keep all money amounts as integers of cents, in the database and on the wire, without exception.'
      const first = await add('Money', text, { kind: 'rule' })
      const named = await add('Deployments', 'On Tuesdays only.', { kind: 'rule' })
      await add('Money', text, { kind: 'note' })
      await remember('Money', text, { kind: 'rule', project: unique('other') })
      const again = await remember(' money ', 'Amounts are decimals.', { kind: 'rule', project })
      expect(again.conflicts).toEqual([{ id: first, title: 'Money', reason: 'same title' }])
      const near = await remember('Amounts', text.replace('all money', 'money'), { kind: 'rule', project })
      expect(near.conflicts).toEqual([{ id: first, title: 'Money', reason: 'nearly the same text' }])
      const fresh = await remember('Holidays', 'Nobody deploys in August.', { kind: 'rule', project }) // prose-ignore
      expect([fresh.conflicts, named]).toEqual([[], expect.any(String)])
    })

    it('[PACK-9] stores a memory once if title, text, kind, project, owner and audience are equal, and names the differences', async () => {
      const { project, add } = inProject()
      const target = await add('Refunds', 'A refund is paid once.', { kind: 'rule' })
      const same = { title: 'Money', content: 'Amounts are integers of cents.', kind: 'task', project }
      const first = await ok('remember', { ...same, tags: ['a'], related_to: [`references:${target}`] })
      expect(first).not.toHaveProperty('existing')
      const again = await ok('remember', { ...same, tags: ['b'], related_to: [`references:${target}`] })
      expect(again).toMatchObject({ id: first.id, existing: true, conflicts: [] })
      expect(again).not.toHaveProperty('warnings')
      const args = {
        ...same,
        ...{ status: 'doing', related_to: [`depends_on:${target}`], idempotency_key: unique() },
        metadata: { expires_at: '2099-01-01T00:00:00Z' },
      }
      const other = await ok('remember', args)
      expect(other).toMatchObject({ id: first.id, existing: true })
      expect(other.warnings.join()).toMatch(/status.*links|expires_at.*links/)
      for (const name of ['status', 'expires_at', `depends_on:${target}`]) expect(other.warnings.join()).toContain(name)
      expect(await ok('remember', args)).toEqual({ ...other, replayed: true })
      const { result } = await ok('get_context_by_ids', { context_ids: [Number(first.id)] })
      expect(result[0]).toMatchObject({ tags: ['a', 'b'], version: 2 })
      const differing = [{ title: 'Cents' }, { content: 'Other.' }, { kind: 'epic' }, { project: unique('p') }]
      for (const more of [...differing, { audience: 'private' }])
        expect((await ok('remember', { ...same, ...more })).id).not.toBe(first.id)
      const many = { title: 'At once', content: 'Ten agents say so.', kind: 'rule', project } // prose-ignore
      const ids = await Promise.all(Array.from({ length: 10 }, async () => (await ok('remember', many)).id))
      expect(new Set(ids).size).toBe(1)
    })

    it('[PACK-11] reads the status of work from common words, stores the word as sent, and warns of an unknown word', async () => {
      const { project, ask } = inProject()
      const task = { title: 'Paint the boat', content: 'The hull of the boat gets new paint.', kind: 'task', project }
      const { id } = await ok('remember', { ...task, status: 'In-Progress' })
      const stored = async () =>
        (await ok('get_context_by_ids', { context_ids: [Number(id)] })).result[0].metadata.status
      expect([itemOf(await ask('paint the boat'), id).facet, await stored()]).toEqual(['active_work', 'In-Progress'])
      const found = {
        metadata_filters: [{ key: 'status', operator: 'eq', value: 'In-Progress' }],
        thread_id: `project:${project}`,
      }
      expect((await ok('search_context', found)).results).toHaveLength(1)
      const patched = await ok('update_context', { context_id: Number(id), metadata_patch: { status: 'completed' } })
      expect(patched).not.toHaveProperty('warnings')
      expect(itemOf(await ask('paint the boat'), id).facet).toBe('prior_art')
      const six = /todo, doing, blocked, review, done, archived/
      const odd = { context_id: Number(id), metadata_patch: { status: 'purple' } }
      expect((await ok('update_context', odd)).warnings.join()).toMatch(six)
      const turn = {
        thread_id: unique(),
        source: 'agent',
        text: 'odd',
        metadata: { kind: 'task', status: 'purple', project },
      }
      expect((await ok('store_context', turn)).warnings.join()).toMatch(six)
      expect((await ok('store_context_batch', { entries: [{ ...turn, text: 'odd too' }] })).warnings.join()).toMatch(
        six,
      )
      const free = { ...turn, text: 'free', metadata: { kind: 'decision', status: 'purple', project } }
      expect(await ok('store_context', free)).not.toHaveProperty('warnings')
      expect(await errorOf('remember', { ...task, title: 'Other', status: 'purple' })).toMatchObject({
        message: expect.stringMatching(six),
      })
    })

    it('warns of a status in the metadata that is none of work', async () => {
      const { project } = inProject()
      const task = { title: 'Odd', content: 'An odd one.', kind: 'task', project, metadata: { status: 'purple' } }
      expect((await ok('remember', task)).warnings.join()).toMatch(/todo, doing, blocked/)
    })

    it('refuses a link to the id that the new entry will get', async () => {
      const { project } = inProject()
      const { id } = await remember('First', 'The first one.', { project })
      const next = {
        title: 'Second',
        content: 'The second one.',
        project,
        related_to: [`supersedes:${Number(id) + 1}`],
      }
      expect(await errorOf('remember', next)).toMatchObject({ code: 'not_found' })
      const { results } = await ok('search_context', { thread_id: `project:${project}` })
      expect(results).toHaveLength(1)
    })

    it('reports no superseded entry as a conflict, by this memory or before', async () => {
      const { project } = inProject()
      const decide = async (text: string, more: Record<string, unknown> = {}) =>
        remember('Deploy day', text, { kind: 'decision', project, ...more })
      const tuesdays = await decide('We deploy on Tuesdays.')
      const other = await decide('Deployments happen at night.')
      expect(other.conflicts).toMatchObject([{ id: tuesdays.id }])
      const fridays = await decide('We deploy on Fridays.', { related_to: [`supersedes:${tuesdays.id}`] })
      expect(fridays.conflicts).toMatchObject([{ id: other.id }])
      expect((await decide('We deploy on Mondays.')).conflicts).toMatchObject([{ id: fridays.id }, { id: other.id }])
    })

    it('reports when there may be more conflicts than the ten listed', async () => {
      const { project, add } = inProject()
      for (let i = 0; i < 12; i++) await add('Tides', `On day ${i} the water stood ${i * 7} centimetres high.`)
      const args = { title: 'Tides', content: 'Look them up.', project, idempotency_key: unique() }
      const more = await ok('remember', args)
      expect([more.conflicts.length, more.warnings]).toEqual([
        10,
        ['conflicts names the newest 10; at least 2 more may say the same'],
      ])
      expect(await ok('remember', args)).toEqual({ ...more, replayed: true })
      expect(await remember('Ebb', 'Twice a day.', { project })).not.toHaveProperty('warnings')
    })

    it('[PACK-10] removes a superseded entry from packs at once, and restores it when its successor is deleted', async () => {
      const { project, add, ask } = inProject()
      const old = await add('Cache', 'The cart cache lives in Redis.', { kind: 'decision' })
      expect(idsOf(await ask('where does the cart cache live'))).toEqual([old])
      const next = await remember('Cart cache', 'The cart cache lives in the worker, no longer in Redis.', {
        ...{ kind: 'decision', project, related_to: [`supersedes:${old}`] },
      })
      expect(next.links).toEqual([{ relation: 'supersedes', id: old }])
      const after = await ask('where does the cart cache live')
      expect(idsOf(after)).toEqual([next.id])
      expect(itemsOf(after)[0].metadata.supersedes).toEqual([old])
      expect([after.diagnostics.omitted.superseded, after.markdown]).toEqual([
        1,
        expect.stringContaining(`supersedes [${old}]`),
      ])
      expect(await read(old)).toHaveLength(1)
      // Also by the metadata of an entry that another owner stores.
      const third = await session.store('The cart cache moved into the browser.', {
        metadata: { project, kind: 'decision', supersedes: next.id },
      })
      expect(idsOf(await ask('where does the cart cache live'))).toEqual([String(third)])
      await ok('delete_context', { context_ids: [third] })
      await ok('delete_context', { context_ids: [next.id] })
      expect(idsOf(await ask('where does the cart cache live'))).toEqual([old])
    })
  })

  describe('context', () => {
    it('[PACK-19] answers a pack with all of its keys', async () => {
      const { project, add, ask } = inProject()
      const content = 'Refresh tokens rotate on each use of the auth service.'
      const id = await add('Token rotation', content, { kind: 'decision', audience: 'org' })
      const goal = 'Add refresh-token rotation  to the auth service'
      expect(await ask(goal, { domain: 'security' })).toEqual({
        ...{ goal, intent: 'build', domain: 'security', project, layer: 'recall', total_items: 1 },
        query: 'Add refresh-token rotation to the auth service security',
        sections: [
          {
            ...{ facet: 'decisions', title: 'Decisions' },
            items: [
              {
                ...{ id, type: 'decision', name: 'Token rotation', content, facet: 'decisions', source: id },
                score: expect.any(Number),
                reason: expect.stringContaining('words: '),
                quality: {
                  ...{ origin: session.keyId, source: id, url: null, valid_at: null, project_id: project },
                  created_at: expect.stringMatching(/T.*Z$/),
                  updated_at: expect.stringMatching(/T.*Z$/),
                },
                ...{ metadata: {}, related: [] },
              },
            ],
          },
        ],
        usage_hint: expect.stringMatching(/^[^.]+ remember, [^.]+\.$/),
        markdown: expect.stringContaining(`### [${id}] Token rotation`),
        diagnostics: {
          ...{ degraded: false, modes: ['fts', 'semantic'] },
          omitted: { limit: 0, budget: 0, duplicate: 0, superseded: 0 },
        },
      })
      expect(await pack('nothing like it: xylophone')).toMatchObject({ domain: null, project: null })
    })

    it('[PACK-12] requires a goal, and refuses unknown intents, layers and budgets', async () => {
      for (const args of [{}, { goal: '' }, { goal: ' \u2028\n' }])
        expect(await errorOf('context', args)).toMatchObject({ code: 'invalid_input', message: 'goal is required' })
      for (const args of [{ intent: 'hack' }, { layer: 'deep' }, { max_tokens: 99 }, { max_tokens: 40_000 }])
        expect(await errorOf('context', { goal: 'g', ...args })).toMatchObject({ code: 'invalid_input' })
      expect(await errorOf('context', { goal: 'g'.repeat(10_001) })).toMatchObject({ code: 'invalid_input' })
    })

    it('[PACK-22] ranks first the entry whose alias the goal contains, also with a typo', async () => {
      const { add, ask } = inProject()
      const cluster = await add('Where services run', 'Everything is deployed with charts of the monorepo.', {
        ...{ kind: 'topic', metadata: { aliases: ['k8s', 'Kubernetes', 'base station'] } },
      })
      const holds = await add('Old scripts', 'They restart what hangs, on Kubernetes as well.', { kind: 'note' })
      const others = [
        'Herons nest early.',
        'Glaze runs when it is thick.',
        'Invoices leave on Fridays.',
        'Tides are late.',
      ]
      for (const [i, text] of others.entries()) await add(`Subject ${i}`, text, { kind: 'note' })
      for (const goal of ["what's our k8s story?", 'kubernetse upgrade', 'who owns the base station now?']) {
        const found = await ask(goal)
        expect([goal, idsOf(found)[0]]).toEqual([goal, cluster])
        expect(itemOf(found, cluster).reason).toMatch(/^called /)
      }
      expect(idsOf(await ask('why do scripts restart what hangs on Kubernetes?'))).toContain(holds)
    })

    it('[PACK-24] places each section by its best item, for any intent, and hides none', async () => {
      const { add, ask } = inProject()
      const kinds = ['task', 'decision', 'rule', 'gotcha', 'procedure', 'plan', 'idea', 'artifact', 'claim', 'note']
      const animals = ['heron', 'stork', 'crane', 'ibis', 'egret', 'gull', 'tern', 'auk', 'petrel', 'skua']
      for (const [i, kind] of [...kinds, 'verification'].entries())
        await add(`Invoice ${kind}`, `invoice export ${animals[i]} detail number ${i}`, { kind })
      for (const intent of ['build', 'plan', 'ideate', 'research', 'debug', 'decide', 'learn', 'general']) {
        const { sections } = await ask('invoice export', { intent })
        const best = sections.map(({ items }: Data) => items[0].score)
        expect([intent, sections.length, best]).toEqual([intent, 11, best.toSorted((x: number, y: number) => y - x)])
      }
    })

    it('[PACK-13] clamps the limit to its bounds and the cap of the layer without a warning, and counts the omitted items', async () => {
      const { add, ask } = inProject()
      const names = 'amber basalt cobalt dolomite emerald feldspar garnet hematite iolite jasper kyanite lapis'.split(
        ' ',
      )
      for (const name of names) await add(name, `the ${name} mine yields ore of another sort, ${name.repeat(2)}`)
      const total = async (args: object) => (await ask('which mine yields ore', args)).total_items
      expect(await Promise.all([total({ limit: -3 }), total({ limit: 0 }), total({ limit: '2' })])).toEqual([1, 1, 2])
      expect(await Promise.all([total({ limit: 900 }), total({ layer: 'wake', limit: 12 })])).toEqual([12, 8])
      const cut = await ask('which mine yields ore', { limit: 5 })
      expect(cut.diagnostics.omitted.limit).toBe(7)
      expect(cut.markdown).toContain('Left out: 7 beyond the limit')
    })

    it('[PACK-31] leads with work in flight, leaves archived work out, and shows finished work as prior art with its learnings', async () => {
      const { add, ask } = inProject()
      const work = (status: string) =>
        add(`Work ${status}`, `unlike anything else: ${status}`, { kind: 'task', status })
      const ids = Object.fromEntries(
        await Promise.all(['doing', 'blocked', 'review', 'todo', 'archived'].map(async (s) => [s, await work(s)])),
      )
      const matching = await add('Parser work', 'teach the parser about umlauts', { kind: 'task', status: 'todo' })
      const finished = await add('Old parser work', 'taught the parser about accents', {
        ...{ kind: 'task', status: 'done', metadata: { learnings: ['accents fold before case', 'tests first'] } },
      })
      const answer = await ask('teach the parser about accents and umlauts')
      const [active] = answer.sections
      expect(active.facet).toBe('active_work')
      const found = active.items.map(({ id }: Data) => id)
      expect(new Set(found.slice(0, 3))).toEqual(new Set([ids.doing, ids.blocked, ids.review]))
      expect(found.slice(3)).toEqual([matching])
      expect(active.items[0].reason).toContain('in progress')
      const prior = answer.sections.find(({ facet }: Data) => facet === 'prior_art')
      expect(prior.items.map(({ id, content }: Data) => [id, content])).toEqual([
        [finished, '- accents fold before case\n- tests first'],
      ])
      expect(idsOf(await ask('archived work: unlike anything else'))).not.toContain(ids.archived)
    })

    it('[PACK-34] leaves out ended and deleted entries, but no entry whose name or text a later one merely mentions', async () => {
      const { add, ask } = inProject()
      const gone = await add('Feature flag', 'the checkout feature flag is on')
      const ended = await add('Flag', 'the checkout feature flag is off for a test', {
        metadata: { expires_at: '2020-01-01T00:00:00Z' },
      })
      await ok('delete_context', { context_ids: [gone] })
      const kept = await add('Flags', 'a checkout feature flag is removed after a month')
      expect([idsOf(await ask('checkout feature flag')), ended]).toEqual([[kept], expect.any(String)])
      const runtime = await add('Runtime version', 'Services of the depot run on runtime 20.', { kind: 'decision' })
      const later = await add('Runtime 24 everywhere', 'Services of the depot run on 24 from now.', {
        kind: 'decision',
      })
      const answer = await ask('which runtime do services of the depot use')
      expect([idsOf(answer).sort(), answer.diagnostics.omitted.superseded]).toEqual([[runtime, later].sort(), 0])
      await add('Postgres', 'Orders of the depot are kept in Postgres, one database a region.', { kind: 'decision' }) // prose-ignore
      await add('Postgres backups', 'Postgres backups of the depot go to another region each night.', {
        kind: 'decision',
      })
      const named = itemsOf(await ask('what did we decide about Postgres for the depot')).map(({ name }) => name)
      expect(named).toEqual(expect.arrayContaining(['Postgres', 'Postgres backups']))
      // An entry that a later one supersedes ranks below it and names it.
      const minutes = await add('Boarding', 'Boarding of the ferry ends ten minutes early.', { kind: 'rule' })
      const shorter = await add('Gates', 'Boarding of the ferry ends at the bell: replaces the rule Boarding.', {
        kind: 'rule',
      })
      const boarding = await ask('when does boarding of the ferry end')
      expect(idsOf(boarding).filter((id) => [minutes, shorter].includes(id))).toEqual([shorter, minutes])
      expect(itemOf(boarding, minutes)).toMatchObject({
        ...{ metadata: { later: shorter }, reason: expect.stringContaining(`replaced by [${shorter}]`) },
      })
    })

    it('[PACK-23] returns every entry that holds all words of a goal, and all entries of a series', async () => {
      const { add, ask } = inProject()
      const places = [
        'amber',
        'birch',
        'cedar',
        'delta',
        'ember',
        'fjord',
        'grove',
        'heron',
        'inlet',
        'jade',
        'kelp',
        'larch',
      ]
      for (const [i, place] of places.entries()) {
        const text = `The sextant calibration at the ${place} mooring uses table ${i} beside the ${places[(i + 5) % 12]} chart.` // prose-ignore
        await add(`Sextant ${place}`, text, { kind: i % 2 ? 'decision' : 'note' })
      }
      const answer = await ask('sextant calibration')
      expect([answer.total_items, answer.diagnostics.omitted.superseded]).toEqual([places.length, 0])
      expect((await ask('holiday calendar of the office')).total_items).toBe(0)
    })

    it('[PACK-36] collapses near-duplicates into the best one', async () => {
      const { add, ask } = inProject()
      const text = 'The nightly backup of the ledger runs at two and is verified by a restore every Monday morning.'
      const ids = [await add('Backup', text), await add('Backup', `${text} `), await add('Backup', text.toUpperCase())]
      const other = await add('Restore', 'A restore of the ledger backup takes forty minutes on the small machine.')
      const answer = await ask('when does the ledger backup run and how long is a restore')
      const found = idsOf(answer)
      expect([found.length, found.includes(other), ids.filter((id) => found.includes(id)).length]).toEqual([2, true, 1])
      expect(answer.diagnostics.omitted.duplicate).toBe(2)
    })

    it('[PACK-37] shows both sides of a contradiction, each naming the other', async () => {
      const { project, add, ask } = inProject()
      const text = 'Retries of the payment webhook are limited to'
      const one = await add('Webhook retries', `${text} five.`, { kind: 'decision' })
      const two = await remember('Webhook retries', `${text} nine.`, {
        ...{ project, kind: 'decision', related_to: [`contradicts:${one}`] },
      })
      const answer = await ask('payment webhook retries')
      expect(new Set(idsOf(answer))).toEqual(new Set([one, two.id]))
      expect(itemOf(answer, one).metadata.conflicts_with).toEqual([two.id])
      expect(itemOf(answer, two.id).metadata.conflicts_with).toEqual([one])
      expect(answer.markdown).toContain(`conflicts with [${one}]`)
    })

    it('[PACK-25] returns nothing for an unrelated goal, and scores that mean the same in every call', async () => {
      const { add, ask } = inProject()
      for (const topic of ['payments', 'refunds', 'shipping', 'returns', 'taxes', 'invoices'])
        await add(`About ${topic}`, `How ${topic} are booked in the ledger at the end of each month.`)
      const unrelated = await ask('knit a woollen jumper for a penguin')
      expect([unrelated.total_items, unrelated.markdown]).toEqual([
        0,
        expect.stringContaining('No stored memory is about this goal.'),
      ])
      const { sections, markdown } = await ask('how are refunds booked in the ledger')
      expect(markdown).not.toContain('No stored memory')
      expect(sections[0].items[0].name).toBe('About refunds')
      const scores = itemsOf({ sections }).map(({ score }) => score)
      expect(scores.every((score) => score > 0 && score <= 1)).toBe(true)
      // The same evidence counts the same, whatever else there is.
      const best = scores[0]
      await add('About wages', 'How wages are booked in the ledger at the end of each month.')
      const again = itemsOf(await ask('how are refunds booked in the ledger'))[0].score
      expect(Math.abs(again - best)).toBeLessThan(0.1)
    })

    it('[PACK-21] finds entries with the same error code, path, function or version', async () => {
      const { add, ask } = inProject()
      for (let i = 0; i < 12; i++)
        await add(
          `Connection trouble ${i}`,
          `The connection failed with E_CONN_${100 + i} while the queue was ${i} deep.`,
        )
      const path = await add('Sessions', 'See src/auth/session-store.ts, where rotateRefreshToken lives since v2.3.1.')
      const first = async (goal: string) => itemsOf(await ask(goal, { intent: 'debug', limit: 1 }))[0]
      const code = await first('why does the connection fail with E_CONN_107')
      expect([code.name, code.reason]).toEqual(['Connection trouble 7', expect.stringContaining('107')])
      for (const goal of ['change src/auth/session-store.ts', 'what calls rotateRefreshToken', 'upgrade to v2.3.1'])
        expect((await first(goal)).id).toBe(path)
    })

    it('[PACK-27] names linked entries in both directions up to the limit, two steps away in a deep search, none in wake', async () => {
      const { project, add, ask } = inProject()
      const hub = await add('Turbine', 'the turbine spins at three thousand')
      const far = await add('Grid', 'electricity for everyone')
      const near = await remember('Gearbox', 'wheels of brass', {
        project,
        related_to: [`part_of:${hub}`, `supports:${far}`],
      })
      for (let i = 0; i < 4; i++)
        await remember(`Bolt ${i}`, `steel ${i}`, { project, related_to: [`requires:${hub}`] })
      const secret = await remember('Hidden', 'x', { project, audience: 'private', related_to: [hub] })
      const related = async (args: object = {}) =>
        itemOf(await ask('how fast does the turbine spin', args), hub).related
      const all = await related({ related_limit: 5 })
      expect(all).toHaveLength(5)
      for (const one of all) expect(one).toMatchObject({ direction: 'incoming', distance: 1 })
      expect(all[0]).toMatchObject({ id: secret.id, relationship: 'related_to' })
      expect(await related()).toHaveLength(3)
      expect(await related({ related_limit: 99 })).toHaveLength(5)
      expect(await related({ include_related: false })).toEqual([])
      expect(await related({ related_limit: 0 })).toEqual([])
      expect(await related({ layer: 'wake' })).toEqual([])
      const deep = itemOf(await ask('wheels of brass', { layer: 'deep_search', related_limit: 5 }), near.id).related
      expect(deep.slice(0, 2).map(({ id, distance }: Data) => [id, distance])).toEqual([
        [far, 1],
        [hub, 1],
      ])
      expect(deep[2]).toMatchObject({ distance: 2 })
      const near1 = itemOf(await ask('wheels of brass', { related_limit: 5 }), near.id).related
      expect(near1.map(({ id, distance }: Data) => [id, distance])).toEqual(
        deep.slice(0, 2).map(({ id }: Data) => [id, 1]),
      )
    })

    it('[PACK-21] draws on entries of every vocabulary, typed or not', async () => {
      const project = unique('shop')
      const turn = await session.store('we said the parcel tracker polls every ten minutes', { metadata: { project } })
      const { id } = await ok('context_store', {
        ...{ type: 'bug_fix', content: 'parcel tracker polls failed when the carrier was down' },
        metadata: { projectPath: project },
      })
      const note = (await remember('Tracker', 'parcel tracker polls belong into the queue', { project })).id
      const answer = await pack('how does the parcel tracker poll', { project, intent: 'debug' })
      expect(
        answer.sections.map(({ facet, items }: Data) => [facet, items.map((item: Data) => item.id).sort()]),
      ).toEqual([
        ['gotchas', [id]],
        ['recent_memory', [String(turn), note].sort()],
      ])
    })

    it('[PACK-20] prefers a domain and leaves out no other', async () => {
      const { add, ask } = inProject()
      const text = (of: string) => `A retry policy waits longer each time, says the ${of} handbook of the company.`
      const other = await add('Retry policy of mail', text('post'), { domain: 'mail' })
      const wanted = await add('Retry policy of cash', text('bank'), { domain: 'payments' })
      await add('Retry policy of chat', text('chat'))
      expect(itemsOf(await ask('retry policy', { domain: 'payments' }))[0].id).toBe(wanted)
      expect(idsOf(await ask('retry policy', { domain: 'mail' }))[0]).toBe(other)
      expect(idsOf(await ask('retry policy', { domain: 'mail' }))).toHaveLength(3)
    })

    it('[PACK-38] answers the same call with the same bytes', async () => {
      const { add, ask } = inProject()
      for (let i = 0; i < 9; i++)
        await add(`Rule ${i}`, `lint rule ${i} of the house says number ${i * i}`, { kind: 'rule' })
      const answers = await Promise.all(
        [1, 2, 3].map(() => ask('which lint rules has the house', { layer: 'deep_search' })),
      )
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    })

    it('holds one short item also in the smallest budget', async () => {
      const { add, ask } = inProject()
      const content = 'The kiln of the upper workshop needs nine hours to cool.'
      const id = await add('Cooling of the kiln', content, {
        ...{
          kind: 'decision',
          domain: 'ceramics',
          tags: ['kiln', 'cooling'],
          metadata: { ticket: 'KILN-7', floor: 2 },
        },
      })
      const goal = 'how many hours does the kiln of the workshop need to cool down before somebody may open its door' // prose-ignore
      for (const max_tokens of [100, 110, 120, 150, 200]) {
        const { sections, markdown, total_items, diagnostics } = await ask(goal, { max_tokens, include_related: false })
        expect([max_tokens, total_items, diagnostics.omitted.budget]).toEqual([max_tokens, 1, 0])
        expect(sections[0].items[0]).toMatchObject({ id, content: expect.stringMatching(/^The kiln of the upper/) })
        expect(markdown).not.toContain('> ')
        expect(JSON.stringify(sections).length).toBeLessThanOrEqual(max_tokens * 4)
        expect(markdown.length).toBeLessThanOrEqual(max_tokens * 4)
        expect(markdown).toMatch(/Left out: nothing\.\n$/)
      }
    })

    it('[PACK-14] limits sections and markdown to the budget each, and cuts long contents around the match', async () => {
      const { add, ask } = inProject()
      const filler = 'Nothing of note happens in this sentence, which only fills the page. '
      for (let i = 0; i < 14; i++)
        await add(
          `Part ${i}`,
          `${filler.repeat(60)}The kiln of workshop ${i} needs ${i} hours "to" cool.\n${filler.repeat(60)}`,
        )
      const goal = 'how many hours does the kiln of a workshop need to cool'
      for (const max_tokens of [100, 300, 800, 2_000, 9_000]) {
        const answer = await ask(goal, { max_tokens })
        expect(JSON.stringify(answer.sections).length).toBeLessThanOrEqual(max_tokens * 4)
        expect(answer.markdown.length).toBeLessThanOrEqual(max_tokens * 4)
        if (max_tokens >= 2_000) expect(answer.total_items).toBeGreaterThan(1)
        const { limit, budget, duplicate } = answer.diagnostics.omitted
        expect(answer.total_items + limit + budget + duplicate).toBe(14)
      }
      const full = await ask(goal)
      expect(JSON.stringify(full.sections).length).toBeLessThanOrEqual(16_000)
      for (const { content } of itemsOf(full)) {
        expect([...content].length).toBeLessThanOrEqual(1_500)
        expect(content).toContain('kiln of workshop')
        expect(content).toMatch(/^….*…$/su)
      }
      expect(itemsOf(full)[0].metadata.total_chars).toBeGreaterThan(1_500)
      expect(full.usage_hint).toMatch(/read_context_range reads the rest of items with total_chars\.$/)
      expect((await ask(goal, { layer: 'wake' })).markdown.length).toBeLessThan(4_800)
    })
  })

  describe('packs of several people', () => {
    let team: Team
    beforeAll(async () => {
      team = await sharedTeam()
    })
    const as = (key: string) => ({
      remember: async (title: string, content: string, args: object = {}): Promise<string> => {
        const { data, isError, text } = await team.call(key, 'remember', { title, content, ...args })
        if (isError) throw new Error(text)
        return data.id
      },
      ask: async (goal: string, args: object = {}) => (await team.call(key, 'context', { goal, ...args })).data,
      fails: async (name: string, args: Record<string, unknown>) => (await team.call(key, name, args)).data.error,
    })

    it('[PACK-16] answers goals and entries of the largest size', async () => {
      const ada = as((await team.key(unique('org'))).key)
      const long = await ada.remember('One letter', 'a'.repeat(1_000_000))
      const late = await ada.remember(
        'Late',
        `${'filler words without end. '.repeat(30_000)} the zeppelin lands at noon`,
      )
      const answer = await ada.ask(`zeppelin ${'q '.repeat(4_900)}`)
      expect(itemOf(answer, late).content).toContain('the zeppelin lands at noon')
      expect((await ada.ask('One letter')).total_items).toBeGreaterThan(0)
      expect([...itemOf(await ada.ask('One letter'), long).content].length).toBeLessThanOrEqual(1_500)
      expect((await ada.ask(`${'\u{1F642}'.repeat(10_000)}`)).total_items).toBe(0)
    })

    it('[PACK-29] includes private entries for their owner alone, and never reveals what they supersede', async () => {
      const org = unique('org')
      const ada = as((await team.key(org, { owner: 'ada' })).key)
      const eve = as((await team.key(org, { owner: 'eve' })).key)
      const mine = await ada.remember('Salary plan', 'the salary plan of ada', { audience: 'private' })
      const all = await ada.remember('Salary bands', 'the salary bands of everyone')
      const hidden = await ada.remember('Bands', 'the new salary bands', {
        audience: 'private',
        related_to: [`supersedes:${all}`],
      })
      expect(new Set(idsOf(await ada.ask('salary plan and bands')))).toEqual(new Set([mine, hidden]))
      const seen = await eve.ask('salary plan and bands')
      expect(idsOf(seen)).toEqual([all])
      expect([itemsOf(seen)[0].related, seen.diagnostics.omitted.superseded]).toEqual([[], 0])
      expect(await eve.fails('remember', { title: 'x', content: 'y', related_to: [mine] })).toMatchObject({
        code: 'not_found',
      })
    })

    it('[PACK-30] adds diary pages of the named agent to the packs of their owner, for any intent', async () => {
      const org = unique('org')
      const ada = as((await team.key(org, { owner: 'ada', agent: 'runner' })).key)
      const twin = as((await team.key(org, { owner: 'ada' })).key)
      const eve = as((await team.key(org, { owner: 'eve', agent: 'runner' })).key)
      const page = await ada.remember('Rehearsal', 'dear diary: the rehearsal went badly at step nine', { diary: true })
      const other = await ada.remember('Other page', 'dear diary: rehearsal of another agent', {
        diary: true,
        agent_id: 'walker',
      })
      for (const intent of ['build', 'plan', 'debug', 'learn'])
        expect(idsOf(await twin.ask('paint the fence', { intent, agent_id: 'runner' }))).toEqual([page])
      expect(idsOf(await ada.ask('how did the rehearsal go at step nine', { agent_id: 'walker' }))).toEqual([other])
      expect(idsOf(await ada.ask('how did the rehearsal go at step nine'))).toEqual([])
      expect(idsOf(await eve.ask('how did the rehearsal go at step nine', { agent_id: 'runner' }))).toEqual([])
      const [item] = itemsOf(await ada.ask('how did the rehearsal go at step nine', { agent_id: 'runner' }))
      expect([item.metadata.diary, item.reason]).toEqual([true, expect.stringContaining('diary')])
    })

    it('[PACK-6] applies audience and project of metadata like the arguments, and refuses arguments that disagree', async () => {
      const org = unique('org')
      const ada = as((await team.key(org, { owner: 'ada', agent: 'runner' })).key)
      const eve = as((await team.key(org, { owner: 'eve' })).key)
      const mine = await ada.remember('Salary', 'the keeper earns nine shells a moon', {
        metadata: { audience: 'private' },
      })
      const page = await ada.remember('Page', 'dear diary: the keeper earns too little', { metadata: { diary: true } })
      const placed = await ada.remember('Wages', 'every keeper earns his lamp oil too', {
        metadata: { project: 'north' },
      })
      const found = async (who: typeof ada, args: object = {}) =>
        new Set(idsOf(await who.ask('what the keeper earns', args)))
      expect(await found(eve)).toEqual(new Set([placed]))
      expect(await found(eve, { project: 'south' })).toEqual(new Set())
      expect(await found(ada, { agent_id: 'runner' })).toEqual(new Set([mine, page, placed]))
    })

    it('[PACK-25] reports the closest entries if none clearly fits, a project without results, and work in flight beyond its places', async () => {
      const org = unique('org')
      const ada = as((await team.key(org)).key)
      const ids: string[] = []
      for (let i = 0; i < 20; i++)
        ids.push(await ada.remember(`Chore ${i}`, `peel the ${i} potatoes of the galley`, { project: 'ketch' }))
      const token = await ada.remember('Sessions', 'refresh tokens rotate on every use and are stored hashed', {
        project: 'ketch',
      })
      const goal = { goal: 'hashed passwords for external partner accounts in the shop', project: 'ketch' }
      const nearest = await ada.ask(goal.goal, { project: goal.project })
      expect([idsOf(nearest)[0], nearest.markdown]).toEqual([
        token,
        expect.stringContaining('Nothing clearly fits; the nearest are below.'),
      ])
      expect(nearest.usage_hint).toMatch(/^Nothing clearly fits; the nearest are in this pack: search before/)
      const foreign = await ada.ask('gaff rig of the ketch', { project: 'kecht' })
      expect(foreign.markdown).toContain('No result is in project kecht')
      expect((await ada.ask('peel potatoes', { project: 'ketch' })).markdown).not.toContain('No result is in project')
      const rule = await ada.remember('Ropes', 'coil ropes sunwise', { kind: 'rule', metadata: { status: 'archived' } })
      expect(idsOf(await ada.ask('how to coil ropes'))).toEqual([rule])
      for (let i = 0; i < 12; i++)
        await ada.remember(`Task ${i}`, `mend sail ${i}`, { kind: 'task', status: 'doing', project: 'ketch' })
      const { diagnostics, markdown } = await ada.ask('pomelo grove', { project: 'ketch' })
      expect(diagnostics.omitted.limit).toBeGreaterThan(0)
      expect(markdown).toContain(`Left out: ${diagnostics.omitted.limit} beyond the limit`)
    })

    it('asks whether other words were meant where no entry contains some words of the goal', async () => {
      const ada = as((await team.key(unique('org'))).key)
      await ada.remember('Refunds', 'a refund is paid to the card of the booking within five days')
      const kitchen = await ada.remember('Bordküche', 'In der Bordküche arbeitet nur Personal mit Ausweis.')
      const misspelled = await ada.ask('refnud')
      expect(misspelled.usage_hint).toMatch(/; did you mean refund\?$/)
      expect(misspelled.markdown).toContain('No entry contains some words of the goal; did you mean refund?')
      expect((await ada.ask('refund')).usage_hint).not.toContain('did you mean')
      expect((await ada.ask('xqzvwplk')).usage_hint).not.toContain('did you mean')
      expect(idsOf(await ada.ask('Wer darf in die Küche?'))).toContain(kitchen)
    })

    it('answers a German or Japanese goal with entries that share a word with it', async () => {
      const ada = as((await team.key(unique('org'))).key)
      const german = await ada.remember('Fahrplan', 'Der Winterfahrplan gilt ab dem ersten Dezember auf allen Linien.')
      const japanese = await ada.remember('運航', '強風の場合、船長が欠航を決める。乗客には通知が届く。')
      expect(idsOf(await ada.ask('Welche Linien fallen bei Eis aus und wer ruft die Schule an?'))).toContain(german)
      expect(idsOf(await ada.ask('欠航のとき払い戻しはどうなりますか'))).toContain(japanese)
    })

    it('[PACK-28] returns entries of the project and of no project, and refuses projects that are not open', async () => {
      const org = unique('org')
      const admin = as((await team.key(org, { role: 'admin', owner: 'ada' })).key)
      const narrow = as((await team.key(org, { projects: ['north', 'south'] })).key)
      const one = as((await team.key(org, { projects: ['north'] })).key)
      const text = (of: string) => `the ${of} lighthouse keeper keeps a log book of ships`
      const north = await admin.remember('North', text('north'), { project: 'north' })
      const south = await admin.remember('South', text('south'), { project: 'south' })
      const west = await admin.remember('West', text('west'), { project: 'west', related_to: [`supersedes:${north}`] })
      const none = await admin.remember('All', 'every lighthouse keeper keeps a log book of ships')
      const found = async (who: typeof admin, args: object = {}) =>
        new Set(idsOf(await who.ask('lighthouse keeper log book', args)))
      expect(await found(admin)).toEqual(new Set([south, west, none]))
      expect(await found(admin, { project: 'north' })).toEqual(new Set([north, none]))
      expect(await found(narrow)).toEqual(new Set([north, south, none]))
      expect(await found(one)).toEqual(new Set([north, none]))
      for (const project of ['west', 'never-was'])
        for (const [name, args] of [
          ['context', { goal: 'g' }],
          ['remember', { title: 't', content: 'c' }],
        ] as const)
          expect(await narrow.fails(name, { ...args, project })).toMatchObject({
            ...{ code: 'forbidden', message: `Project access denied: ${project}` },
          })
      expect(await narrow.fails('remember', { title: 't', content: 'c' })).toMatchObject({
        ...{ code: 'invalid_input', message: expect.stringContaining('north, south') },
      })
      const { key } = await team.key(org, { projects: ['north'] })
      expect((await team.call(key, 'remember', { title: 't', content: 'c' })).data.project).toBe('north')
    })

    it('[PACK-45] writes one audit row for a pack and for a denial, with ids and without the goal', async () => {
      const org = unique('org')
      const reader = (await team.key(org, { role: 'reader', projects: ['north'] })).key
      const writer = (await team.key(org, { agent: 'pen' })).key
      const id = await as(writer).remember('Tide', 'the tide table is wrong by an hour', { project: 'north' })
      await as(reader).ask('secret words: tide table', { intent: 'debug' })
      await as(reader).fails('context', { goal: 'secret words', project: 'south' })
      await as(reader).fails('remember', { title: 't', content: 'c' })
      const admin = (await team.key(org, { role: 'admin' })).key
      const { body, text } = await team.api(`/orgs/${org}/audit`, admin)
      const rows = body.events.filter(({ tool }: Data) => tool !== null)
      expect(rows.map(({ tool, ids, allowed }: Data) => [tool, ids, allowed])).toEqual([
        ['remember', [Number(id)], true],
        ['context', [Number(id)], true],
        ['context', [], false],
        ['remember', [], false],
      ])
      expect(rows[1].detail).toEqual({ intent: 'debug', layer: 'recall', project: 'north', items: 1 })
      expect(text).not.toContain('secret words')
    })
  })
}
