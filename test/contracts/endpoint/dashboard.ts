import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatKey } from '../../../src/domain/identity/key'
import { OTHER_CLIENTS, SETUP_CLIENTS } from '../../../src/integrations/setup/client-files'
import { type House, houseOf, locationOf, type Person, tokenOf } from '../../support/dashboard'
import { claudeCode } from '../../support/hook-events'
import { ADMIN_TOKEN } from '../../support/oauth'
import { base64, pngBytes } from '../../support/scope'
import type { RunningServer } from '../../support/server'
import { dashboardRecords } from './dashboard-records'

type Start = (vars: Record<string, string>) => Promise<RunningServer>

const EVIL = '<script>alert(1)</script><img src=x onerror="alert(2)">\'"&amp;'

/** Pages for people (operate contract §1): who sees what, who may do what, and what no page lets through. */
export function dashboardContract(name: string, start: Start): void {
  dashboardRecords(name, start)

  describe(`the dashboard on ${name}, where keys are required`, () => {
    let server: RunningServer
    let house: House
    let admin: Person & { key: { key: string; id: string } }
    let writer: typeof admin
    let reader: typeof admin
    let narrowed: typeof admin
    let operator: Person
    /** Of project p, of project secret, and of no project. */
    let ids: { p: number; secret: number; wide: number }
    const store = async (text: string, more: Record<string, unknown> = {}): Promise<number> =>
      (await house.call(writer.key.key, 'store_context', { thread_id: 'a thread', source: 'agent', text, ...more }))
        .context_id
    const versionOf = async (id: number): Promise<number> =>
      (await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })).result[0].version

    beforeAll(async () => {
      server = await start({ AUTH_MODE: 'required', ADMIN_TOKEN })
      house = houseOf(server)
      await house.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
      admin = await house.somebody({ role: 'admin', name: 'root' })
      writer = await house.somebody({ agent: 'ann', name: 'ann' })
      reader = await house.somebody({ role: 'reader', name: 'rea' })
      narrowed = await house.somebody({ projects: ['p'], name: 'nat' })
      operator = (await house.signIn(ADMIN_TOKEN)).person
      ids = {
        p: await store('of project p', { metadata: { project: 'p', kind: 'decision' }, thread_id: 'of p' }),
        secret: await store('of the secret project', { metadata: { project: 'secret' }, thread_id: 'of secret' }),
        wide: await store('of everybody'),
      }
    })
    afterAll(() => server?.stop())

    const pages = () => [
      ...[
        '/',
        '/search',
        '/search?q=project',
        '/search?project=p',
        '/threads',
        '/threads?begins=of',
        '/threads/of%20p',
      ],
      ...[
        `/entries/${ids.p}`,
        `/entries/${ids.p}/versions/1`,
        '/pack',
        '/pack?goal=the+project',
        '/activity',
        '/usage',
      ],
    ]
    const writing = () => [`/entries/${ids.p}/edit`, `/entries/${ids.p}/delete`]
    const writers = () => [...writing(), '/review']
    const administration = [
      ...['/projects', '/keys', '/audit', '/audit?action=store_context', '/settings', '/backups', '/cost'],
    ]

    it('shows each page only to the roles it is for', async () => {
      for (const path of [...pages(), ...writers(), ...administration]) {
        const statuses = await Promise.all(
          [admin, writer, narrowed, reader, operator, house.person('')].map(
            async (one) => (await one.get(path)).status,
          ),
        )
        const isAdministration = administration.includes(path)
        const expected = isAdministration
          ? [200, 403, 403, 403, 200, 401]
          : [200, 200, 200, writers().includes(path) ? 403 : 200, 403, 401]
        expect([path, ...statuses]).toEqual([path, ...expected])
      }
    })

    it('offers in the navigation and on pages what the key may do, and nothing else', async () => {
      const linksOf = async (one: Person, path: string) => (await one.get(path)).text
      expect(await linksOf(admin, '/')).toContain('href="/keys"')
      for (const one of [writer, narrowed, reader]) expect(await linksOf(one, '/')).not.toContain('href="/keys"')
      expect(await linksOf(operator, '/keys')).not.toContain('href="/search"')
      const edits = (id: number) => `href="/entries/${id}/edit"`
      for (const [one, id, may] of [
        [writer, ids.wide, true],
        [narrowed, ids.p, true],
        [narrowed, ids.wide, false],
        [reader, ids.p, false],
      ] as const)
        expect([id, (await linksOf(one, `/entries/${id}`)).includes(edits(id))]).toEqual([id, may])
    })

    it('cannot be read by other origins, cached or framed, and runs only its own script', async () => {
      for (const [one, paths] of [
        [admin, [...pages(), ...writing(), ...administration, '/entries/999999', '/nonsense/']],
        [house.person(''), ['/', '/login']],
      ] as const)
        for (const path of paths) {
          const { headers, text, status } = await one.get(path)
          if (path === '/nonsense/') {
            expect(status).toBe(404)
            continue
          }
          expect([path, Object.fromEntries(headers)]).toEqual([
            path,
            expect.objectContaining({
              'content-type': 'text/html; charset=utf-8',
              'cache-control': 'no-store',
              'x-frame-options': 'DENY',
              'x-content-type-options': 'nosniff',
              'content-security-policy': expect.stringMatching(/^default-src 'self'; .*frame-ancestors 'none'$/),
              'access-control-allow-origin': house.base,
            }),
          ])
          expect([path, text.match(/<script[^>]*>/g)]).toEqual([
            path,
            [expect.stringMatching(/^<script src="\/assets\/dashboard\.js\?v=[0-9a-f]+" type="module">$/)],
          ])
          expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
        }
    })

    it('accepts no form without the token of the session, with that of another, or from a page of another site', async () => {
      const id = await store('to be retained')
      const fields = { expected: '1' }
      const foreign = tokenOf((await reader.get('/')).text)
      for (const [why, more] of [
        ['none', { token: null }],
        ['wrong', { token: 'x'.repeat(43) }],
        ['of another', { token: foreign }],
        ['foreign page', { headers: { origin: 'https://evil.example' } }],
      ] as const)
        expect([why, (await writer.send(`/entries/${id}/delete`, fields, more)).status]).toEqual([why, 403])
      expect((await house.person('').send(`/entries/${id}/delete`, fields)).status).toBe(401)
      expect(await versionOf(id)).toBe(1)
      const json = { 'content-type': 'application/json' }
      expect((await writer.send(`/entries/${id}/delete`, fields, { headers: json })).status).toBe(401)
      expect((await writer.send(`/entries/${id}/delete`, fields)).status).toBe(303)
    })

    it('shows stored data as text on every page', async () => {
      const image = { data: base64(pngBytes()), mime_type: 'image/png' }
      const made = await house.key({ name: EVIL.slice(0, 60), agent: EVIL.slice(0, 60), projects: [EVIL.slice(0, 60)] })
      const metadata = {
        title: EVIL,
        kind: 'decision',
        status: EVIL,
        [`k${EVIL.slice(0, 20)}`]: EVIL,
        source_url: `javascript:${EVIL}`,
      }
      const given = {
        thread_id: EVIL,
        source: 'user',
        text: `${EVIL} elephants`,
        tags: [EVIL],
        images: [image],
        metadata,
      }
      const { context_id: first } = await house.call(made.key, 'store_context', given)
      const { context_id: id } = await house.call(made.key, 'store_context', {
        ...{ ...given, source: 'agent' },
        metadata: { ...metadata, supersedes: [first], references: { context_ids: [first] } },
      })
      await house.call(made.key, 'update_context', { context_id: id, text: `${EVIL} elephants again\n${EVIL}` })
      const query = encodeURIComponent(EVIL)
      const paths = [
        ...[
          '/',
          `/search?q=${query}+elephants`,
          '/search?q=elephants&by=words',
          `/search?tag=${query}&thread=${query}`,
        ],
        ...[`/search?field=${query}&value=${query}`, `/threads?begins=${query}`, `/threads/${query}`, '/threads'],
        ...[
          `/entries/${id}`,
          `/entries/${first}`,
          `/entries/${id}/versions/1`,
          `/entries/${id}/edit`,
          `/entries/${id}/delete`,
        ],
        ...[
          `/entries/${id}?done=${query}&change=${query}`,
          `/pack?goal=${query}+elephants&domain=${query}`,
          '/activity',
        ],
        ...['/projects', '/keys', `/audit?by=${query}`, `/settings?done=${query}`, `/login?next=${query}`],
      ]
      let seen = 0
      for (const path of paths) {
        const { text } = await admin.get(path)
        expect([path, text.match(/<script>|<img src=x|onerror="|href="javascript/i)]).toEqual([path, null])
        if (text.includes('&lt;script&gt;')) seen++
      }
      expect(seen).toBeGreaterThan(14)
      await house.call(made.key, 'delete_context', { context_ids: [first] })
      expect((await admin.get(`/entries/${first}`)).text).not.toMatch(/<script>|<img src=x/)
    })

    it('[OPERATE-136] suggests to a narrowed key no name, word or memory of another project', async () => {
      const json = async (one: Person, path: string) => JSON.parse((await one.get(path)).text)
      for (const path of ['/palette?q=secret', '/palette?q=of+secret', '/suggest?field=project&q=s']) {
        expect([path, await json(narrowed, path)]).toEqual([path, []])
        expect((await json(admin, path)).length).toBeGreaterThan(0)
      }
      for (const field of ['thread', 'agent', 'tag'])
        expect(JSON.stringify(await json(narrowed, `/suggest?field=${field}`))).not.toContain('secret')
      // A search with filters, or while a person types, looks for a spelling in all memories of the visitor.
      for (const more of ['', '&kind=epic', '&live=1']) {
        const misspelled = `/search?q=secrte&by=words${more}`
        expect([more, (await narrowed.get(misspelled)).text]).toEqual([more, expect.not.stringContaining('>secret<')])
        expect([more, (await admin.get(misspelled)).text]).toEqual([more, expect.stringContaining('>secret<')])
      }
      expect((await house.person('').get('/suggest?field=project')).status).toBe(404)
    })

    it('answers a narrowed key with guessed addresses as if nothing existed there', async () => {
      const apart = (text: string) => text.replaceAll(/\d+/g, '').replaceAll(/name="token" value="[^"]*"/g, '')
      for (const [guessed, never] of [
        [`/entries/${ids.secret}`, '/entries/999999'],
        [`/entries/${ids.secret}/edit`, '/entries/999999/edit'],
        [`/entries/${ids.secret}/delete`, '/entries/999999/delete'],
        [`/entries/${ids.secret}/versions/1`, '/entries/999999/versions/1'],
        ['/threads/of%20secret', '/threads/nothing'],
      ] as const) {
        const [a, b] = [await narrowed.get(guessed), await narrowed.get(never)]
        expect([guessed, a.status]).toEqual([guessed, 404])
        expect(apart(a.text)).toBe(apart(b.text))
      }
      for (const path of ['/search?project=secret', '/pack?goal=x&project=secret'])
        expect([path, (await narrowed.get(path)).status]).toEqual([path, 403])
      for (const path of [
        '/',
        '/search?q=secret',
        '/threads',
        '/threads?begins=of',
        '/pack?goal=secret+project',
        '/activity',
      ])
        expect([path, (await narrowed.get(path)).text]).toEqual([
          path,
          expect.not.stringMatching(/of the secret project|of secret/),
        ])
      for (const [path, fields] of [
        [`/entries/${ids.secret}/edit`, { text: 'mine', tags: '', metadata: '', expected: '1' }],
        [`/entries/${ids.secret}/restore`, { version: '1' }],
      ] as const)
        expect([path, (await narrowed.send(path, fields)).status]).toEqual([path, 404])
      await narrowed.send(`/entries/${ids.secret}/delete`, { expected: '1' })
      expect(await versionOf(ids.secret)).toBe(1)
      expect((await narrowed.send(`/entries/${ids.wide}/edit`, { text: 'mine', expected: '1' })).status).toBe(403)
    })

    it('ends a session with its key, at once, and never holds the key', async () => {
      const somebody = await house.somebody()
      expect((await somebody.get('/')).status).toBe(200)
      expect(somebody.cookie).not.toContain(somebody.key.key.slice(3, 20))
      expect((await house.person(`${somebody.cookie}x`).get('/')).status).toBe(401)
      const [, session = ''] = somebody.cookie.split('=')
      const other = somebody.cookie.replace(session, session.replace(somebody.key.id, admin.key.id))
      expect((await house.person(other).get('/keys')).status).toBe(401)
      await admin.send('/keys/revoke', { id: somebody.key.id })
      for (const path of ['/', `/entries/${ids.p}`, '/activity']) expect((await somebody.get(path)).status).toBe(401)
      expect((await somebody.send(`/entries/${ids.p}/delete`, { expected: '1' }, { token: 'x' })).status).toBe(401)
      expect((await somebody.get('/activity/stream', { accept: 'text/event-stream' })).status).toBe(404)
    })

    it('gives a session for a key that counts, and leads on to nowhere else', async () => {
      const { seen } = await house.signIn(writer.key.key, '/threads')
      expect([seen.status, locationOf(seen)]).toEqual([303, '/threads'])
      expect(seen.headers.getSetCookie().at(-1)).toMatch(/; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/)
      const wrong = await house.signIn('cp_wrong')
      expect([wrong.seen.status, wrong.seen.text]).toEqual([400, expect.stringContaining('This key is not valid')])
      for (const next of [
        'https://evil.example/',
        '//evil.example',
        '/\\evil.example',
        'javascript:alert(1)',
        '/\t/evil',
        '/..//evil.example',
        '/.//evil.example',
        '/%2e%2e//evil.example',
        '/a/..//evil.example',
        '/a/..\\\\evil.example',
      ])
        expect([next, locationOf((await house.signIn(writer.key.key, next)).seen)]).toEqual([next, '/'])
    })

    it('ends a session for every copy of its cookie when its person signs out, and no other session of the key', async () => {
      const first = await house.somebody()
      const second = (await house.signIn(first.key.key)).person
      const operator = (await house.signIn(ADMIN_TOKEN)).person
      const token = tokenOf((await first.get('/search')).text)
      const stream = await fetch(new URL('/activity/stream', house.base), { headers: { cookie: first.cookie } })
      const events = stream.body?.getReader()
      await events?.read()
      // A form of another session, or of none, ends nothing.
      expect((await first.send('/logout', {}, { token: 'x' })).status).toBe(403)
      expect((await first.get('/search')).status).toBe(200)
      for (const person of [first, operator]) {
        const out = await person.send('/logout', {})
        expect([out.status, locationOf(out)]).toEqual([303, '/login'])
        expect(out.headers.getSetCookie()[0]).toMatch(/=; Max-Age=0;/)
      }
      for (const path of ['/', '/search', `/entries/${ids.p}`, '/activity'])
        expect([path, (await first.get(path)).status]).toEqual([path, 401])
      expect((await operator.get('/projects')).status).toBe(401)
      expect((await first.send('/first-memory', {}, { token })).status).toBe(401)
      expect((await first.get('/activity/stream', { accept: 'text/event-stream' })).status).toBe(404)
      expect((await second.get('/search')).status).toBe(200)
      // A stream that is open ends with its session, before it shows what comes afterwards.
      await house.call(first.key.key, 'store_context', {
        thread_id: 'after',
        source: 'agent',
        text: 'stored afterwards',
      })
      let heard = ''
      for (;;) {
        const { value, done } = (await events?.read()) ?? { done: true, value: undefined }
        if (done) break
        heard += new TextDecoder().decode(value)
      }
      expect(heard).toMatch(/event: end\ndata: .*"unauthorized"/)
      expect(heard).not.toMatch(/"action":"store"|"thread_id":"after"/)
    })

    it('shows a page for a rate limit, at the sign-in and after it', async () => {
      const quick = await start({ AUTH_MODE: 'required', ADMIN_TOKEN, RATE_LIMIT_PER_MINUTE: '3' })
      try {
        const there = houseOf(quick)
        await there.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
        const somebody = await there.somebody()
        const seen = await Promise.all(Array.from({ length: 6 }, () => somebody.get('/threads')))
        const refused = seen.find(({ status }) => status === 429)
        expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
        expect(refused?.text).toContain('Too many requests')
      } finally {
        await quick.stop()
      }
    })

    it('counts wrong keys of one address, and accepts a valid key whatever others at that address do', async () => {
      const HEADER = 'x-client-of-the-entry'
      const tries = async (vars: Record<string, string>, headersOf: (n: number) => Record<string, string>) => {
        const server = await start({ AUTH_MODE: 'required', ADMIN_TOKEN, ...vars })
        try {
          const there = houseOf(server)
          await there.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
          const { key } = await there.key()
          const door = await there.ask('/login', { headers: { accept: 'text/html' } })
          const page = /name="page" value="([^"]*)"/.exec(door.text)?.[1] ?? ''
          const cookie = door.headers.getSetCookie()[0]?.split(';')[0] ?? ''
          const show = async (shown: string, headers: Record<string, string>, token = page) => {
            const type = 'application/x-www-form-urlencoded'
            const body = new URLSearchParams({ page: token, key: shown }).toString()
            const given = { 'content-type': type, origin: there.base, cookie, ...headers }
            return there.ask('/login', { method: 'POST', headers: given, body })
          }
          const wrong = () => formatKey(crypto.getRandomValues(new Uint8Array(32)))
          const statuses = async (shown: () => string, token = page) => {
            const answers = await Promise.all(Array.from({ length: 150 }, (_, n) => show(shown(), headersOf(n), token)))
            for (const { status, headers } of answers)
              if (status === 429) expect(headers.get('retry-after')).toMatch(/^\d+$/)
            return [...new Set(answers.map(({ status }) => status))].sort()
          }
          // Typos and forms of other sites count for nothing.
          expect([await statuses(() => 'cp_typo'), await statuses(wrong, 'f'.repeat(32))]).toEqual([[400], [403]])
          const seen = await statuses(wrong)
          const right = await show(key, headersOf(0))
          const operator = await show(ADMIN_TOKEN, headersOf(0))
          expect([right.status, operator.status]).toEqual([303, 303])
          return seen
        } finally {
          await server.stop()
        }
      }
      const address = (n: number) => `203.0.113.${n}`
      const cloudflare = JSON.stringify({ colo: 'ZRH' })
      expect(await tries({}, () => ({}))).toEqual([400, 429])
      // As Cloudflare reports: 150 addresses, or one of them.
      const onCloudflare = (one: string) => ({ 'mf-cf-blob': cloudflare, 'cf-connecting-ip': one })
      expect(await tries({}, (n) => onCloudflare(address(n)))).toEqual([400])
      expect(await tries({}, () => onCloudflare(address(1)))).toEqual([400, 429])
      // Elsewhere anybody can write such headers: only that of the server's own entry counts.
      const outside = { CLIENT_ADDRESS_HEADER: HEADER }
      const forged = (n: number) => ({
        ...onCloudflare(address(n)),
        'x-forwarded-for': address(n),
        'x-real-ip': address(n),
      })
      expect(await tries(outside, forged)).toEqual([400, 429])
      expect(await tries(outside, (n) => ({ [HEADER]: address(n) }))).toEqual([400])
      expect(await tries(outside, (n) => ({ ...forged(n), [HEADER]: address(1) }))).toEqual([400, 429])
    })

    it('asks a browser that comes by a link of another site to come again, which then sends its cookie', async () => {
      const { status, text } = await house.person('').get('/entries/7?a=%22', { 'sec-fetch-site': 'cross-site' })
      expect([status, text]).toEqual([200, expect.stringContaining('content="0;url=/entries/7?a=%22"')])
      expect(text).not.toContain('<form')
    })

    it('changes a memory at the version that was seen, and preserves the draft when it has changed meanwhile', async () => {
      const id = await store('first\nwords', { tags: ['a'], metadata: '{"n": 1152921504606846976, "project": "p"}' })
      const edit = await writer.get(`/entries/${id}/edit?view=json`)
      expect(edit.text).toContain('1152921504606846976')
      const metadata = '{"n": 1152921504606846976, "project": "p"}'
      const fields = { text: 'second\r\nwords', tags: 'a, b', metadata, expected: '1' }
      const stored = await writer.send(`/entries/${id}/edit`, fields)
      expect([stored.status, locationOf(stored)]).toEqual([303, `/entries/${id}?done=changed&from=1`])
      const late = await writer.send(`/entries/${id}/edit`, { ...fields, text: 'my own words' })
      expect([late.status, late.text]).toEqual([409, expect.stringContaining('my own words</textarea>')])
      expect(late.text).toContain('This memory changed while you were editing')
      const bad = await writer.send(`/entries/${id}/edit`, { ...fields, metadata: '{"n": ', expected: '2' })
      expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('role="alert"')])
      const { result } = await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })
      expect(result[0]).toMatchObject({ text_content: 'second\nwords', tags: ['a', 'b'], version: 2 })
      const page = await writer.get(`/entries/${id}`)
      expect(page.text).toMatch(/class="cut">-first<.*class="add">\+second</s)
    })

    it('removes a line of the metadata that was deleted in the form, but none that decides who can read the memory', async () => {
      const metadata =
        '{"n": 1152921504606846976, "title": "Old", "audience": "private", "project": "p", "mood": "low"}'
      const id = await store('kept private', { metadata })
      const fields = { text: 'kept private', tags: '', expected: '1' }
      await writer.send(`/entries/${id}/edit`, { ...fields, metadata: '{"n": 1152921504606846976}' })
      const page = await writer.get(`/entries/${id}/edit?view=json`)
      expect(page.text).toContain('1152921504606846976')
      const { result } = await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })
      expect(result[0].metadata).toEqual({ n: 2 ** 60, audience: 'private', project: 'p' })
    })

    it('deletes after a confirmation, undoes that, and restores an older version', async () => {
      const id = await store('to be deleted')
      expect((await writer.get(`/entries/${id}/delete`)).text).toContain('for 30 days')
      const gone = await writer.send(`/entries/${id}/delete`, { expected: '1' })
      expect(locationOf(gone)).toMatch(new RegExp(`^/entries/${id}\\?change=[0-9a-f]{32}$`))
      const after = await writer.get(locationOf(gone))
      expect(after.text).toContain('Undo')
      const change = /name="change" value="([^"]*)"/.exec(after.text)?.[1] ?? ''
      expect((await reader.get(`/entries/${id}`)).text).not.toContain('Restore')
      const back = await writer.send(`/entries/${id}/restore`, { change })
      expect([back.status, locationOf(back)]).toEqual([303, `/entries/${id}?done=restored`])
      await house.call(writer.key.key, 'update_context', { context_id: id, text: 'other words' })
      const now = await versionOf(id)
      await writer.send(`/entries/${id}/restore`, { version: '1', expected: String(now) })
      const { result } = await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })
      expect(result[0]).toMatchObject({ text_content: 'to be deleted', version: now + 1 })
    })

    it('reports a memory that was deleted meanwhile, preserves the draft, and stores it once the memory is restored', async () => {
      const id = await store('deleted during an edit')
      const gone = () => writer.send(`/entries/${id}/delete`, { expected: '1' })
      await gone()
      const twice = await gone()
      for (const seen of [
        twice,
        ...(await Promise.all(['edit', 'delete'].map((what) => writer.get(`/entries/${id}/${what}`)))),
      ])
        expect([seen.status, locationOf(seen)]).toEqual([303, `/entries/${id}`])
      const fields = { text: 'an unsaved text', tags: '', metadata: '' }
      const kept = await writer.send(`/entries/${id}/edit`, { ...fields, expected: '1' })
      expect([kept.status, kept.text]).toEqual([
        409,
        expect.stringMatching(
          /was deleted while you were editing.*target="_blank"[^>]*>Restore.*an unsaved text<\/textarea>/s,
        ),
      ])
      const expected = /name="expected" value="(\d+)"/.exec(kept.text)?.[1] ?? ''
      await writer.send(`/entries/${id}/restore`, {})
      const stored = await writer.send(`/entries/${id}/edit`, { ...fields, expected })
      expect([stored.status, locationOf(stored)]).toEqual([303, `/entries/${id}?done=changed&from=${expected}`])
    })

    it('returns the text of a form sent after the session has ended, links to its page, reads no file, and shows nothing from another site', async () => {
      const nobody = house.person('')
      const path = `/entries/${ids.p}/edit`
      const send = (headers: Record<string, string>) =>
        nobody.send(
          path,
          { text: 'many <b>words' },
          { token: 'x', headers: { referer: house.base + path, ...headers } },
        )
      const seen = await send({})
      expect([seen.status, seen.text]).toEqual([
        401,
        expect.stringMatching(/session has ended, so nothing was done.*many &lt;b&gt;words<\/textarea>/s),
      ])
      expect(seen.text).toContain(`name="next" value="${path}"`)
      expect((await send({ origin: 'https://evil.example' })).text).not.toContain('words')
      const body = new FormData()
      body.set('text', 'many words')
      const headers = { accept: 'text/html', origin: house.base }
      const ofFile = await house.ask('/settings/import', { method: 'POST', body, headers })
      expect([ofFile.status, ofFile.text.includes('many words')]).toEqual([401, false])
      expect(locationOf(await nobody.send('/logout', {}, { token: 'x' }))).toBe('/login')
    })

    it('shows a browser an error page for an unknown address, and a program the JSON error', async () => {
      for (const path of ['/nothing', '/review/keep', '/settings/work']) {
        const { status, text } = await writer.get(path)
        expect([path, status, text]).toEqual([path, 404, expect.stringContaining('No page exists at this address.')])
      }
      for (const [path, headers] of [
        ['/nothing', { accept: '*/*' }],
        ['/nothing', { accept: 'text/html', authorization: `Bearer ${writer.key.key}` }],
      ] as const) {
        const { status, text } = await house.ask(path, { headers })
        expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found'])
      }
    })

    it('breaks the name of a project that is a path behind a slash', async () => {
      const id = await store('of a path', { metadata: { project: '/home/<ann>/ship' } })
      expect((await writer.get(`/entries/${id}`)).text).toContain('/<wbr/>home/<wbr/>&lt;ann&gt;/<wbr/>ship</bdi>')
    })

    it('filters the audit log by an action as its rows show it', async () => {
      await store('for the audit log')
      expect((await admin.get('/audit?action=store+context')).text).toContain(
        '<td data-label="Action">store context</td>',
      )
    })

    it('refuses a reader what writes, and notes it', async () => {
      for (const [path, fields] of [
        ['/first-memory', {}],
        [`/entries/${ids.p}/delete`, { expected: '1' }],
        [`/entries/${ids.p}/restore`, { version: '1' }],
        ['/keys', { name: 'x', role: 'admin' }],
        ['/projects', { id: 'x' }],
        ['/settings/work', {}],
      ] as const)
        expect([path, (await reader.send(path, fields)).status]).toEqual([path, 403])
      const { events } = await house.admin('GET', '/orgs/acme/audit?limit=1000')
      const denied = events.filter(
        (event: { allowed: boolean; key_id: string }) => !event.allowed && event.key_id === reader.key.id,
      )
      const actions = denied.map(({ action }: { action: string }) => action)
      expect(actions).toEqual(
        expect.arrayContaining(['store_context', 'delete_context', 'restore_context', 'keys.create']),
      )
    })

    it('shows a key once, with the lines of every client of the list, and ends it', async () => {
      const made = await admin.send('/keys', {
        name: 'new one',
        role: 'writer',
        projects: 'p, q',
        expires_at: '2099-01-01',
      })
      expect(made.status).toBe(200)
      const key = /cp_[A-Za-z0-9_-]{49}/.exec(made.text)?.[0] ?? ''
      expect(made.text.match(/<details/g)?.length).toBe(SETUP_CLIENTS.length + OTHER_CLIENTS.length)
      // One click adds the server; the link never holds the key.
      for (const install of ['cursor://anysphere.cursor-deeplink/mcp/install', 'vscode:mcp/install'])
        expect(made.text).toContain(`href="${install}`)
      for (const [link] of made.text.matchAll(/href="(?:cursor|vscode):[^"]+/g))
        expect(decodeURIComponent(link)).not.toContain(key)
      expect((await house.call(key, 'list_threads')).total).toBeGreaterThan(0)
      const listed = await admin.get('/keys')
      expect(listed.text).not.toContain(key)
      const { keys } = await house.admin('GET', '/orgs/acme/keys')
      const { id, projects } = keys.find(({ name: known }: { name: string }) => known === 'new one')
      expect(projects).toEqual(['p', 'q'])
      await admin.send('/keys/revoke', { id })
      expect((await house.ask('/mcp', { method: 'POST', headers: { authorization: `Bearer ${key}` } })).status).toBe(
        401,
      )
      expect((await admin.send('/keys', { name: '', role: 'writer' })).status).toBe(400)
    })

    it('[OPERATE-151] lists keys in use and ended ones, with owner, creator and calls, and replaces a key', async () => {
      await admin.send('/keys', { name: 'Quokka bot', role: 'reader', capture: 'false' })
      const listed = await admin.get('/keys?sort=name')
      const row = /<tr[^>]*>(?:(?!<\/tr>).)*Quokka bot.*?<\/tr>/s.exec(listed.text)?.[0] ?? ''
      expect(row).toMatch(/owner .*no capture.*by .*never.*0 calls/s)
      const id = /name="id" value="(key_[0-9a-f]+)"/.exec(row)?.[1] ?? ''
      const made = await admin.send('/keys/rotate', { id, grace: '0' })
      const key = /cp_[A-Za-z0-9_-]{40,}/.exec(made.text)?.[0] ?? ''
      expect([made.status, made.text.includes(`it replaces (${id}) ended`)]).toEqual([200, true])
      expect((await house.signIn(key)).seen.status).toBe(303)
      expect((await admin.get('/keys')).text).not.toContain(id)
      expect((await admin.get('/keys?show=ended')).text).toContain(id)
      expect((await writer.send('/keys/rotate', { id, grace: '0' })).status).toBe(403)
    })

    it('[OPERATE-206] limits a key in the form of a new one and in its row, and shows what it used', async () => {
      const made = await admin.send('/keys', { name: 'Metered', role: 'writer', rate_limit: '300', max_entries: '5' })
      expect(made.status).toBe(200)
      const rowOf = async () =>
        /<tr[^>]*>(?:(?!<\/tr>).)*Metered.*?<\/tr>/s.exec((await admin.get('/keys?sort=name')).text)?.[0] ?? ''
      const row = await rowOf()
      expect(row).toMatch(/300 requests a minute.*0 of 5 new memories today/s)
      const id = /name="id" value="(key_[0-9a-f]+)"/.exec(row)?.[1] ?? ''
      expect(row).toContain(`id="max_entries-${id}" name="max_entries" type="text" value="5"`)
      const limited = await admin.send('/keys/limits', { id, rate_limit: '', max_entries: '9' })
      expect([limited.status, limited.headers.get('location')]).toEqual([303, '/keys?done=limits'])
      expect(await rowOf()).toMatch(/0 of 9 new memories today/)
      expect(await rowOf()).not.toContain('requests a minute</')
      const refused = await admin.send('/keys/limits', { id, rate_limit: '', max_entries: '<b>many' })
      expect(refused.status).toBe(400)
      expect(refused.text).toMatch(/Nothing was changed.*value="&lt;b&gt;many".*max_entries must be a whole number/s)
      expect((await admin.send('/keys', { name: 'x', role: 'writer', max_entries: '0' })).status).toBe(400)
      expect((await writer.send('/keys/limits', { id, rate_limit: '', max_entries: '99' })).status).toBe(403)
      expect(await rowOf()).toMatch(/0 of 9 new memories today/)
    })

    it('lets the holder of ADMIN_TOKEN administer any organization, and see no memory', async () => {
      expect((await operator.send('/organizations', { id: 'beta', name: 'Beta' })).status).toBe(303)
      expect((await operator.send('/projects', { org: 'beta', id: 'ship' })).status).toBe(303)
      expect((await operator.get('/projects?org=beta')).text).toContain('ship')
      for (const org of ['nobody', '\0']) {
        const missed = await operator.send('/projects', { org, id: 'ship' })
        expect([org, missed.status, missed.text.includes('No such organization')]).toEqual([org, 404, true])
      }
      const again = await operator.send('/projects', { org: 'beta', id: 'ship' })
      expect(again).toMatchObject({
        status: 409,
        text: expect.stringMatching(/Nothing was changed[\s\S]*already exists: ship/),
      })
      expect((await operator.get('/audit?org=beta')).text).toContain('projects.create')
      expect((await operator.send('/keys', { org: 'beta', name: 'k', role: 'reader' })).status).toBe(200)
      expect((await operator.get('/keys?org=nobody')).status).toBe(404)
      expect((await admin.send('/projects', { org: 'beta', id: 'theirs' })).status).toBe(303)
      expect((await house.admin('GET', '/orgs/beta/projects')).projects).toHaveLength(1)
      for (const path of pages()) expect([path, (await operator.get(path)).status]).toEqual([path, 403])
    })

    it('shows in its settings the image size of MAX_IMAGE_SIZE_MB', async () => {
      const { text } = await admin.get('/settings')
      expect(text.replaceAll(/<[^>]+>/g, ' ')).toMatch(/Size of an image\s+10 MB\s+MAX_IMAGE_SIZE_MB\s+default/)
    })

    it('leads the holder of ADMIN_TOKEN to what that may do, at the door and from a page that shows nothing', async () => {
      const { seen } = await house.signIn(ADMIN_TOKEN)
      expect([seen.status, seen.headers.get('location')]).toEqual([303, '/projects'])
      expect((await house.signIn(ADMIN_TOKEN, '/keys?org=acme')).seen.headers.get('location')).toBe('/keys?org=acme')
      expect((await operator.get('/threads')).text).toContain('<a href="/projects">Back to the projects</a>')
      expect((await house.signIn(admin.key.key)).seen.headers.get('location')).toBe('/')
      expect((await reader.get('/keys')).text).toContain('<a href="/">Back to the overview</a>')
    })

    it('finds by words, by meaning and by both, shows why, and has the search in its address', async () => {
      const id = await store('giraffes eat acacia leaves', { tags: ['zoo'], metadata: { n: 5, project: 'p' } })
      const found = async (query: string) => (await writer.get(`/search?${query}`)).text
      for (const by of ['both', 'words', 'meaning'])
        expect(await found(`q=giraffes+acacia&by=${by}`)).toContain(`/entries/${id}"`)
      const both = await found('q=giraffes')
      expect(both).toMatch(/<mark>giraffes<\/mark>/)
      expect(both).toMatch(/<b>Words<\/b> rank 1<span class="detail">, score [\d.]+/)
      expect(both).toMatch(/<b>Meaning<\/b> rank 1<span class="detail">, similarity 0\.[1-9]/)
      for (const [query, finds] of [
        ['tag=zoo', true],
        ['tag=zoo&source=user', false],
        ['field=n&op=gt&value=4', true],
        ['field=n&op=gt&value=5', false],
        ['tag=zoo&project=p&from=2020-01-01', true],
        ['tag=zoo&to=2020-01-01', false],
      ] as const)
        expect([query, (await found(query)).includes(`/entries/${id}"`)]).toEqual([query, finds])
      for (const query of [
        'field=a..b&value=1',
        'q=%22open&by=words&mode=boolean',
        'q=open&from=2026-02-02&to=2026-02-01',
      ]) {
        const { status, text } = await writer.get(`/search?${query}&tag=kept`)
        expect([query, status, /role="alert"/.test(text), /name="tag" type="text" value="kept"/.test(text)]).toEqual([
          ...[query, 400, true, true],
        ])
      }
      expect(await found('q=giraffes&tag=zoo')).toMatch(/name="tag" type="text" value="zoo"/)
    })

    it('reports when no memory has a word of the query and the results are only similar by meaning', async () => {
      const id = await store('okapis live in the forest of Ituri')
      const said = async (query: string) =>
        (await writer.get(`/search?${query}`)).text.includes('No memory contains these words')
      // Without a word that is found, and nothing similar, a search by both finds nothing.
      expect([await said('q=xyzzyqwert'), await said('q=okapis'), await said('q=okapis+xyzzyqwert')]).toEqual([
        ...[false, false, false],
      ])
      expect([id > 0, await said('q=xyzzyqwert&by=meaning'), await said('q=xyzzyqwert&by=words')]).toEqual([
        ...[true, false, false],
      ])
    })

    it('labels further pages of a search older if it is sorted by time, and otherwise by rank', async () => {
      for (let i = 0; i < 22; i++) await store(`Herons nest in poplar ${i}.`, { tags: ['herons'] })
      const words = async (query: string) => {
        const links = (await writer.get(`/search?${query}`)).text.matchAll(/rel="(prev|next)">([^<]+)</g)
        return [...links].map(([, rel, word]) => [rel, word])
      }
      expect(await words('tag=herons')).toEqual([['next', 'Older']])
      expect(await words('tag=herons&offset=20')).toEqual([['prev', 'Newer']])
      expect(await words('tag=herons&q=herons')).toEqual([['next', 'Further']])
      expect(await words('tag=herons&q=herons&offset=20')).toEqual([['prev', 'Better']])
    })

    it('shows of a pack why each item is there, with what score, and what the agent reads', async () => {
      await store('We decided to feed the penguins at noon.', {
        metadata: { kind: 'decision', title: 'Penguins at noon', project: 'p' },
      })
      const { text } = await writer.get('/pack?goal=when+to+feed+the+penguins&project=p')
      expect(text).toMatch(/Penguins at noon/)
      expect(text).toMatch(/class="reason"><bdi class="name">[^<]+</)
      expect(text).toMatch(/class="score">.*?[01](\.\d+)?<\/span>/s)
      expect(text).toMatch(/About [\d,]+ tokens, found by words and meaning/)
      expect(text).toContain('# Context pack')
    })

    it('[OPERATE-150] compares the packs of two goals: memories of both, with both scores, and of each alone', async () => {
      for (const [title, text] of [
        ['Geese at dawn', 'We decided to count the geese of the marsh at dawn.'],
        ['Geese at the fence', 'We decided to repair the fence of the marsh against geese.'],
      ] as const)
        await store(text, { metadata: { kind: 'decision', title, project: 'marsh' } })
      const goals = 'goal=count+the+geese+of+the+marsh+at+dawn&other=repair+the+fence+of+the+marsh+against+geese'
      const { text } = await writer.get(`/pack?${goals}&project=marsh`)
      const comparison = text.slice(text.indexOf('aria-label="Comparison"'))
      expect(comparison).toMatch(
        /Only “count the geese.*Geese at dawn.*Only “repair the fence.*Geese at the fence.*Both goals/s,
      )
      const same = 'goal=count+the+geese&other=geese+to+count'
      expect((await writer.get(`/pack?${same}&project=marsh`)).text).toMatch(
        /Both goals.*Geese at dawn.*[\d.]+ → [\d.]+/s,
      )
      expect((await narrowed.get(`/pack?${goals}&project=marsh`)).text).not.toContain('Geese at dawn')
      expect((await writer.get('/pack?other=geese')).text).not.toContain('aria-label="Comparison"')
    })

    it('names what a pack left out, and why, to whom it is shown', async () => {
      for (const [text, metadata] of [
        [
          'Otters sleep in kelp, said once.',
          { supersedes: [await store('Otters sleep on land.', { metadata: { project: 'p' } })] },
        ],
        ['Otters sleep in kelp, said once!', {}],
      ] as const)
        await store(text, { metadata: { ...metadata, project: 'p', kind: 'decision' }, thread_id: 'otters' })
      const { text } = await writer.get('/pack?goal=where+do+otters+sleep&project=p')
      const leftOut = text.slice(text.indexOf('<h2>Left out</h2>'))
      expect(leftOut).toMatch(/1 memory superseded.*Otters sleep on land/s)
      expect(leftOut).toMatch(/1 memory already included.*Otters sleep in kelp/s)
      const other = await narrowed.get('/pack?goal=of+the+secret+project')
      expect(other.text).not.toContain('secret project</bdi>')
    })

    describe('the review of captured sessions', () => {
      let serial = 0
      const capture = async (prompt: string): Promise<void> => {
        const session = claudeCode(`d${++serial}`)
        const events = [session.prompt(prompt), session.edit(`${serial}.ts`), session.end()]
        const place = { folder: '/home/ann/ship', project: 'p', branch: 'main' }
        const body = { events: events.map((event) => ({ ...event, at: Date.now(), place })) }
        const headers = { authorization: `Bearer ${writer.key.key}`, 'content-type': 'application/json' }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        expect((await house.ask('/api/v1/hooks/claude-code', init)).status).toBe(200)
      }
      /** The first session of the page, and what its forms carry. */
      const first = async (path = '/review') => {
        const { text } = await writer.get(path)
        const value = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''
        return { id: value('id'), version: value('version'), text }
      }
      const whole = async (id: string) => {
        const { result } = await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })
        const { version: _, updated_at: __, ...entry } = result[0] ?? {}
        return entry
      }
      const undo = async (page: { headers: Headers }) => {
        const change =
          new URL(page.headers.get('location') ?? '', house.base).searchParams.getAll('change').at(-1) ?? ''
        return writer.send('/review/undo', { change })
      }

      it('keeps, drops and merges a session, and undoes each exactly', async () => {
        for (const prompt of ['paint the hull', 'mend the sail', `${EVIL} captured`]) await capture(prompt)
        const { id, version, text } = await first()
        expect(text).not.toMatch(/<script>|<img src=x/)
        const before = await whole(id)
        const kept = await writer.send('/review/keep', {
          id,
          version,
          kind: 'note',
          'other-kind': 'rule',
          title: 'Kept by hand',
        })
        expect([kept.status, locationOf(kept)]).toEqual([
          303,
          expect.stringMatching(/^\/review\?done=keep&made=\d+&change=/),
        ])
        expect((await whole(id)).metadata).toMatchObject({ kind: 'rule', title: 'Kept by hand' })
        expect((await first()).id).not.toBe(id)
        expect((await writer.get(locationOf(kept))).text).toContain('Undo')
        expect((await undo(kept)).status).toBe(303)
        expect(await whole(id)).toEqual(before)
        const again = await first()
        expect(again.id).toBe(id)
        const dropped = await writer.send('/review/drop', { id, version: again.version })
        expect(await whole(id)).toEqual({})
        await undo(dropped)
        expect(await whole(id)).toEqual(before)
        const [now, second] = [await first(), /name="with" value="(\d+-\d+)"/.exec((await first()).text)?.[1] ?? '']
        const sources = [await whole(now.id), await whole(second.split('-')[0] ?? '')]
        const merged = await writer.send('/review/merge', {
          ...{ id: now.id, version: now.version, with: second, content: 'Both in one.' },
          ...{ 'merged-kind': 'note', 'merged-title': 'One of two' },
        })
        const made = new URL(locationOf(merged), house.base).searchParams.get('made') ?? ''
        expect((await whole(made)).text_content).toBe('Both in one.')
        expect((await first()).id).not.toBe(now.id)
        await undo(merged)
        expect(await whole(made)).toEqual({})
        expect([await whole(now.id), await whole(second.split('-')[0] ?? '')]).toEqual(sources)
        const page = (await writer.get(`/entries/${now.id}`)).text
        expect(page).not.toMatch(/<h2>\d+ links?</)
        expect(page).toMatch(/Version \d+<.*restored by.*deleted by/s)
      })

      it('refuses entries that changed meanwhile, entries of others, and reader keys', async () => {
        const { id, version } = await first()
        expect((await writer.send('/review/keep', { id, version: '77', kind: 'note' })).status).toBe(409)
        expect((await writer.send('/review/keep', { id, version, kind: 'nonsense' })).status).toBe(400)
        expect((await writer.send('/review/keep', { id: String(ids.wide), version: '1', kind: 'note' })).status).toBe(
          404,
        )
        expect((await writer.send('/review/undo', { change: 'x' })).status).toBe(400)
        for (const path of ['/review/keep', '/review/drop'])
          expect([path, (await narrowed.send(path, { id, version })).status]).toEqual([path, 404])
        expect((await reader.get('/review')).status).toBe(403)
        expect((await reader.send('/review/drop', { id, version })).status).toBe(403)
        expect((await narrowed.get('/review')).text).toContain('No sessions to review')
        expect((await reader.get('/')).text).not.toContain('href="/review"')
      })

      it('lists what waits with similar sessions together, counts it in the navigation, and approves or drops several', async () => {
        for (const times of ['twice', 'thrice']) await capture(`rig the spare mast and test it ${times} in the bay`)
        const { text } = await writer.get('/review')
        expect(text).toMatch(/<legend>\d similar sessions<\/legend>.*rig the spare mast.*rig the spare mast/s)
        const waits = async () =>
          Number(/class="waiting">(\d+)<span class="hidden"> waiting/.exec((await writer.get('/')).text)?.[1])
        const before = await waits()
        const [picked = '', other = ''] = [...text.matchAll(/name="pick" value="(\d+-\d+)"/g)].map(
          ([, value = '']) => value,
        )
        expect((await writer.send('/review/several', { do: 'keep' })).status).toBe(400)
        expect(
          (await writer.send('/review/several', { do: 'keep', pick: [picked, other] }, { token: null })).status,
        ).toBe(403)
        const kept = await writer.send('/review/several', { do: 'keep', pick: [picked, other] })
        expect([kept.status, await waits()]).toEqual([303, before - 2])
        await undo(kept)
        expect(await waits()).toBe(before)
        const again = [...(await writer.get('/review')).text.matchAll(/name="pick" value="(\d+-\d+)"/g)].map(
          ([, one = '']) => one,
        )
        const dropped = await writer.send('/review/several', { do: 'drop', pick: again.slice(0, 2) })
        expect([dropped.status, await waits()]).toEqual([303, before - 2])
        await undo(dropped)
        expect(await waits()).toBe(before)
        const stale = await writer.send('/review/several', {
          do: 'drop',
          pick: [again[0] ?? '', `${(again[1] ?? '').split('-')[0]}-77`],
        })
        expect([stale.status, await waits()]).toEqual([409, before])
        expect((await reader.send('/review/several', { do: 'drop', pick: again.slice(0, 2) })).status).toBe(403)
      })

      it('shows on a memory and on the page of the week how often sessions used it, and who did last', async () => {
        const session = claudeCode(`d${++serial}`)
        const id = ids.p
        const events = [session.prompt('Which of them?'), session.prompt('And now?'), session.stop(`See [${id}].`)]
        const start = session.start()
        const place = { folder: '/home/ann/ship', project: 'p', branch: 'main' }
        const headers = { authorization: `Bearer ${writer.key.key}`, 'content-type': 'application/json' }
        for (const [sent, answer] of [
          [[start], start.id],
          [events, undefined],
        ] as const) {
          const body = JSON.stringify({ events: sent.map((event) => ({ ...event, at: Date.now(), place })), answer })
          expect((await house.ask('/api/v1/hooks/claude-code', { method: 'POST', headers, body })).status).toBe(200)
        }
        for (const path of [`/entries/${id}`, '/usage'])
          for (const one of [writer, reader, narrowed])
            expect([path, (await one.get(path)).text]).toEqual([
              path,
              expect.stringMatching(/used 1 time, last by .*claude-code.*just now/s),
            ])
        expect((await writer.get(`/entries/${ids.wide}`)).text).not.toContain('last by')
        const version = await versionOf(id)
        const archived = await writer.send('/usage/archive', { do: 'archive', pick: `${id}-${version}` })
        expect([archived.status, locationOf(archived)]).toEqual([303, `/usage?done=archived&pick=${id}-${version}`])
        expect((await writer.get(locationOf(archived))).text).toContain('Undo')
        expect((await writer.get('/search?project=p')).text).not.toContain('of project p')
        await writer.send('/usage/archive', { do: 'back', pick: `${id}-${version}` })
        expect((await writer.get('/search?project=p')).text).toContain('of project p')
        expect((await reader.send('/usage/archive', { do: 'archive', pick: `${id}-${version}` })).status).toBe(403)
        expect((await writer.send('/usage/archive', { do: 'archive', pick: `${id}-99` })).status).toBe(409)
      })

      it('goes on behind what is put off', async () => {
        const { id, text } = await first()
        const later = /href="([^"]*after=[^"]*)"/.exec(text)?.[1] ?? ''
        expect((await first(later)).id).not.toBe(id)
      })
    })

    it('[OPERATE-152] pages through the activity by day, with filters by action, project and thread', async () => {
      const thread = `walrus-${Date.now()}`
      const stored: number[] = []
      for (let i = 0; i < 65; i++)
        stored.push(await store(`Walrus ${i} rests.`, { thread_id: thread, metadata: { project: 'p' } }))
      const idsOf = (text: string) =>
        [...text.matchAll(/class="excerpt"><a href="\/entries\/(\d+)"/g)].map(([, id]) => Number(id))
      const first = await writer.get(`/activity?thread=${thread}&project=p&action=stored`)
      expect(first.text).toContain('<h2>Today</h2>')
      expect(idsOf(first.text)).toEqual(stored.slice(5).reverse())
      const [, older = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? []
      const second = await writer.get(older.replaceAll('&amp;', '&'))
      expect(idsOf(second.text)).toEqual(stored.slice(0, 5).reverse())
      expect([second.text.includes('data-feed'), second.text.includes('rel="next"')]).toEqual([false, false])
      expect(idsOf((await writer.get(`/activity?thread=${thread}&action=deleted`)).text)).toEqual([])
      expect((await writer.get('/activity?before=nothing')).status).toBe(400)
      expect(idsOf((await narrowed.get(`/activity?thread=${thread}`)).text).length).toBeLessThanOrEqual(60)
    })

    it('streams what changes to a session that sees it', async () => {
      const page = await writer.get('/activity')
      const feed = /data-feed="([^"]*)"/.exec(page.text)?.[1] ?? ''
      await store('streamed', { thread_id: 'live' })
      const stop = new AbortController()
      const response = await fetch(new URL(feed, house.base), {
        headers: { cookie: writer.cookie, accept: 'text/event-stream' },
        signal: stop.signal,
      })
      expect(response.headers.get('cache-control')).toMatch(/^no-store/)
      const reading = response.body?.getReader()
      let heard = ''
      while (reading && !heard.includes('streamed')) heard += new TextDecoder().decode((await reading.read()).value)
      stop.abort()
      expect(heard).toContain('"action":"stored"')
    })

    it('serves images to a session that sees them, and to no other', async () => {
      const image = { data: base64(pngBytes('of the dashboard')), mime_type: 'image/png' }
      const id = await store('with an image', { images: [image], metadata: { project: 'secret' } })
      const hash = /\/images\/([0-9a-f]{64})/.exec((await writer.get(`/entries/${id}`)).text)?.[1]
      const seen = async (one: Person) => (await one.get(`/images/${hash}`, { accept: 'image/*' })).status
      expect(await Promise.all([writer, reader, narrowed, house.person('')].map(seen))).toEqual([200, 200, 404, 401])
    })

    it('shows a memory of a megabyte, of any script and of any direction', async () => {
      const long = await store(`${'long words '.repeat(90_000)}end of it`, { thread_id: '..' })
      expect((await writer.get(`/entries/${long}`)).text).toContain('end of it')
      expect((await writer.get('/threads?id=..')).text).toContain('Read all')
      const id = await store('\n\u202eשלום 👩‍👩‍👧‍👦 مرحبا', {
        thread_id: 'ünï/cödé?#%',
        metadata: { title: '\u202eשלום' },
      })
      const { text } = await writer.get(`/entries/${id}`)
      expect(text).toContain('👩‍👩‍👧‍👦 مرحبا')
      expect(text).toMatch(/<bdi class="name">\u202eשלום<\/bdi>/)
      expect((await writer.get(`/threads/${encodeURIComponent('ünï/cödé?#%')}`)).status).toBe(200)
      expect((await writer.get('/threads/%E0%A4%A')).status).toBe(404)
    })

    it('exports the entries that its administrator sees to a file, and imports such a file after a preview', async () => {
      const { context_id: one } = await house.call(writer.key.key, 'store_context', {
        ...{ thread_id: 'moved', source: 'agent', text: 'to be moved', metadata: { project: 'moving' } },
      })
      await house.call(writer.key.key, 'store_context', {
        ...{ thread_id: 'moved', source: 'agent', text: 'moved with it', metadata: { project: 'moving' } },
      })
      const exported = await admin.download('/settings/export', { project: 'moving', history: 'true' })
      const shown = (name: string) => exported.headers.get(name)
      expect([exported.status, shown('content-type'), shown('cache-control')]).toEqual([
        200,
        'application/gzip',
        'no-store',
      ])
      expect(shown('content-disposition')).toMatch(/^attachment; filename="acme-\d{4}-\d\d-\d\d\.ndjson\.gz"$/)
      const file = new Uint8Array(await exported.arrayBuffer())
      const text = gunzipSync(file).toString()
      expect(text.split('\n').filter((line) => line.includes('"record":"entry"'))).toHaveLength(2)

      await house.admin('POST', '/orgs', { id: 'moved', name: 'Moved' })
      const fields = { org: 'moved', on_conflict: 'skip' }
      const counted = (seen: { text: string }, what: string) =>
        Number(new RegExp(`Memories ${what}</th><td class="num">(\\d+)<`).exec(seen.text)?.[1] ?? 0)
      const looked = await operator.sendFile('/settings/import', { ...fields, dry_run: 'true' }, file)
      expect([looked.status, counted(looked, 'stored')]).toEqual([200, 2])
      expect(looked.text).toContain('nothing was changed')
      const entriesOf = async () =>
        gunzipSync(await (await operator.download('/settings/export', { org: 'moved' })).arrayBuffer()).toString()
      expect(await entriesOf()).not.toContain('to be moved')
      expect(counted(await operator.sendFile('/settings/import', fields, file), 'stored')).toBe(2)
      expect(await entriesOf()).toContain('to be moved')
      expect(counted(await operator.sendFile('/settings/import', fields, file), 'unchanged')).toBe(2)
      expect(counted(await admin.sendFile('/settings/import', {}, file), 'unchanged')).toBe(2)

      const altered = gzipSync(text.replace('to be moved', 'to be mOved'))
      for (const [why, sent, bytes, status, says] of [
        ['altered', {}, altered, 400, /line \d+: the bytes do not match this hash/],
        ['cut', {}, file.slice(0, file.length - 9), 400, /truncated or altered/],
        ['none', {}, null, 400, /Choose a file/],
        ['no choice', { on_conflict: 'guess' }, file, 400, /Choose what to do/],
        ['no token', { token: 'x'.repeat(43) }, file, 403, /another session/],
        ['too large', {}, new Uint8Array(20_000_001), 413, /larger than 20000000 bytes/],
      ] as const) {
        const answer = await admin.sendFile('/settings/import', sent, bytes)
        expect([why, answer.status, answer.text]).toEqual([why, status, expect.stringMatching(says)])
      }
      expect((await admin.send('/settings/export', {}, { token: 'x'.repeat(43) })).status).toBe(403)
      for (const path of ['/settings/export', '/settings/import'])
        for (const who of [reader, writer, narrowed]) {
          const token = tokenOf((await who.get('/')).text)
          expect([path, (await who.send(path, { token })).status]).toEqual([path, 403])
        }
      expect(await versionOf(one)).toBe(1)
    })

    it('exports to a narrowed administrator what its key may read, and nothing else', async () => {
      const some = await house.somebody({ role: 'admin', projects: ['p'], name: 'narrow admin' })
      const answer = await some.download('/settings/export', {})
      const text = gunzipSync(await answer.arrayBuffer()).toString()
      expect(text).toContain('of project p')
      expect(text).not.toContain('secret project')
      expect((await some.download('/settings/export', { project: 'secret' })).status).toBe(403)
      expect((await some.download('/settings/export', { org: 'beta' })).status).toBe(200)
    })

    it('answers programs as before', async () => {
      const bearer = { authorization: `Bearer ${writer.key.key}` }
      for (const [path, headers, status] of [
        ['/', { accept: '*/*' }, 404],
        ['/keys', { accept: '*/*' }, 404],
        ['/search', {}, 404],
        [`/entries/${ids.p}`, { accept: '*/*' }, 401],
      ] as const) {
        const answer = await house.ask(path, { headers })
        expect([path, answer.status, JSON.parse(answer.text).error.code]).toEqual([
          path,
          status,
          status === 404 ? 'not_found' : 'unauthorized',
        ])
      }
      const page = await house.ask(`/entries/${ids.p}`, { headers: { ...bearer, accept: 'text/html' } })
      expect([page.status, page.headers.get('content-security-policy')]).toEqual([
        200,
        expect.stringMatching(/^default-src 'none'; style-src 'nonce-/),
      ])
      const wrong = await house.ask(`/entries/${ids.p}`, {
        headers: { accept: 'text/html', authorization: 'Bearer cp_wrong' },
      })
      expect([wrong.status, wrong.headers.get('content-type')]).toEqual([401, 'application/json'])
    })
  })

  describe(`the dashboard on ${name}, in open mode`, () => {
    let server: RunningServer
    let house: House
    beforeAll(async () => {
      server = await start({ AUTH_MODE: 'open' })
      house = houseOf(server)
    })
    afterAll(() => server?.stop())

    it('teaches while nothing is stored, and stores a first memory', async () => {
      const visitor = await house.visitor()
      const { text } = await visitor.get('/')
      expect(text).toContain('A memory for your agents')
      expect(text).toContain(`claude mcp add --transport http commonplace ${house.base}/mcp/core<`)
      expect(text.match(/<details/g)?.length).toBe(SETUP_CLIENTS.length + OTHER_CLIENTS.length)
      const stored = await visitor.send('/first-memory', {}, { token: tokenOf(text) })
      expect((await visitor.get(locationOf(stored))).text).toContain('Our first memory')
      expect((await visitor.get('/')).text).toContain('Overview')
    })

    it('is open to this computer only, and to no page of another origin', async () => {
      const visitor = await house.visitor()
      const token = tokenOf((await visitor.get('/keys')).text)
      for (const headers of [{ origin: 'https://evil.example' }, { origin: 'http://localhost:1' }, { origin: 'null' }])
        for (const answer of [
          await visitor.get('/', headers),
          await visitor.send('/projects', { id: 'evil' }, { token, headers }),
        ]) {
          expect([headers, answer.status]).toEqual([headers, 403])
          expect(answer.headers.get('access-control-allow-origin')).toBeNull()
        }
      expect((await visitor.send('/projects', { id: 'evil' }, { token: null })).status).toBe(403)
      expect((await house.person('').send('/projects', { id: 'evil' }, { token })).status).toBe(403)
      expect((await visitor.get('/projects')).text).not.toContain('evil')
      expect((await visitor.send('/projects', { id: 'good' }, { token })).status).toBe(303)
    })

    it('shows every page, those of an administrator too', async () => {
      const visitor = await house.visitor()
      const { context_id: id } = await house.call(null, 'store_context', {
        ...{ thread_id: 'open', source: 'agent', text: 'Open to this computer' },
      })
      const paths = [
        ...[
          '/',
          '/search',
          '/search?q=open',
          '/threads',
          '/threads/open',
          `/entries/${id}`,
          `/entries/${id}/versions/1`,
        ],
        ...[`/entries/${id}/edit`, `/entries/${id}/delete`, '/pack', '/pack?goal=open', '/activity', '/review'],
        ...['/projects', '/keys', '/audit', '/backups', '/cost', '/settings'],
      ]
      for (const path of paths) expect([path, (await visitor.get(path)).status]).toEqual([path, 200])
    })

    it('has no sign-in, and does not accept sessions of another server', async () => {
      expect(locationOf(await house.person('').get('/login'))).toBe('/')
    })
  })
}
