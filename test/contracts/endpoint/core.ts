import { beforeAll, describe, expect, it } from 'vitest'
import type { Team } from '../../support/access'
import { base64, pngBytes } from '../../support/scope'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any

const tokens = (value: Json): number => JSON.stringify(value).length / 4
const LONG = (words: string) =>
  `# Report\n${`Words about ${words} and other things.\n`.repeat(40)}## Outcome\n${words} won.\n`

/** The ten tools of `/mcp/core` (core contract). */
export function coreContract(): void {
  describe('core', () => {
    let team: Team
    let org: string
    let ada: string
    let eve: string
    beforeAll(async () => {
      team = await sharedTeam()
      org = unique('org')
      ada = (await team.key(org, { name: 'ada', agent: 'claude', owner: 'ada' })).key
      eve = (await team.key(org, { name: 'eve', agent: 'codex', owner: 'eve' })).key
    })

    let id = 0
    async function rpc(method: string, params: Json, bearer: string, path = '/mcp/core'): Promise<Json> {
      const body = { jsonrpc: '2.0', id: ++id, method, params }
      const { text } = await team.ask(path, bearer, 'POST', body, { accept: 'application/json, text/event-stream' })
      const line = text.startsWith('{')
        ? text
        : (text.split('\n').find((one) => one.startsWith('data:')) ?? '').slice(5)
      return JSON.parse(line)
    }
    async function call(
      name: string,
      args: Json,
      bearer = ada,
      path?: string,
    ): Promise<{ data: Json; error: string | null }> {
      const { result, error } = await rpc('tools/call', { name, arguments: args }, bearer, path)
      if (error !== undefined) return { data: null, error: error.message }
      return { data: result.structuredContent, error: result.isError ? result.content[0].text : null }
    }
    async function ok(name: string, args: Json = {}, bearer = ada): Promise<Json> {
      const { data, error } = await call(name, args, bearer)
      if (error !== null) throw new Error(`${name} failed: ${error}`)
      return data
    }
    async function fail(name: string, args: Json, bearer = ada): Promise<string> {
      const { data, error } = await call(name, args, bearer)
      if (error === null) throw new Error(`${name} should fail, but answered ${JSON.stringify(data)}`)
      return error
    }
    const remember = async (title: string, content: string, args: Json = {}, bearer = ada): Promise<number> =>
      (await ok('remember', { title, content, ...args }, bearer)).id

    /** Plays a session of a client that changes two files; its entry waits for review. */
    async function captured(bearer: string, project: string, audience: string, prompt: string, answer: string) {
      const session_id = unique('s')
      const place = { project, audience, folder: '/w' }
      const tool = { tool_name: 'Edit', tool_response: {} }
      const events = [
        { hook_event_name: 'UserPromptSubmit', prompt },
        { hook_event_name: 'PostToolUse', ...tool, tool_use_id: 'a', tool_input: { file_path: 'a.ts' } },
        { hook_event_name: 'PostToolUse', ...tool, tool_use_id: 'b', tool_input: { file_path: 'b.ts' } },
        { hook_event_name: 'Stop', last_assistant_message: answer },
        { hook_event_name: 'SessionEnd' },
      ].map((event, i) => ({
        ...{ id: `${session_id}-${i}`, at: 1_000 + i, place },
        event: { ...event, session_id, permission_mode: 'default' },
      }))
      const { status } = await team.ask('/api/v1/hooks/claude-code', bearer, 'POST', { events })
      expect(status).toBe(200)
    }

    it('finds captured sessions of the owner behind memories in context and search, and never those of others', async () => {
      const project = unique('proj')
      const word = unique('quagga')
      await captured(ada, project, 'private', `Why does the ${word} pump stall?`, `The ${word} pump stalls at night.`)
      await captured(eve, project, 'project', `Why does the ${word} valve leak?`, `The ${word} valve leaks.`)
      const titles = (found: Json): string[] => found.map(({ title }: Json) => title)
      const goal = `${word} pump stalls`
      const contextTitles = async (args: Json = {}) =>
        (await ok('context', { goal, project, ...args })).sections.flatMap(({ memories }: Json) => titles(memories))
      const mine = `Why does the ${word} pump stall?`
      // Before there is any memory.
      const first = await ok('search', { query: goal })
      expect(titles(first.results)).toEqual([mine])
      expect(first.results[0].captured).toBe(true)
      expect(JSON.stringify(first.warnings ?? [])).not.toContain('Nothing')
      const pack = await ok('context', { goal, project })
      expect(pack.sections.map(({ title }: Json) => title)).toEqual(['Your sessions, not approved yet'])
      expect(JSON.stringify(pack)).toContain('stalls at night')
      expect(pack.hint ?? '').not.toContain('Nothing')
      // Behind a memory that matches too.
      await remember('Pumps', `The ${word} pump stalls when cold`, { kind: 'gotcha', project })
      expect(titles((await ok('search', { query: goal })).results)).toEqual(['Pumps', mine])
      expect(await contextTitles()).toEqual(['Pumps', mine])
      // By wish.
      for (const mode of ['hybrid', 'words', 'exact'])
        expect(titles((await ok('search', { query: `${word} pump stall`, mode, captured: 'only' })).results)).toEqual([
          mine,
        ])
      expect(titles((await ok('search', { query: goal, captured: 'exclude' })).results)).toEqual(['Pumps'])
      expect(titles((await ok('search', { project, captured: 'only' })).results)).toEqual([mine])
      expect(await contextTitles({ captured: 'exclude' })).toEqual(['Pumps'])
      expect(await contextTitles({ captured: 'only' })).toEqual([mine])
      // Others find their own, also where the audience would let them read it.
      expect(titles((await ok('search', { query: word }, eve)).results)).toEqual([
        'Pumps',
        `Why does the ${word} valve leak?`,
      ])
      expect(JSON.stringify(await ok('search', { query: word }))).not.toContain('valve')
      expect(JSON.stringify(await ok('context', { goal: word, project }))).not.toContain('valve')
    })

    it('lists a memory that a captured session displaces as omitted', async () => {
      const project = unique('proj')
      const word = unique('okapi')
      for (let i = 0; i < 5; i++)
        await remember(`Note ${i}`, `Words about ${word} ${'and other things '.repeat(40)}`, { project })
      await captured(ada, project, 'private', `${word} gearbox grinding`, `The ${word} gearbox grinds.`)
      const { results, omitted } = await ok('search', { query: `${word} gearbox grinding`, project, limit: 5 })
      expect(results).toHaveLength(5)
      expect(results.at(-1).captured).toBe(true)
      expect(omitted).toHaveLength(1)
    })

    it('lists its tools at /mcp/core alone, and answers calls of its former tools with the name of the new one', async () => {
      const { result } = await rpc('tools/list', {}, ada)
      expect(result.tools.map(({ name }: Json) => name)).toEqual([
        ...['context', 'remember', 'search', 'fetch', 'update', 'forget', 'restore', 'history', 'changes', 'projects'],
      ])
      const all = (await rpc('tools/list', {}, ada, '/mcp')).result.tools.map(({ name }: Json) => name)
      expect(all).not.toContain('forget')
      expect(await fail('hybrid_search_context', { query: 'x' })).toBe(
        'hybrid_search_context is not a tool of this address. Call search',
      )
      expect(await fail('nonsense', {})).toContain('Unknown tool: nonsense')
    })

    it('uses one vocabulary in arguments and results, without nulls, empty texts or key ids', async () => {
      const project = unique('p')
      const one = await remember('Deploy day', 'We deploy on Tuesdays.', { project, kind: 'rule', tags: ['ci'] })
      const other = await remember('Deploy night', 'We deploy at night.', { project, replaces: [one], related_to: [] })
      const memory = { id: one, title: 'Deploy day', kind: 'rule', project, tags: ['ci'], by: 'claude' }
      expect(await ok('fetch', { id: one })).toEqual({
        ...{
          ...memory,
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          content: 'We deploy on Tuesdays.',
        },
        ...{ version: 1, replaced_by: other },
      })
      const { results } = await ok('search', { query: 'deploy on tuesdays', project })
      expect(results[1]).toEqual({
        ...memory,
        at: expect.any(String),
        content: 'We deploy on Tuesdays.',
        replaced_by: other,
      })
      expect(JSON.stringify(results)).not.toMatch(/null|""|score|key_/)
      const [first] = (await ok('search', { query: 'deploy on tuesdays', project, explain: true })).results
      expect(first.scores.score).toBeGreaterThan(0)
      const [change] = (await ok('changes', { since: '1 hour ago', project })).changes
      expect(change).toMatchObject({ action: 'stored', id: one, kind: 'rule', project, by: 'claude' })
    })

    const RETENTION = 'Audit logs of the gateway are retained for thirty days and then deleted from the bucket.'
    const LONGER = 'We retain audit logs of the gateway for ninety days in the archive bucket.'

    it('[CORE-18, CORE-19] names the earlier memories on the subject of a new one, with the calls that record a judgement', async () => {
      const project = unique('p')
      const first = await remember('Retention', RETENTION, { project, kind: 'decision' })
      await remember('Laptops', 'Interns choose their laptop colour in the first week.', { project, kind: 'decision' })
      const idempotency_key = unique('key')
      const args = { title: 'How long logs are retained', content: LONGER, project, kind: 'rule', idempotency_key }
      const stored = await ok('remember', args)
      expect(stored.may_replace).toEqual([{ id: first, title: 'Retention', at: expect.stringMatching(/Z$/) }])
      expect(stored.judge).toBe(
        `Does it replace one of these? update {"id":${stored.id},"replaces":[${first}]}. ` +
          `If both hold: update {"id":${stored.id},"both_hold":[${first}]}`,
      )
      expect(await ok('remember', args)).toMatchObject({ id: stored.id, may_replace: stored.may_replace })
      const elsewhere = await ok('remember', { ...args, project: unique('q'), idempotency_key: unique('key') })
      expect(elsewhere.may_replace).toBeUndefined()
      const known = await ok('remember', {
        ...args,
        title: 'Third',
        content: `${LONGER} Or so.`,
        replaces: [first, stored.id],
        idempotency_key: unique('key'),
      })
      expect(known.may_replace).toBeUndefined()
    })

    it('names earlier memories in the answers of every family that stores one, each with its own calls, which record the judgement', async () => {
      const project = unique('p')
      const first = await remember('Retention', RETENTION, { project, kind: 'decision' })
      const metadata = { title: 'How long logs are retained', kind: 'decision', project }
      const inThread = { thread_id: unique('t'), source: 'agent', text: LONGER, metadata }
      const stored = (await call('store_context', inThread, ada, '/mcp')).data
      expect(stored.may_replace).toMatchObject([{ id: first, title: 'Retention' }])
      const again = (await call('store_context', inThread, ada, '/mcp')).data
      expect(again).toMatchObject({ context_id: stored.context_id })
      expect(again.may_replace).toBeUndefined()
      const turn = { ...inThread, thread_id: unique('t'), metadata: { project } }
      expect((await call('store_context', turn, ada, '/mcp')).data.may_replace).toBeUndefined()
      const { data } = await call(
        'context_store',
        {
          type: 'convention',
          content: `${LONGER} This is not shortened.`,
          metadata: { title: 'Retention', projectPath: project },
        },
        ada,
        '/mcp',
      )
      expect(data.may_replace.map(({ id: one }: Json) => one)).toContain(String(first))
      const replacing = /\? context_update (\{.*\})\. If both hold: context_update (\{.*\})$/.exec(data.judge)
      const named = JSON.parse(replacing?.[1] ?? '{}').metadata.supersedes[0]
      expect((await call('context_update', JSON.parse(replacing?.[1] ?? '{}'), ada, '/mcp')).error).toBeNull()
      expect((await ok('fetch', { id: named })).replaced_by).toBe(Number(data.id))
      const [, patch] = /update_context (\{.*?\}\})\. If/.exec(stored.judge) ?? []
      const [, both] = /both hold: update_context (\{.*\})$/.exec(stored.judge) ?? []
      expect((await call('update_context', JSON.parse(both ?? '{}'), ada, '/mcp')).error).toBeNull()
      const { results } = await ok('search', { query: 'audit logs of the gateway retained thirty days', project })
      expect(results.find(({ id: one }: Json) => one === first).note ?? '').not.toContain(String(stored.context_id))
      expect((await call('update_context', JSON.parse(patch ?? '{}'), ada, '/mcp')).error).toBeNull()
      expect((await ok('fetch', { id: first })).replaced_by).toBeDefined()
      const judged = { ...inThread, thread_id: unique('t'), metadata: { ...metadata, supersedes: [first] } }
      expect((await call('store_context', judged, ada, '/mcp')).data.may_replace).toBeUndefined()
    })

    it('shows the later of two memories on one subject first, and hides neither', async () => {
      const project = unique('p')
      const first = await remember('Retention', RETENTION, { project, kind: 'decision' })
      const later = await remember('How long logs are retained', LONGER, { project, kind: 'decision' })
      const query = 'audit logs of the gateway retained thirty days then deleted'
      const { results } = await ok('search', { query, project })
      const words = `later on the same subject: [${later}]`
      expect(results.map(({ id, note }: Json) => [id, note])).toEqual([
        [later, undefined],
        [first, words],
      ])
      const pack = await ok('context', { goal: 'audit logs of the gateway in the bucket', project })
      const memories = pack.sections.flatMap((section: Json) => section.memories)
      expect(memories.map(({ id }: Json) => id)).toEqual([later, first])
      expect(memories[1].why).toContain(words)
      expect(JSON.stringify([results, pack])).not.toContain('otherwise')
    })

    it('remembers that both hold, until the text or title of either changes, and links what a memory replaces', async () => {
      const project = unique('p')
      const first = await remember('Retention', RETENTION, { project, kind: 'decision' })
      const later = await remember('How long logs are retained', LONGER, { project, kind: 'decision' })
      const search = async () => {
        const query = 'audit logs of the gateway retained thirty days then deleted'
        return (await ok('search', { query, project })).results
      }
      expect(await ok('update', { id: later, both_hold: [first] })).toMatchObject({ changed: ['both_hold'] })
      expect((await search()).map(({ note }: Json) => note)).toEqual([undefined, undefined])
      await ok('update', { id: first, tags: ['audit'], status: 'done', pinned: true })
      expect((await search()).map(({ note }: Json) => note)).toEqual([undefined, undefined])
      await ok('update', { id: first, append: 'The bucket is audit-eu.' })
      expect((await search()).map(({ id }: Json) => id)).toEqual([later, first])
      await ok('update', { id: later, append: 'Ask the auditors before a change.', both_hold: [first] })
      expect((await search()).map(({ note }: Json) => note)).toEqual([undefined, undefined])
      await ok('update', { id: later, append: 'They answer within a day.' })
      expect((await search()).map(({ note }: Json) => note)).toEqual([undefined, expect.stringContaining('later')])
      expect(await fail('update', { id: later, replaces: [999_999_999] })).toContain('999999999')
      await ok('update', { id: later, replaces: [first] })
      expect((await ok('fetch', { id: first })).replaced_by).toBe(later)
      const third = await remember('Old note', 'Something else entirely.', { project })
      await ok('update', { id: later, replaces: [third] })
      expect((await ok('fetch', { id: first })).replaced_by).toBe(later)
    })

    it('names no memory that holds from a later time than the new one', async () => {
      const project = unique('p')
      await remember('Retention', RETENTION, { project, kind: 'decision', valid_from: '2026-01-01T00:00:00Z' })
      const old = { title: 'Older', content: LONGER, project, kind: 'rule', valid_from: '2020-01-01T00:00:00Z' }
      expect((await ok('remember', old)).may_replace).toBeUndefined()
      const newer = { ...old, title: 'Newer', valid_from: '2027-01-01T00:00:00Z' }
      expect((await ok('remember', newer)).may_replace).toHaveLength(2)
    })

    it('leaves a memory out of packs after its valid_until, but still finds and marks it', async () => {
      const project = unique('p')
      const args = { project, kind: 'rule', valid_from: '2020-01-01T00:00:00Z', valid_until: '2021-01-01T00:00:00Z' }
      const ended = await remember('Freeze', 'No deployments of the ledger during the migration freeze.', args)
      const query = 'deployments of the ledger during the migration freeze'
      const pack = await ok('context', { goal: query, project })
      expect(JSON.stringify(pack)).not.toContain('No deployments')
      const [found] = (await ok('search', { query, project })).results
      expect(found).toMatchObject({
        id: ended,
        valid_until: args.valid_until,
        valid_from: args.valid_from,
        ended: true,
      })
      expect(JSON.stringify(await ok('context', { project }))).not.toContain('No deployments')
      expect(await fail('update', { id: ended, valid_until: '2019-01-01T00:00:00Z' })).toContain('after valid_from')
      expect(await fail('update', { id: ended, valid_from: '2022-01-01T00:00:00Z' })).toContain('after valid_from')
      await ok('update', { id: ended, clear: ['valid_until'] })
      expect(JSON.stringify(await ok('context', { project }))).toContain('No deployments')
      expect(JSON.stringify(await ok('context', { goal: query, project }))).toContain('No deployments')
      expect(await fail('remember', { title: 'x', content: 'y', valid_until: 'soon' })).toContain('valid_until')
    })

    it('accepts synonyms of kinds, and refuses an unknown one with the three most similar first', async () => {
      const words = {
        Rule: 'rule',
        learning: 'gotcha',
        lesson: 'gotcha',
        todo: 'task',
        bug: 'bug_fix',
        adr: 'decision',
      }
      for (const [word, kind] of Object.entries({ ...words, howto: 'procedure', 'How-To': 'procedure' }))
        expect(await ok('remember', { title: unique(), content: unique(), kind: word })).toMatchObject({ kind })
      const error = await fail('remember', { title: 'x', content: 'y', kind: 'decison' })
      expect(error).toMatch(/^Unknown kind "decison"\. Use one of: decision, /)
      expect(await fail('search', { kind: 'decison' })).toMatch(/Use one of: decision, /)
    })

    it('stays within its token budgets for any stored data', async () => {
      const project = unique('big')
      const metadata = { owner_team: 'x'.repeat(300) }
      for (let n = 0; n < 14; n++)
        await remember(`Crane report ${n} ${'title '.repeat(20)}`, LONG(`crane ${n}`), {
          ...{ project, metadata, kind: n % 2 ? 'decision' : 'guide', tags: ['harbour', 'crane', `n${n}`] },
        })
      const found = await ok('search', { query: 'crane report outcome', project })
      expect(found.results).toHaveLength(10)
      expect(tokens(found)).toBeLessThanOrEqual(1_500)
      for (const one of found.results) expect(one.content.length).toBeGreaterThan(40)
      const list = await ok('search', { project, limit: 14 })
      expect(tokens(list)).toBeLessThanOrEqual(2_500)
      for (const args of [{ project, goal: 'what did the crane reports say' }, { project }, {}])
        expect(tokens(await ok('context', args))).toBeLessThanOrEqual(2_500)
      expect(tokens(await ok('changes', { since: 'start', limit: 100 }))).toBeLessThanOrEqual(2_500)
      const long = await remember('Long log', `${'a line of the log\n'.repeat(3_000)}the end`, { project })
      const head = await ok('fetch', { id: long })
      expect(tokens(head)).toBeLessThanOrEqual(2_500)
      expect(head).toMatchObject({
        truncated: true,
        next: expect.stringMatching(/^fetch \{"id": \d+, "lines": "\d+-"\}$/),
      })
      const { id: again, lines } = JSON.parse(head.next.slice(6))
      const rest = await ok('fetch', { id: again, lines })
      expect(rest.lines.startsWith(lines.slice(0, -1))).toBe(true)
      for (let n = 0; n < 6; n++) await ok('update', { id: long, content: LONG(`version ${n}`).repeat(5) })
      expect(tokens(await ok('history', { id: long }))).toBeLessThanOrEqual(2_500)
      const ids = found.results.map(({ id: one }: Json) => one)
      const many = await ok('fetch', { ids })
      expect(tokens(many)).toBeLessThanOrEqual(2_500)
      expect(many.memories.length + (many.omitted?.length ?? 0)).toBe(10)
    })

    it('shows the part of a memory that matches, wherever in the text it is', async () => {
      const project = unique('deep')
      const text = `${'Nothing to see in this line.\n'.repeat(200)}The zeppelin limit is 42.\n${'More filler text.\n'.repeat(200)}`
      const one = await remember('Limits', text, { project })
      for (const mode of ['hybrid', 'words', 'exact', 'regex'])
        expect((await ok('search', { query: 'zeppelin limit', mode, project })).results[0].content).toContain('is 42')
      expect((await ok('fetch', { id: one, around: 'ZEPPELIN' })).content).toContain('limit is 42')
      expect(await ok('fetch', { id: one, lines: '201' })).toMatchObject({
        content: 'The zeppelin limit is 42.',
        lines: '201-201',
      })
    })

    it('[CORE-10] reads a part by lines, heading or surrounding text, and lists the headings', async () => {
      const one = await remember('Runbook', '# Start\nGo.\n## Rollback plan\nPress stop.\n# End\nBye.', {})
      expect((await ok('fetch', { id: one, heading: 'rollback Plan' })).content).toContain('Press stop.')
      expect((await ok('fetch', { id: one, heading: 'rollback' })).content).not.toContain('Bye.')
      expect(await fail('fetch', { id: one, heading: 'nowhere' })).toContain(
        'Headings: "Start", "Rollback plan", "End"',
      )
      expect((await ok('fetch', { id: one, lines: '5-' })).content).toBe('# End\nBye.')
      expect(await fail('fetch', { id: one, lines: 'x' })).toContain('is not a range such as "10-40"')
      expect(await fail('fetch', { id: one, around: 'not there' })).toContain('does not contain')
      expect(await fail('fetch', { id: one, ids: [one] })).toContain('Give either id or ids')
      expect(await fail('fetch', { id: 987_654_321 })).toContain('987654321')
      expect(await ok('fetch', { ids: [one, 987_654_321] })).toMatchObject({
        memories: [{ id: one }],
        missing: [987_654_321],
      })
    })

    it('reads all of a part by the calls in next, also where a line is longer than an answer', async () => {
      const numbered = Array.from({ length: 60 }, (_, n) => `line ${n + 1} of the report`)
      const project = unique('parts')
      const one = await remember('Report', [...numbered, 'x'.repeat(9_000), 'the end'].join('\n'), { project })
      for (const lines of ['9-40', '50-', '60-62']) {
        const [first, last] = lines.split('-').map(Number) as [number, number]
        const seen = new Set<string>()
        let args: Json = { id: one, lines, max_tokens: 200 }
        for (let calls = 0; calls < 20 && args !== null; calls++) {
          const { content, next } = await ok('fetch', args)
          for (const line of content.split('\n')) seen.add(line)
          args = next === undefined ? null : { max_tokens: 200, ...JSON.parse(next.slice('fetch '.length)) }
        }
        expect(args).toBeNull()
        const all = [...numbered, 'x'.repeat(9_000), 'the end']
        const wanted = all.slice(first - 1, last || undefined)
        expect(wanted.filter((line) => !seen.has(line))).toEqual([])
        expect(all.filter((line) => seen.has(line) && !wanted.includes(line))).toEqual([])
      }
      expect(await fail('fetch', { id: one, lines: '70-80' })).toContain('has only 62 lines')
    })

    it('refuses an expiry that has passed, which would delete the memory beyond restore', async () => {
      const one = await remember('Kept', 'The tide table of May.', {})
      for (const expires_at of ['2020-01-01', 'tomorrow'])
        for (const args of [{ expires_at }, { metadata: { expires_at } }]) {
          expect(await fail('update', { id: one, ...args })).toContain('expires_at')
          expect(await fail('remember', { title: 'Gone', content: 'text', ...args })).toContain('expires_at')
        }
      expect((await ok('fetch', { id: one })).content).toBe('The tide table of May.')
    })

    it('stores the status that a word means, so that a filter finds it', async () => {
      const project = unique('status')
      const one = await remember('Dredge', 'The north basin.', { project, kind: 'task', status: 'in progress' })
      const doing = { project, where: { status: 'doing' } }
      expect((await ok('search', doing)).results.map(({ id }: Json) => id)).toEqual([one])
      await ok('update', { id: one, status: 'Finished' })
      expect((await ok('search', doing)).results).toEqual([])
      expect(await ok('fetch', { id: one })).toMatchObject({ status: 'done' })
    })

    it('[CORE-26] names the most similar project if the named one has no memories', async () => {
      const project = unique('harbour-office')
      await remember('Berths', 'Two berths are free.', { project })
      const misspelt = project.replace('office', 'ofice')
      for (const [tool, args] of [
        ['search', { query: 'berths' }],
        ['search', {}],
        ['context', { goal: 'free berths' }],
        ['context', { kind: ['epic'] }],
        ['changes', { since: 'yesterday' }],
      ] as const) {
        const { warnings = [] } = await ok(tool, { ...args, project: misspelt })
        expect([tool, warnings.join()]).toEqual([tool, expect.stringContaining(`"${misspelt}" has no memories; the`)])
        expect(warnings.join()).toContain(project)
      }
    })

    it('stores images and returns their bytes only when asked to', async () => {
      const one = await remember('Screenshot', 'The login page.', { images: [{ data: base64(pngBytes(unique())) }] })
      expect(await ok('fetch', { id: one })).toMatchObject({ images: 1 })
      const [image] = (await ok('fetch', { id: one, images: true })).images
      expect(image).toMatchObject({ mime_type: 'image/png', block: 1 })
    })

    it('[CORE-9] searches by kind, tag, person, time, thread and metadata, with and without a query', async () => {
      const own = unique('org')
      const key = (await team.key(own, { name: 'k', agent: 'claude', owner: 'k' })).key
      const other = (await team.key(own, { name: 'o', agent: 'codex', owner: 'eve' })).key
      const project = unique('filters')
      const mine = await remember('One', 'About turbines.', { project, kind: 'task', tags: ['a', 'b'] }, key)
      const theirs = await remember('Two', 'About turbines too.', { project, metadata: { prio: 5, area: 'x' } }, other)
      const found = async (args: Json) =>
        (await ok('search', { project, ...args }, key)).results
          .map(({ id: one }: Json) => one)
          .sort((a: number, b: number) => a - b)
      for (const query of [
        {},
        { query: 'turbines' },
        { query: 'turbines', mode: 'exact' },
        { query: 'turb[a-z]+', mode: 'regex' },
      ]) {
        expect(await found(query)).toEqual([mine, theirs])
        expect(await found({ ...query, by: 'CLAUDE' })).toEqual([mine])
        expect(await found({ ...query, by: 'eve' })).toEqual([theirs])
        expect(await found({ ...query, kind: 'Task' })).toEqual([mine])
        expect(await found({ ...query, tags: 'b, c' })).toEqual([mine])
        expect(await found({ ...query, since: '10 minutes ago', until: 'tomorrow' })).toEqual([mine, theirs])
        expect(await found({ ...query, until: 'yesterday' })).toEqual([])
        expect(await found({ ...query, until: 'today' })).toEqual([mine, theirs])
        expect(await found({ ...query, until: new Date().toISOString().slice(0, 10) })).toEqual([mine, theirs])
        expect(await found({ ...query, where: { prio: { gte: 5 }, area: ['x', 'y'] } })).toEqual([theirs])
        expect(await found({ ...query, where: { prio: 6 } })).toEqual([])
        expect(await found({ ...query, thread: `project:${project}` })).toEqual([mine, theirs])
      }
      // A question is also answered from what belongs to no project; a list of a project is not.
      const general = await remember('Three', 'Turbines in general.', {}, key)
      expect(await found({ query: 'turbines' })).toEqual([mine, theirs, general])
      expect(await found({})).toEqual([mine, theirs])
      expect(await fail('search', { where: { prio: { above: 3 } } })).toContain('unknown operator "above"')
      expect(await fail('search', { since: 'the other day' })).toContain('is not a time')
    })

    it('[CORE-11] updates the named fields and keeps the others, and clears a field only by its name', async () => {
      const project = unique('upd')
      const one = await remember('Draft', 'Text.', {
        project,
        audience: 'private',
        kind: 'task',
        status: 'todo',
        metadata: { a: 1 },
      })
      expect(await ok('update', { id: one, title: 'Final', status: 'done', pinned: true, metadata: { b: 2 } })).toEqual(
        {
          ...{ id: one, version: 2, changed: ['title', 'status', 'pinned', 'metadata'] },
        },
      )
      expect(await ok('fetch', { id: one })).toMatchObject({
        ...{ title: 'Final', status: 'done', audience: 'private', project, pinned: true, metadata: { a: 1, b: 2 } },
      })
      expect(await ok('update', { id: one, clear: ['status', 'pinned'] })).toMatchObject({
        changed: ['status', 'pinned'],
      })
      const cleared = await ok('fetch', { id: one })
      expect([cleared.status, cleared.pinned, cleared.audience]).toEqual([undefined, undefined, 'private'])
      expect(await fail('update', { id: one, title: 'x', clear: ['title'] })).toContain('both given and in clear')
      expect(await fail('update', { id: one, content: 'x', expected_version: 1 })).toContain('at version 3, not 1')
      expect(await fail('update', { id: one })).toContain('Name at least one field')
      // No other owner reads it, before and after.
      expect(await fail('fetch', { id: one }, eve)).toBe(
        await fail('fetch', { id: one + 1_000_000 }, eve).then((text) =>
          text.replaceAll(String(one + 1_000_000), String(one)),
        ),
      )
    })

    it('keeps a memory private that sums up a private one, unless the call names an audience', async () => {
      const open = await remember('Docker cache 1', 'Cache the layers.', {})
      const secret = await remember('Docker cache 2', 'The registry password is in my notes.', { audience: 'private' })
      const sum = await ok('remember', {
        title: 'Docker cache',
        content: 'Cache; password in the notes.',
        merges: [open, secret],
      })
      expect(sum.replaces).toEqual([open, secret])
      expect(await ok('fetch', { id: sum.id })).toMatchObject({ audience: 'private' })
      await fail('fetch', { id: sum.id }, eve)
      expect(await ok('fetch', { id: secret })).toMatchObject({ replaced_by: sum.id })
    })

    it('replaces one part of a content and appends to it, without the rest being sent', async () => {
      const one = await remember('Setup', 'Port 5432.\n\nUser ada.', {})
      expect(await ok('update', { id: one, old_text: '5432', content: '5433' })).toMatchObject({ changed: ['content'] })
      expect(await ok('update', { id: one, append: 'Password in the vault.' })).toMatchObject({ changed: ['content'] })
      expect((await ok('fetch', { id: one })).content).toBe('Port 5433.\n\nUser ada.\n\nPassword in the vault.')
      expect(await fail('update', { id: one, old_text: 'nowhere', content: 'x' })).toContain(
        'old_text does not occur in the content',
      )
      expect(await fail('update', { id: one, old_text: 'a', content: 'x' })).toContain('more than once')
      expect(await fail('update', { id: one, old_text: 'ada' })).toContain('old_text needs content')
      expect(await fail('update', { id: one, content: 'x', append: 'y' })).toContain('either append or content')
      const lines = Array.from({ length: 6 }, (_, n) => `line ${n}`)
      await Promise.all(lines.map((append) => ok('update', { id: one, append })))
      const { content } = await ok('fetch', { id: one })
      for (const line of lines) expect(content).toContain(line)
    })

    it('[CORE-12] forgets by ids, thread or filter, returns how to undo it, and deletes by a filter only with dry_run', async () => {
      const project = unique('del')
      const ids = [
        await remember('A', 'alpha', { project, kind: 'idea' }),
        await remember('B', 'beta', { project, kind: 'idea' }),
      ]
      const org1 = await remember('C', 'of the org', { kind: 'idea' })
      const filter = { project, kind: ['idea'] }
      expect(await fail('forget', { filter })).toContain('filter needs dry_run')
      expect(await fail('forget', { filter: {}, dry_run: false })).toContain('filter is empty')
      expect(await fail('forget', { ids, thread: 'x' })).toContain('exactly one of ids, thread and filter')
      const look = await ok('forget', { filter, dry_run: true })
      expect(look).toMatchObject({ would_delete: 2, memories: expect.arrayContaining([{ id: ids[0], title: 'A' }]) })
      const gone = await ok('forget', { filter, dry_run: false })
      expect(gone).toMatchObject({ deleted: 2, undo: expect.stringMatching(/^restore \{"change_id": /) })
      expect((await ok('search', { project, kind: 'idea' })).results.map(({ id: one }: Json) => one)).not.toContain(
        ids[0],
      )
      // Memories without a project are not in the project.
      expect(await ok('fetch', { id: org1 })).toMatchObject({ id: org1 })
      const undone = await ok('restore', JSON.parse(gone.undo.slice('restore '.length)))
      expect(undone.restored.map(({ id: one }: Json) => one).sort()).toEqual([...ids].sort())
      expect(await ok('forget', { ids: [987_654_321] })).toMatchObject({
        deleted: 0,
        warnings: ['No matching memory that you can delete'],
      })
      expect(await ok('forget', { ids: [ids[1], 987_654_321], dry_run: true })).toMatchObject({
        would_delete: 1,
        warnings: ['1 of the IDs are not memories that you can delete'],
      })
      expect(await ok('forget', { ids: String(ids[0]), erase: true })).toMatchObject({ erased: 1 })
      expect(await ok('restore', { id: ids[0] }).catch((error) => error.message)).toMatch(
        /has no such history|not found/,
      )
    })

    it('[CORE-13, CORE-14] undoes the last update of a memory by its id, and lists the author and a diff of each version', async () => {
      const one = await remember('Port', 'The port is 80.', {})
      await ok('update', { id: one, content: 'The port is 8080.' }, eve)
      const { versions } = await ok('history', { id: one })
      expect(versions[0]).toMatchObject({
        version: 2,
        action: 'updated',
        by: 'codex',
        changed: ['content'],
        diff: expect.stringContaining('+The port is 8080.'),
      })
      expect(await ok('history', { id: one, version: 1 })).toMatchObject({ content: 'The port is 80.', by: 'claude' })
      expect(await ok('restore', { id: one })).toEqual({ restored: [{ id: one, version: 3 }] })
      expect((await ok('fetch', { id: one })).content).toBe('The port is 80.')
      const fresh = await remember('New', 'Only one version.', {})
      expect(await fail('restore', { id: fresh })).toContain('has no earlier version')
      expect(await ok('restore', { id: one, version: 2 })).toMatchObject({ restored: [{ id: one, version: 4 }] })
    })

    it('[CORE-15] lists changes since a time in words, by person and kind, and since the last call of the owner', async () => {
      const own = unique('org')
      const key = (await team.key(own, { name: 'k', agent: 'claude', owner: 'k' })).key
      const other = (await team.key(own, { name: 'o', agent: 'codex', owner: 'o' })).key
      const one = await remember('First', 'one', { kind: 'rule' }, key)
      expect((await ok('changes', {}, key)).changes).toMatchObject([{ id: one }])
      const two = await remember('Second', 'two', { kind: 'idea' }, other)
      const since = await ok('changes', {}, key)
      expect(since.changes.at(-1)).toMatchObject({ id: two, by: 'codex', kind: 'idea' })
      expect(since.since).toMatch(/Z$/)
      const ids = async (args: Json) => (await ok('changes', args, key)).changes.map(({ id: each }: Json) => each)
      expect(await ids({ since: 'yesterday' })).toEqual([one, two])
      expect(await ids({ since: 'yesterday', by: 'Codex' })).toEqual([two])
      expect(await ids({ since: 'yesterday', by: 'others' })).toEqual([two])
      expect(await ids({ since: 'yesterday', kind: 'rule' })).toEqual([one])
      expect(await ids({ since: 'tomorrow' })).toEqual([])
      const { next, changes } = await ok('changes', { limit: 0 }, key)
      expect(changes).toEqual([])
      const three = await remember('Third', 'three', {}, key)
      expect(await ids({ since: next })).toEqual([three])
      expect(await fail('changes', { since: 'nonsense' }, key)).toContain('since "nonsense" is not a time')
      expect(await fail('changes', { since: 'today', timezone: 'Mars/Base' }, key)).toContain('Unknown time zone')
    })

    it('starts a session from every section, none with more than a third, whatever there is most of', async () => {
      const project = unique('start')
      for (let n = 0; n < 24; n++)
        await remember(`Guide ${n}`, `How to do thing ${n}. ${'Step by step. '.repeat(20)}`, { project, kind: 'guide' })
      await remember('Use SQLite', 'We use SQLite.', { project, kind: 'decision' })
      await remember('Locks', 'Locks time out.', { project, kind: 'gotcha' })
      await remember('Migration', 'Move it.', { project, kind: 'task', status: 'doing' })
      const start = await ok('context', { project })
      const titles = Object.fromEntries(start.sections.map(({ title, memories }: Json) => [title, memories]))
      expect(Object.keys(titles).sort()).toEqual(['Constraints', 'Decisions', 'Gotchas', 'Work in flight'])
      expect(JSON.stringify(titles.Constraints).length).toBeLessThanOrEqual(3_600)
      expect(titles.Constraints[0].title).toBe('Guide 23')
      expect(tokens(start)).toBeLessThanOrEqual(2_500)
    })

    it('[CORE-7] returns for a goal the memories that matter, of some kinds and since a time', async () => {
      const project = unique('goal')
      const rule = await remember('Refresh tokens', 'Refresh tokens rotate at each use.', { project, kind: 'rule' })
      const gotcha = await remember(
        'Refresh token race',
        'Two calls that rotate refresh tokens at once end the session.',
        {
          project,
          kind: 'gotcha',
        },
      )
      const ids = async (args: Json) =>
        ((await ok('context', { goal: 'change how refresh tokens rotate', project, ...args })).sections ?? [])
          .flatMap(({ memories }: Json) => memories.map(({ id: one }: Json) => one))
          .sort((a: number, b: number) => a - b)
      expect(await ids({})).toEqual([rule, gotcha])
      expect(await ids({ kind: 'lesson' })).toEqual([gotcha])
      expect(await ids({ since: 'tomorrow' })).toEqual([])
      const pack = await ok('context', { goal: 'change how refresh tokens rotate', project })
      expect(pack.sections[0].memories[0]).toMatchObject({
        why: expect.stringContaining('words'),
        by: 'claude',
        project,
      })
    })

    it('ignores unknown arguments of reading tools with a warning, and refuses those of writing tools with the most similar name', async () => {
      const found = await ok('search', { query: 'turbines', priority: 1, task_progress: '- [ ] x' })
      expect(found.warnings).toContain('Ignored unknown arguments: "priority"')
      const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`extra_${n}`, n]))
      expect((await ok('search', { query: 'turbines', ...many })).warnings.join()).toContain('and 890 more')
      const one = await remember('Kept', 'As it is.', { task_progress: 'x', toolCallId: 'y', random_string: 'z' })
      expect(await fail('forget', { ids: [one], dryrun: true })).toContain(
        'Unknown argument "dryrun". Did you mean dry_run?',
      )
      expect(await fail('remember', { title: 'x', content: 'y', visibility: 'private' })).toContain(
        'Unknown argument "visibility"',
      )
      expect(await fail('update', { id: one, title: 'z', expectedVersion: 9 })).toContain(
        'Did you mean expected_version?',
      )
      expect(await ok('fetch', { id: one })).toMatchObject({ title: 'Kept', version: 1 })
    })

    it('treats an empty string for an optional argument as absent, except where it decides what is deleted or who may read', async () => {
      const one = await remember('Empty', 'strings', {
        kind: 'note',
        status: '',
        expires_at: '',
        tags: '',
        related_to: '',
      })
      expect(
        await ok('search', { query: 'strings', project: '', by: '', since: '', thread: '', mode: '', limit: '' }),
      ).toMatchObject({
        results: expect.arrayContaining([expect.objectContaining({ id: one })]),
      })
      expect(await ok('update', { id: one, title: 'Other', content: '', status: '', expires_at: '' })).toMatchObject({
        changed: ['title'],
      })
      expect((await ok('fetch', { id: one, lines: '', heading: '', around: '' })).content).toBe('strings')
      for (const args of [
        { id: one, audience: '' },
        { id: one, project: '' },
      ])
        await fail('update', { ...args, title: 'x' })
      await fail('remember', { title: 'x', content: 'y', audience: '' })
      for (const args of [{ ids: [one], thread: '' }, { ids: [one], dry_run: '' }, { thread: '' }])
        await fail('forget', args)
      expect(await ok('fetch', { id: one })).toMatchObject({ title: 'Other', version: 2 })
    })

    it('answers a writing call made again with its key as at first, and does it once', async () => {
      const args = { title: unique(), content: unique(), idempotency_key: unique() }
      const first = await ok('remember', args)
      expect(await ok('remember', args)).toEqual({ ...first, replayed: true })
      const change = { id: first.id, title: 'Again', idempotency_key: unique() }
      const updated = await ok('update', change)
      expect(await ok('update', change)).toEqual({ ...updated, replayed: true })
      const removal = { ids: [first.id], idempotency_key: unique() }
      const removed = await ok('forget', removal)
      expect(await ok('forget', removal)).toEqual({ ...removed, replayed: true })
      const back = { id: first.id, idempotency_key: unique() }
      const restored = await ok('restore', back)
      expect(await ok('restore', back)).toEqual({ ...restored, replayed: true })
    })
  })
}
