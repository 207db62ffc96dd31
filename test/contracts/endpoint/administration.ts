import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type KeyDraft, type Team } from '../../support/access'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

const KEY = /^cp_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/

/** Orgs, projects and keys over HTTP, from an administrator's view (platform contract §5). */
export function administrationContract(start: () => Promise<Team>): void {
  let team: Team
  beforeAll(async () => {
    team = await start()
  })
  afterAll(() => team.stop())

  describe('the holder of ADMIN_TOKEN', () => {
    it('gives a key without owner a readable one that no key of the organization has or had', async () => {
      const made = async (draft: KeyDraft): Promise<Json> => {
        await team.api('/orgs', ADMIN_TOKEN, 'POST', { id: 'owners' })
        const { body } = await team.api('/orgs/owners/keys', ADMIN_TOKEN, 'POST', { role: 'writer', ...draft })
        return body
      }
      expect((await made({ name: 'CI bot' })).owner).toBe('ci-bot')
      const second = await made({ name: 'ci-bot' })
      expect(second.owner).toBe('ci-bot-2')
      await team.api(`/orgs/owners/keys/${second.id}`, ADMIN_TOKEN, 'DELETE')
      expect((await made({ name: 'Ci  Bot!' })).owner).toBe('ci-bot-3')
      expect((await made({ name: 'x', owner: 'Ada' })).owner).toBe('Ada')
      expect((await made({ name: 'ada' })).owner).toBe('ada-2')
      expect((await made({ name: '共有メモリ' })).owner).toBe('共有メモリ')
      expect((await made({ name: '…' })).owner).toBe('owner')
      expect((await made({ name: 'local' })).owner).toBe('local-2')
      expect((await made({ name: 'key_1' })).owner).toBe('key-1')
      const together = await Promise.all(Array.from({ length: 3 }, () => made({ name: 'crowd' })))
      expect(together.map(({ owner }) => owner).sort()).toEqual(['crowd', 'crowd-2', 'crowd-3'])
    })

    it('shows private entries again to a key that joins their owner by name, and to no other', async () => {
      const old = await team.key('heirs', { name: 'bot' })
      const metadata = { audience: 'private' }
      await team.call(old.key, 'store_context', { thread_id: 't', source: 'agent', text: 'mine alone', metadata })
      await team.api(`/orgs/heirs/keys/${old.id}`, ADMIN_TOKEN, 'DELETE')
      const seen = async (key: string) => (await team.call(key, 'search_context', { thread_id: 't' })).data.total
      expect(await seen((await team.key('heirs', { name: 'bot' })).key)).toBe(0)
      const heir = await team.key('heirs', { name: 'new', owner: 'bot' })
      expect(await seen(heir.key)).toBe(1)
      const { events } = (await team.api('/orgs/heirs/audit', ADMIN_TOKEN)).body
      const made = events.filter(({ action }: Json) => action === 'keys.create')
      expect(made.map(({ detail }: Json) => detail.owner)).toEqual(['new', 'new', 'joined'])
    })

    it('ends a key no later than the key it was made with, and with it when that is asked', async () => {
      const end = '2099-01-01T00:00:00.000Z'
      const maker = await team.key('family', { role: 'admin', expires_at: end })
      const child = async (by: string, draft: KeyDraft = {}): Promise<Json> =>
        (await team.api('/orgs/family/keys', by, 'POST', { name: 'child', role: 'admin', ...draft })).body
      const kept = await child(maker.key)
      expect(kept.expires_at).toBe(end)
      expect((await child(maker.key, { expires_at: '2200-01-01' })).expires_at).toBe(end)
      expect((await child(maker.key, { expires_at: '2098-01-01' })).expires_at).toBe('2098-01-01T00:00:00.000Z')
      const grandchild = await child(kept.key)
      expect(grandchild.expires_at).toBe(end)
      const stranger = await team.key('family', { role: 'admin' })

      const works = async (key: string) => (await team.api('/orgs', key)).status
      await team.api(`/orgs/family/keys/${maker.id}`, ADMIN_TOKEN, 'DELETE')
      expect([await works(maker.key), await works(kept.key), await works(grandchild.key)]).toEqual([401, 200, 200])
      const { body } = await team.api(`/orgs/family/keys/${maker.id}?children=true`, ADMIN_TOKEN, 'DELETE')
      expect(body.revoked).toHaveLength(4)
      expect([await works(kept.key), await works(grandchild.key), await works(stranger.key)]).toEqual([401, 401, 200])
      const { events } = (await team.api('/orgs/family/audit', ADMIN_TOKEN)).body
      expect(events.at(-1).detail).toEqual({ key: maker.id, children: 4 })
      expect((await team.api(`/orgs/family/keys/${maker.id}?children=all`, ADMIN_TOKEN, 'DELETE')).status).toBe(400)
    })

    it('refuses an unknown parameter, which may be misspelled, and does nothing', async () => {
      const { id, key } = await team.key('spelling', { role: 'admin' })
      for (const [address, method, message] of [
        [
          `/orgs/spelling/keys/${id}?childs=true`,
          'DELETE',
          'Unknown parameter "childs"; revoking a key accepts: children',
        ],
        ['/orgs/spelling/audit?form=1', 'GET', 'Unknown parameter "form"; the audit log accepts: after, limit'],
        [
          '/orgs/spelling/captured?proejct=a',
          'GET',
          expect.stringMatching(/^Unknown parameter "proejct"; the list of captured sessions /),
        ],
        ['/code/a/files?rot=b', 'DELETE', 'Unknown parameter "rot"; deleting an index accepts: root'],
        ['/code/a/files?rot=b', 'GET', 'Unknown parameter "rot"; a list of files accepts: root'],
        ['/reembed?from=9', 'POST', 'Unknown parameter "from"; re-embedding accepts: after'],
      ] as const) {
        const { status, body } = await team.api(address, key, method)
        expect([address, status, body.error.message]).toEqual([address, 400, message])
      }
      const { body } = await team.api('/orgs/spelling/backups?form=2', ADMIN_TOKEN, 'POST')
      expect(body.error.message).toBe('Unknown parameter "form"; a backup accepts: from')
    })

    it('accepts each number of the range that a refusal names', async () => {
      const most = Number.MAX_SAFE_INTEGER
      const { key } = await team.key('ranges', { role: 'admin' })
      const beyond = await team.api(`/orgs/ranges/audit?after=${most + 1}`, key)
      expect(beyond.body.error.message).toBe(`after must be a whole number from 0 to ${most}`)
      expect(await team.api(`/orgs/ranges/audit?after=${most}`, key)).toMatchObject({
        status: 200,
        body: { events: [] },
      })
    })

    it('accepts bodies of 64 KB and no more', async () => {
      const sized = (bytes: number) => {
        const draft = JSON.stringify({ id: 'sized', name: 'Sized' })
        return `${draft.slice(0, -1)}${' '.repeat(bytes - draft.length)}}`
      }
      const beyond = await team.api('/orgs', ADMIN_TOKEN, 'POST', sized(65_537))
      expect([beyond.status, beyond.body.error.code]).toEqual([413, 'limit_exceeded'])
      expect((await team.api('/orgs', ADMIN_TOKEN, 'POST', sized(65_536))).status).toBe(201)
    })

    it('makes organizations, projects and keys, and lists them without the keys themselves', async () => {
      expect(await team.api('/orgs', ADMIN_TOKEN, 'POST', { id: 'acme', name: 'Acme' })).toMatchObject({
        status: 201,
        body: { id: 'acme', name: 'Acme' },
      })
      await team.api('/orgs/acme/projects', ADMIN_TOKEN, 'POST', { id: 'apollo', name: 'Apollo' })
      const draft = {
        name: 'ci',
        role: 'writer',
        projects: ['apollo'],
        agent: 'ci-bot',
        owner: 'ada',
        expires_at: '2999-01-01',
      }
      const made = await team.api('/orgs/acme/keys', ADMIN_TOKEN, 'POST', draft)
      expect(made.status).toBe(201)
      expect(made.headers.get('cache-control')).toBe('no-store')
      expect(made.body).toMatchObject({ ...draft, expires_at: '2999-01-01T00:00:00.000Z', last_used_at: null })
      expect(made.body.key).toMatch(KEY)
      const listed = await team.api('/orgs/acme/keys', ADMIN_TOKEN)
      expect(listed.body.keys.map(({ id }: { id: string }) => id)).toEqual([made.body.id])
      expect(listed.text).not.toContain(made.body.key)
      expect((await team.api('/orgs', ADMIN_TOKEN)).body.orgs).toContainEqual(expect.objectContaining({ id: 'acme' }))
      expect((await team.api('/orgs/acme/projects', ADMIN_TOKEN)).body.projects).toEqual([
        expect.objectContaining({ id: 'apollo', name: 'Apollo' }),
      ])
    })

    it('is refused as belonging to no organization wherever one is needed', async () => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
      // At the endpoint the code is in `data`, as in every JSON-RPC error.
      for (const answer of [
        await team.ask('/mcp', ADMIN_TOKEN, 'POST', body),
        await team.ask(`/images/${'0'.repeat(64)}`, ADMIN_TOKEN),
        await team.api('/reembed', ADMIN_TOKEN, 'POST'),
      ])
        expect([answer.status, { ...answer.body.error, ...answer.body.error.data }]).toMatchObject([
          403,
          { code: 'forbidden', message: 'Organization context required', retryable: false },
        ])
    })

    it('gets an error that names what is wrong with its request', async () => {
      await team.api('/orgs', ADMIN_TOKEN, 'POST', { id: 'strict', name: 'Strict' })
      const wrong = async (path: string, body: unknown) => {
        const { status, body: answer } = await team.api(path, ADMIN_TOKEN, 'POST', body)
        return `${status} ${answer.error.message}`
      }
      expect(await wrong('/orgs', { id: 'strict', name: 'again' })).toBe('409 Organization already exists: strict')
      // A repeated call gets the same answer.
      await team.api('/orgs/strict/projects', ADMIN_TOKEN, 'POST', { id: 'taken' })
      for (const [path, id] of [
        ['/orgs', 'strict'],
        ['/orgs', 'local'],
        ['/orgs/strict/projects', 'taken'],
      ] as const)
        expect((await team.api(path, ADMIN_TOKEN, 'POST', { id })).body.error).toMatchObject({
          ...{ code: 'conflict', message: expect.stringMatching(/already exists: /), retryable: false },
        })
      expect(await wrong('/orgs', { id: 'Not Valid' })).toMatch(/^400 id must be 1 to 64 characters/)
      expect(await wrong('/orgs', { id: 'x', colour: 'red' })).toMatch(/^400 Unknown member "colour"/)
      expect(await wrong('/orgs', '[1]')).toMatch(/^400 The body must be a JSON object/)
      expect(await wrong('/orgs', '{')).toMatch(/^400 The body must be a JSON object/)
      expect(await wrong('/orgs/nowhere/keys', { name: 'k', role: 'reader' })).toMatch(/^404 /)
      const key = (draft: object) => wrong('/orgs/strict/keys', { name: 'k', role: 'reader', ...draft })
      expect(await key({ role: 'king' })).toBe('400 role must be one of: reader, writer, admin')
      expect(await key({ name: ' ' })).toMatch(/^400 name must be a text/)
      expect(await key({ name: 'x\u0000' })).toMatch(/^400 name contains the character U\+0000/)
      expect(await key({ projects: [] })).toMatch(/^400 projects must be a list of 1 to 100/)
      expect(await key({ projects: 'apollo' })).toMatch(/^400 projects must be a list/)
      // No entry could be written there.
      expect(await key({ projects: ['p'.repeat(241)] })).toMatch(/^400 projects has more than 240 characters/)
      const longest = 'p'.repeat(240)
      expect(await team.api('/orgs/strict/projects', ADMIN_TOKEN, 'POST', { id: `${longest}/` })).toMatchObject({
        status: 201,
        body: { id: longest, name: longest },
      })
      expect(await key({ expires_at: '2001-01-01' })).toBe('400 expires_at must be in the future')
      expect(await key({ expires_at: 'soon' })).toMatch(/^400 expires_at must be an ISO 8601/)
      expect(await key({ owner: 'key_1' })).toBe('400 owner must not begin with "key_"')
      expect((await team.api('/orgs/strict/audit?limit=0', ADMIN_TOKEN)).status).toBe(400)
      expect((await team.api('/orgs/strict/keys', ADMIN_TOKEN)).body.keys).toEqual([])
    })
  })

  describe('a key', () => {
    it('opens its own organization to the tools, and a wrong or absent one opens nothing', async () => {
      const { key } = await team.key('opens')
      expect((await team.call(key, 'list_threads')).data.total).toBe(0)
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
      // One letter changed: the checksum detects it before the database is read.
      const typo = `${key.slice(0, 10)}${key[10] === 'A' ? 'B' : 'A'}${key.slice(11)}`
      for (const bearer of [null, typo, 'cp_short', `${ADMIN_TOKEN}x`]) {
        const answer = await team.ask('/mcp', bearer, 'POST', body)
        expect([bearer, answer.status]).toEqual([bearer, 401])
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*resource_metadata="http/)
      }
      for (const authorization of ['Basic abc', 'Bearer', `Bearer ${key} and more`, `bearer  ${key}x`])
        expect((await team.ask('/mcp', null, 'POST', body, { authorization })).status).toBe(401)
    })

    it('stops at the next request once it is revoked or has expired, in the same words as one that never was', async () => {
      const { id, key } = await team.key('ends')
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
      const ask = (bearer: string) =>
        team.ask('/mcp', bearer, 'POST', body, { accept: 'application/json, text/event-stream' })
      expect((await ask(key)).status).toBe(200)
      expect((await team.api(`/orgs/ends/keys/${id}`, ADMIN_TOKEN, 'DELETE')).body.revoked_at).toMatch(/Z$/)
      const never = (await ask(`cp_${'A'.repeat(49)}`)).text
      expect(await ask(key)).toMatchObject({ status: 401, text: never })
      // Revoking twice is not an error; an unknown key is one.
      expect((await team.api(`/orgs/ends/keys/${id}`, ADMIN_TOKEN, 'DELETE')).status).toBe(200)
      expect((await team.api('/orgs/ends/keys/key_nowhere', ADMIN_TOKEN, 'DELETE')).status).toBe(404)
    })

    it('of a reader reads and writes nothing, and the denial is noted', async () => {
      const reader = await team.key('roles', { role: 'reader', name: 'looker' })
      const refused = await team.call(reader.key, 'store_context', { thread_id: 't', source: 'user', text: 'x' })
      expect([refused.isError, refused.data.error]).toEqual([
        true,
        { code: 'forbidden', message: 'store_context needs the role writer; this key is a reader', retryable: false },
      ])
      expect((await team.call(reader.key, 'search_context')).data.total).toBe(0)
      expect((await team.api('/orgs/roles/keys', reader.key)).status).toBe(403)
      const { events } = (await team.api('/orgs/roles/audit', ADMIN_TOKEN)).body
      expect(events.filter(({ allowed }: { allowed: boolean }) => !allowed)).toMatchObject([
        { key_id: reader.id, action: 'store_context', tool: 'store_context', ids: [] },
        { key_id: reader.id, action: 'keys.list', tool: null },
      ])
    })

    it('of an administrator administers its own organization and cannot distinguish another from none', async () => {
      const admin = await team.key('own', { role: 'admin' })
      await team.key('other')
      expect((await team.api('/orgs', admin.key)).body.orgs.map(({ id }: { id: string }) => id)).toEqual(['own'])
      expect((await team.api('/orgs', admin.key, 'POST', { id: 'mine' })).status).toBe(403)
      for (const [method, rest] of [
        ['GET', 'keys'],
        ['GET', 'projects'],
        ['GET', 'audit'],
        ['POST', 'projects'],
        ['POST', 'keys'],
        ['DELETE', 'keys/key_1'],
      ] as const) {
        const made = rest === 'keys' ? { name: 'n', role: 'reader' } : { id: 'p' }
        const body = method === 'POST' ? made : undefined
        const other = await team.api(`/orgs/other/${rest}`, admin.key, method, body)
        const none = await team.api(`/orgs/never-was/${rest}`, admin.key, method, body)
        expect([rest, other.status, other.text]).toEqual([rest, 404, none.text])
      }
      expect((await team.api('/orgs/own/keys', admin.key, 'POST', { name: 'n', role: 'admin' })).status).toBe(201)
    })

    it('[PLATFORM-99] names its organization by - on every route, and ADMIN_TOKEN has none', async () => {
      const admin = await team.key('dashed', { role: 'admin', owner: 'ada' })
      for (const route of ['projects', 'keys', 'audit', 'usage', 'cost', 'projects/changes', 'people/ada']) {
        const [named, own, operator] = await Promise.all([
          team.api(`/orgs/dashed/${route}`, admin.key),
          team.api(`/orgs/-/${route}`, admin.key),
          team.api(`/orgs/-/${route}`, ADMIN_TOKEN),
        ])
        expect([route, named.status, own.status, operator.status]).toEqual([route, 200, 200, 404])
        expect(Object.keys(own.body)).toEqual(Object.keys(named.body))
      }
      const { body: made } = await team.api('/orgs/-/keys', admin.key, 'POST', { name: 'other', role: 'reader' })
      expect((await team.api(`/orgs/-/keys/${made.id}`, admin.key, 'DELETE')).status).toBe(200)
    })

    it('that is narrowed administers only what it sees', async () => {
      const admin = await team.key('narrow', { role: 'admin', projects: ['a'], owner: 'ada' })
      const wide = await team.key('narrow', { name: 'wide' })
      const mine = (draft: object) =>
        team.api('/orgs/narrow/keys', admin.key, 'POST', { name: 'n', role: 'writer', ...draft })
      expect((await mine({})).status).toBe(403)
      expect((await mine({ projects: ['a', 'b'] })).status).toBe(403)
      expect((await mine({ projects: ['a'], owner: 'bob' })).status).toBe(403)
      expect((await mine({ projects: ['a'] })).status).toBe(201)
      const { keys } = (await team.api('/orgs/narrow/keys', admin.key)).body
      expect(keys.map(({ projects }: { projects: string[] }) => projects)).toEqual([['a'], ['a']])
      const foreign = await team.api(`/orgs/narrow/keys/${wide.id}`, admin.key, 'DELETE')
      const unknown = await team.api('/orgs/narrow/keys/key_unknown', admin.key, 'DELETE')
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
      await team.call(wide.key, 'store_context', {
        thread_id: 't',
        source: 'user',
        text: 'x',
        metadata: { project: 'b' },
      })
      expect((await team.api('/orgs/narrow/audit', admin.key)).text).not.toContain(wide.id)
      expect((await team.api('/orgs/narrow/projects', admin.key)).body.projects).toEqual([])
      expect((await team.api('/orgs/narrow/projects', ADMIN_TOKEN)).body.projects).toMatchObject([
        // A key names it, and it has no memory yet.
        { id: 'a', entries: 0, created_at: null },
        { id: 'b', entries: 1, created_at: null },
      ])
    })

    it('is recorded with its writes, and its use is recorded', async () => {
      const { id, key } = await team.key('signs', { agent: 'ci-bot', owner: 'ada' })
      const stored = await team.call(key, 'store_context', { thread_id: 't', source: 'agent', text: 'signed' })
      const { events } = (await team.api('/orgs/signs/audit', ADMIN_TOKEN)).body
      expect(events.at(-1)).toMatchObject({
        key_id: id,
        agent: 'ci-bot',
        action: 'store_context',
        tool: 'store_context',
        ids: [stored.data.context_id],
        allowed: true,
        detail: { stored: 1 },
      })
      expect(events.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3])
      await expect
        .poll(async () => (await team.api('/orgs/signs/keys', ADMIN_TOKEN)).body.keys[0].last_used_at)
        .toMatch(/Z$/)
    })

    it('is refused in the address, also together with a valid header', async () => {
      const { key } = await team.key('address')
      for (const query of [`?key=${key}`, `?x=${key}`, '?access_token=abc', '?api_key=1']) {
        const answer = await team.ask(`/mcp${query}`, key, 'POST', {})
        expect([query.slice(0, 5), answer.status, answer.body.error.data.code]).toEqual([
          query.slice(0, 5),
          400,
          'invalid_input',
        ])
        expect(answer.text).not.toContain(key)
      }
    })
  })
}
