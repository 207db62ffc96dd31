import Ajv2020 from 'ajv/dist/2020'
import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../../src/http/rest/operations'
import type { Answer, Team } from '../../support/access'
import { base64, pngBytes } from '../../support/scope'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any

/** The core tools as REST (platform contract §9). */
export function restContract(): void {
  describe('REST', () => {
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

    const rest = (method: string, path: string, body?: Json, bearer = ada, headers: Record<string, string> = {}) =>
      team.ask(`/api/v1/orgs/-${path}`, bearer, method, body, headers)
    async function ok(method: string, path: string, body?: Json, bearer = ada): Promise<Json> {
      const { status, body: answer, text } = await rest(method, path, body, bearer)
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
      return answer
    }
    const store = async (content: string, more: Json = {}, bearer = ada): Promise<number> =>
      (await ok('POST', '/entries', { title: content.slice(0, 60), content, ...more }, bearer)).id
    const failed = ({ status, body }: Answer) => [status, body.error.code]

    it('[PLATFORM-96] stores, reads, updates, deletes and restores a memory in the words of the core tools', async () => {
      const word = unique('lighthouse')
      const made = await rest('POST', '/entries', {
        ...{
          title: 'Night shift',
          content: `The ${word} is lit at dusk.`,
          kind: 'rule',
          project: 'shore',
          tags: ['sea'],
        },
      })
      expect(made.status).toBe(201)
      const { id } = made.body
      expect(made.headers.get('location')).toBe(`/api/v1/orgs/-/entries/${id}`)
      expect(made.body).toMatchObject({ kind: 'rule', project: 'shore' })
      expect(await ok('GET', `/entries/${id}`)).toMatchObject({ id, title: 'Night shift', tags: ['sea'], version: 1 })
      expect(await ok('PATCH', `/entries/${id}`, { append: 'Except in fog.', expected_version: 1 })).toMatchObject({
        ...{ id, version: 2, changed: ['content'] },
      })
      expect((await ok('GET', `/entries/${id}`)).content).toContain('Except in fog.')
      expect((await ok('GET', `/entries/${id}/history`)).versions).toHaveLength(2)
      expect((await ok('GET', `/search?query=${word}&project=shore`)).results).toMatchObject([{ id }])
      expect((await ok('POST', '/search', { query: word, where: { kind: 'rule' } })).results).toMatchObject([{ id }])
      const pack = await ok('GET', `/context?goal=${word}&project=shore`)
      expect(pack.sections.flatMap((section: Json) => section.memories)).toMatchObject([{ id }])
      expect(await ok('POST', '/context', { goal: word, project: 'shore' })).toEqual(pack)
      const deleted = await ok('DELETE', `/entries/${id}`)
      expect(deleted).toMatchObject({ deleted: 1, undo: expect.stringContaining('change_id') })
      expect(failed(await rest('GET', `/entries/${id}`))).toEqual([404, 'not_found'])
      const [, change] = /"change_id": "([^"]+)"/.exec(deleted.undo) ?? []
      expect((await ok('POST', '/restore', { change_id: change })).restored).toMatchObject([{ id }])
      expect(await ok('GET', `/entries/${id}`)).toMatchObject({ id })
    })

    it('[PLATFORM-96] answers as the tool of MCP does', async () => {
      const word = unique('gannet')
      const id = await store(`A ${word} dives from the cliff.`, { tags: ['birds'] })
      const core = async (name: string, args: Json) => {
        const params = { name, arguments: args }
        const { text } = await team.ask('/mcp/core', ada, 'POST', {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params,
        })
        return JSON.parse(text).result.structuredContent
      }
      expect(await ok('GET', `/entries/${id}`)).toEqual(await core('fetch', { id }))
      expect(await ok('GET', `/search?query=${word}&explain=true&limit=3`)).toEqual(
        await core('search', { query: word, explain: true, limit: 3 }),
      )
      expect((await rest('GET', '/search?mode=guess')).body).toEqual(await core('search', { mode: 'guess' }))
      expect((await rest('PATCH', `/entries/${id}`, { colour: 'red' })).body).toEqual(
        await core('update', { id, colour: 'red' }),
      )
    })

    it('[PLATFORM-97] reads lists as "a,b" or repeated parameters, and objects as JSON', async () => {
      const project = unique('list')
      const first = await store('The first of two.', { project, tags: ['x'], kind: 'rule', metadata: { n: 1 } })
      const second = await store('The second of two.', { project, tags: ['y'], kind: 'gotcha', metadata: { n: 2 } })
      const ids = async (query: string): Promise<number[]> =>
        (await ok('GET', `/entries?project=${project}${query}`)).results.map((one: Json) => one.id)
      expect(await ids('')).toEqual([second, first])
      expect(await ids('&limit=1&offset=1')).toEqual([first])
      expect(await ids('&tags=x,y')).toEqual([second, first])
      expect(await ids('&tags=x&tags=y')).toEqual([second, first])
      expect(await ids('&kind=rule')).toEqual([first])
      expect(await ids(`&where=${encodeURIComponent('{"n": {"gte": 2}}')}`)).toEqual([second])
      const gone = await ok('DELETE', `/entries?ids=${first},${second}&dry_run=true`)
      expect(gone.would_delete).toBe(2)
      const filter = encodeURIComponent(JSON.stringify({ project, kind: ['rule'] }))
      expect((await ok('DELETE', `/entries?filter=${filter}&dry_run=false`)).deleted).toBe(1)
      expect(await ids('')).toEqual([second])
      expect(failed(await rest('DELETE', '/entries'))).toEqual([400, 'invalid_input'])
      expect(failed(await rest('DELETE', '/entries?thread='))).toEqual([400, 'invalid_input'])
    })

    it('[PLATFORM-97] stores images, and names the address of each', async () => {
      const data = base64(pngBytes('of REST'))
      const id = await store(unique('A picture'), { images: [{ data, mime_type: 'image/png' }] })
      const { images } = await ok('GET', `/entries/${id}?images=true`)
      expect(images).toEqual([
        {
          ...{ mime_type: 'image/png', size: expect.any(Number) },
          sha256: expect.any(String),
          url: expect.any(String),
        },
      ])
      expect((await team.ask(new URL(images[0].url).pathname, ada)).status).toBe(200)
    })

    it('[PLATFORM-97] refuses a body of another type, a body that is not an object, and an ID in both places', async () => {
      const id = await store(unique('A memory with one address'))
      const raw = (type: string, body: string) =>
        fetch(new URL('/api/v1/orgs/-/entries', team.server.url.href), {
          method: 'POST',
          headers: { authorization: `Bearer ${ada}`, 'content-type': type },
          body,
        }).then(async (response) => [response.status, ((await response.json()) as Json).error.message])
      expect(await raw('text/plain', '{"title": "a", "content": "b"}')).toEqual([
        400,
        'Content-Type must be application/json',
      ])
      expect(await raw('application/json', '[1]')).toEqual([400, 'The body must be a JSON object'])
      expect(await raw('application/json', '{')).toEqual([400, 'The body must be a JSON object'])
      expect(await raw('application/json', `{"title": "a", "metadata": {"list": [${'0,'.repeat(60_000)}0]}}`)).toEqual([
        ...[413, expect.stringContaining('50000')],
      ])
      expect(failed(await rest('PATCH', `/entries/${id}`, { id: 1, title: 'Other' }))).toEqual([400, 'invalid_input'])
      expect(failed(await rest('DELETE', `/entries/${id}?ids=1`))).toEqual([400, 'invalid_input'])
      expect(failed(await rest('GET', '/entries/none'))).toEqual([400, 'invalid_input'])
    })

    it('[PLATFORM-98] answers a repeated call with an Idempotency-Key from its receipt, over MCP as well', async () => {
      const args = { title: 'Once', content: 'Stored once.', project: unique('once') }
      const key = unique('key')
      const send = (body: Json) => rest('POST', '/entries', body, ada, { 'Idempotency-Key': key })
      const first = await send(args)
      expect(first.status).toBe(201)
      const again = await send(args)
      expect([again.status, again.body]).toEqual([200, { ...first.body, replayed: true }])
      expect(failed(await send({ ...args, content: 'Another.' }))).toEqual([409, 'conflict'])
      const params = { name: 'remember', arguments: { ...args, idempotency_key: key } }
      const { text } = await team.ask('/mcp/core', ada, 'POST', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      expect(JSON.parse(text).result.structuredContent).toEqual(again.body)
      expect((await ok('GET', `/entries?project=${args.project}`)).results).toHaveLength(1)
      const { id } = first.body
      const remove = () => rest('DELETE', `/entries/${id}`, undefined, ada, { 'Idempotency-Key': `${key}-2` })
      const gone = await remove()
      expect((await remove()).body).toEqual({ ...gone.body, replayed: true })
    })

    it('[PLATFORM-99] changes nothing with another expected_version, and names the wrong arguments', async () => {
      const id = await store(unique('A versioned memory'))
      const stale = await rest('PATCH', `/entries/${id}`, { content: 'Lost', expected_version: 7 })
      expect(failed(stale)).toEqual([409, 'conflict'])
      expect(await ok('GET', `/entries/${id}`)).toMatchObject({ version: 1 })
      const wrong = await rest('POST', '/entries', { content: 1, kind: 'nonsense' })
      expect(wrong.status).toBe(400)
      expect(wrong.body.error.details.map((one: Json) => one.path)).toEqual(
        expect.arrayContaining(['title', 'content', 'kind']),
      )
    })

    it('[PLATFORM-99] hides the private memories of others, other organizations and other projects', async () => {
      const word = unique('secret')
      const hidden = await store(`The ${word} of ada.`, { audience: 'private' })
      const shared = await store(`The ${word} of the ferry.`, { project: 'ferry' })
      const other = (await team.key(unique('org'), { name: 'mallory', owner: 'ada' })).key
      const narrow = (await team.key(org, { name: 'nat', owner: 'nat', projects: ['shore'] })).key
      const listed = async (bearer: string) =>
        (await ok('GET', `/search?query=${word}&mode=words`, undefined, bearer)).results.map((one: Json) => one.id)
      expect((await listed(ada)).toSorted()).toEqual([hidden, shared].toSorted())
      expect(await listed(eve)).toEqual([shared])
      expect(await listed(narrow)).toEqual([])
      expect(await listed(other)).toEqual([])
      for (const [bearer, id] of [
        [eve, hidden],
        [narrow, shared],
        [other, shared],
      ] as const) {
        expect(failed(await rest('GET', `/entries/${id}`, undefined, bearer))).toEqual([404, 'not_found'])
        expect(failed(await rest('GET', `/entries/${id}/history`, undefined, bearer))).toEqual([404, 'not_found'])
        expect((await rest('PATCH', `/entries/${id}`, { title: 'Mine' }, bearer)).status).toBe(404)
        expect((await rest('DELETE', `/entries/${id}`, undefined, bearer)).body.deleted).toBe(0)
      }
      expect(failed(await rest('POST', '/entries', { title: 'a', content: 'b', project: 'ferry' }, narrow))).toEqual([
        403,
        'forbidden',
      ])
      expect((await team.ask(`/api/v1/orgs/${org}/entries/${shared}`, ada)).status).toBe(200)
      expect((await team.ask(`/api/v1/orgs/${org}/entries/${shared}`, other)).status).toBe(404)
      expect((await team.ask(`/api/v1/orgs/-/entries/${shared}`, null)).status).toBe(401)
    })

    it('[PLATFORM-99] keeps the readers of a memory through an update, and lets a reader key write nothing', async () => {
      const id = await store(unique('Mine alone'), { audience: 'private', project: 'ferry' })
      await ok('PATCH', `/entries/${id}`, { title: 'Still mine', metadata: { n: 1 }, append: 'More.' })
      expect(failed(await rest('GET', `/entries/${id}`, undefined, eve))).toEqual([404, 'not_found'])
      const reader = (await team.key(org, { name: 'reader', role: 'reader', owner: 'ada' })).key
      expect(failed(await rest('POST', '/entries', { title: 'a', content: 'b' }, reader))).toEqual([403, 'forbidden'])
      expect(failed(await rest('DELETE', `/entries/${id}`, undefined, reader))).toEqual([403, 'forbidden'])
      expect(await ok('GET', `/entries/${id}`, undefined, reader)).toMatchObject({ title: 'Still mine', version: 2 })
    })

    it('[PLATFORM-101] lists changes as JSON where JSON is accepted, and else as the lines of the feed', async () => {
      const project = unique('changed')
      const id = await store('A change to list.', { project })
      const list = (accept: string, more = '') =>
        rest('GET', `/changes?project=${project}${more}`, undefined, ada, { accept })
      expect((await list('application/json')).body).toMatchObject({
        ...{ changes: [{ action: 'stored', id, by: 'claude' }], next: expect.any(String) },
      })
      for (const accept of ['*/*', 'application/x-ndjson, application/json'])
        expect(JSON.parse((await list(accept, '&after=start')).text)).toMatchObject({
          action: 'stored',
          context_id: id,
        })
    })

    it('[PLATFORM-100] serves an OpenAPI document without a key that describes each route and its answers', async () => {
      const { status, body: document } = await team.ask('/api/v1/openapi.json', null)
      expect([status, document.openapi]).toEqual([200, '3.1.1'])
      const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method} ${path}`),
      )
      const routes = OPERATIONS.map(({ method, path }) => `${method} /api/v1/orgs/{org}${path.replace(':id', '{id}')}`)
      expect(described.toSorted()).toEqual([...routes, 'get /api/v1/projects'].toSorted())
      const ajv = new Ajv2020({ strict: false })
      ajv.addSchema(document, 'document')
      const check = (pointer: string, value: Json) => {
        const escaped = pointer
          .split(' ')
          .map((one) => encodeURIComponent(one.replaceAll('~', '~0').replaceAll('/', '~1')))
        const validate = ajv.compile({ $ref: `document#/${escaped.join('/')}` })
        expect([validate(value), validate.errors]).toEqual([true, null])
      }
      const content = 'content application/json schema'
      const id = await store(unique('A documented memory'))
      const of = '/api/v1/orgs/{org}/entries/{id}'
      const calls: [string, string, string, Json?][] = [
        ['get', '/api/v1/orgs/{org}/entries', '/entries?limit=2'],
        ['get', of, `/entries/${id}`],
        ['patch', of, `/entries/${id}`, { title: 'Documented' }],
        ['get', '/api/v1/orgs/{org}/fetch', `/fetch?ids=${id},999999`],
        ['get', `${of}/history`, `/entries/${id}/history`],
        ['get', '/api/v1/orgs/{org}/search', '/search?query=documented'],
        ['post', '/api/v1/orgs/{org}/search', '/search', { query: 'documented', where: { kind: 'note' } }],
        ['get', '/api/v1/orgs/{org}/context', '/context?goal=documented'],
        ['post', '/api/v1/orgs/{org}/context', '/context', { goal: 'documented' }],
        ['delete', '/api/v1/orgs/{org}/entries', `/entries?ids=${id}&dry_run=true`],
        ['delete', of, `/entries/${id}`],
        ['post', '/api/v1/orgs/{org}/restore', '/restore', { id }],
      ]
      for (const [method, path, address, body] of calls) {
        if (body !== undefined) check(`paths ${path} ${method} requestBody ${content}`, body)
        check(`paths ${path} ${method} responses 200 ${content}`, await ok(method.toUpperCase(), address, body))
      }
      const refused = await rest('POST', '/entries', {})
      check(`paths /api/v1/orgs/{org}/entries post responses 400 ${content}`, refused.body)
      const projects = await team.ask('/api/v1/projects', ada)
      check(`paths /api/v1/projects get responses 200 ${content}`, projects.body)
    })
  })
}
