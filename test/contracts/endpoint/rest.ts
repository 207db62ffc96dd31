import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Answer, Team } from '../../support/access'
import { ROOT } from '../../support/build'
import { base64, pngBytes } from '../../support/scope'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any

/** The REST routes of the memory (platform contract, PLATFORM-96 to PLATFORM-104). */
export function restContract(): void {
  describe('REST', () => {
    let team: Team
    let org: string
    let ada: string
    let eve: string
    let document: Json
    beforeAll(async () => {
      team = await sharedTeam()
      org = unique('org')
      ada = (await team.key(org, { name: 'ada', agent: 'claude', owner: 'ada' })).key
      eve = (await team.key(org, { name: 'eve', agent: 'codex', owner: 'eve' })).key
      document = (await team.ask('/api/v1/openapi.json', null)).body
    })

    const ask = (method: string, path: string, body?: unknown, key = ada, headers: Record<string, string> = {}) =>
      team.ask(`/api/v1/orgs/-${path}`, key, method, body, headers)
    const store = async (title: string, content: string, more: Json = {}, key = ada): Promise<Answer> => {
      const answer = await ask('POST', '/entries', { title, content, ...more }, key)
      expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
      return answer
    }

    it('[PLATFORM-96] stores, reads, lists, changes, finds, deletes and restores a memory', async () => {
      const project = unique('rest')
      const { body: stored } = await store('Brakes of the crane', 'The crane brakes with both discs.', { project })
      const { id } = stored
      expect(await ask('GET', `/entries/${id}`)).toMatchObject({
        status: 200,
        body: { id, title: 'Brakes of the crane', content: 'The crane brakes with both discs.', version: 1 },
      })
      const ids = (answer: Answer) => answer.body.results.map((one: Json) => one.id)
      expect(ids(await ask('GET', `/entries?project=${project}&limit=5`))).toEqual([id])
      expect(ids(await ask('GET', `/search?query=crane+brakes&project=${project}`))).toEqual([id])
      expect(ids(await ask('POST', '/search', { query: 'crane brakes', project, kind: ['note'] }))).toEqual([id])
      const pack = await ask(
        'GET',
        `/context?goal=${encodeURIComponent('repair the brakes of the crane')}&project=${project}`,
      )
      expect(pack.text).toContain('both discs')
      expect((await ask('POST', '/context', { goal: 'repair the brakes', project })).text).toContain('both discs')
      const changed = await ask('PATCH', `/entries/${id}`, { content: 'It has four discs.', expected_version: 1 })
      expect(changed).toMatchObject({ status: 200, body: { id, version: 2 } })
      expect((await ask('GET', `/entries/${id}/history`)).body.versions).toHaveLength(2)
      const gone = await ask('DELETE', `/entries/${id}`)
      expect(gone).toMatchObject({ status: 200, body: { deleted: 1 } })
      expect((await ask('GET', `/entries/${id}`)).status).toBe(404)
      expect((await ask('POST', '/restore', { id })).status).toBe(200)
      expect((await ask('GET', `/entries/${id}`)).body.content).toBe('It has four discs.')
      expect(await ask('DELETE', `/entries/${id}?erase=true`)).toMatchObject({ status: 200, body: { erased: 1 } })
    })

    it('[PLATFORM-97] reads parameters by their types, lists repeated or with commas, and names unknown ones', async () => {
      const project = unique('typed')
      await store('A', 'alpha', { project, kind: 'idea', tags: ['x'] })
      await store('B', 'beta', { project, kind: 'rule', tags: ['y'] })
      const titles = async (query: string): Promise<string[]> =>
        (await ask('GET', `/entries?project=${project}&${query}`)).body.results.map((one: Json) => one.title)
      expect(await titles('kind=idea,rule')).toHaveLength(2)
      expect(await titles('kind=idea&kind=rule')).toHaveLength(2)
      expect(await titles('kind=idea')).toEqual(['A'])
      expect(await titles('tags=y')).toEqual(['B'])
      expect(await titles('limit=1&offset=1')).toEqual(['A'])
      expect(await ask('GET', '/entries?limit=many')).toMatchObject({
        status: 400,
        text: expect.stringContaining('limit'),
      })
      expect(await ask('GET', '/entries?colour=red')).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_input', message: expect.stringContaining('Unknown parameter "colour"') } },
      })
      expect(await ask('PATCH', '/entries/1', { id: 2, content: 'x' })).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('Unknown member "id"') } },
      })
      expect(await ask('POST', '/entries', { title: 7 })).toMatchObject({
        status: 400,
        body: { error: { details: expect.arrayContaining([expect.objectContaining({ path: 'title' })]) } },
      })
    })

    it('[PLATFORM-98] a request with the same Idempotency-Key gets the first answer and stores once', async () => {
      const [key, title] = [unique('key'), unique('once')]
      const send = () => ask('POST', '/entries', { title, content: 'stored once' }, ada, { 'idempotency-key': key })
      const [first, again] = [await send(), await send()]
      expect([first.status, again.status]).toEqual([201, 200])
      expect(again.body).toEqual({ ...first.body, replayed: true })
      const other = await ask('POST', '/entries', { title, content: 'other' }, ada, { 'idempotency-key': key })
      expect(other).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    })

    it('[PLATFORM-99] shows and changes only what the key may, and a change publishes nothing', async () => {
      const { body: own } = await store('Private plan', 'of ada alone, about quokkas', { audience: 'private' })
      for (const [method, path, body] of [
        ['GET', `/entries/${own.id}`],
        ['PATCH', `/entries/${own.id}`, { title: 'mine' }],
        ['GET', `/entries/${own.id}/history`],
      ] as const)
        expect([path, (await ask(method, path, body, eve)).status]).toEqual([path, 404])
      expect((await ask('DELETE', `/entries/${own.id}`, undefined, eve)).body).toMatchObject({ deleted: 0 })
      expect((await ask('GET', '/search?query=quokkas', undefined, eve)).text).not.toContain('Private plan')
      expect((await ask('PATCH', `/entries/${own.id}`, { metadata: { n: 1 } })).status).toBe(200)
      expect((await ask('GET', `/entries/${own.id}`, undefined, eve)).status).toBe(404)
      const reader = (await team.key(org, { role: 'reader', owner: 'ada' })).key
      expect(await ask('PATCH', `/entries/${own.id}`, { title: 'x' }, reader)).toMatchObject({
        status: 403,
        body: { error: { code: 'forbidden' } },
      })
      expect((await ask('GET', `/entries/${own.id}`, undefined, reader)).status).toBe(200)
    })

    it('[PLATFORM-99] another organization, and one that never existed, get the same refusal', async () => {
      const stranger = (await team.key(unique('org'), { owner: 'mallory' })).key
      const answers = await Promise.all(
        [org, 'never-was'].map((name) => team.ask(`/api/v1/orgs/${name}/entries`, stranger)),
      )
      expect(answers.map(({ status }) => status)).toEqual([404, 404])
      expect(answers[0]?.text).toBe(answers[1]?.text)
      expect((await team.ask(`/api/v1/orgs/${org}/entries`, null)).status).toBe(401)
    })

    it('[PLATFORM-100] a wrong version is a conflict, an odd ID does not exist, and only JSON is read', async () => {
      const { body } = await store('Versioned', 'one')
      const late = await ask('PATCH', `/entries/${body.id}`, { content: 'two', expected_version: 9 })
      expect(late).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
      for (const id of ['0', '-1', '1e3', 'x', '99999999999999999999', '%00'])
        expect([id, [400, 404].includes((await ask('GET', `/entries/${id}`)).status)]).toEqual([id, true])
      const sent = await ask('POST', '/entries', 'title=x', ada, { 'content-type': 'text/plain' })
      expect(sent).toMatchObject({ status: 400, body: { error: { message: 'Content-Type must be application/json' } } })
      expect((await ask('POST', '/entries', '[1]')).status).toBe(400)
      expect((await ask('POST', '/entries', '{')).status).toBe(400)
    })

    it('[PLATFORM-101] stores images, which are read at /images', async () => {
      const bytes = pngBytes()
      const images = [{ data: base64(bytes), mime_type: 'image/png' }]
      const { body } = await store('With a picture', 'see the picture', { images })
      const { body: read } = await ask('GET', `/entries/${body.id}`)
      expect(JSON.stringify(read)).toMatch(/image/)
    })

    it('[PLATFORM-102] the document is valid OpenAPI 3.1, needs no key, and lists exactly the routes', async () => {
      const result = await new Validator().validate(structuredClone(document))
      expect(result.errors ?? []).toEqual([])
      const listed = Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
        Object.keys(item).map((method) => [method.toUpperCase(), path] as const),
      )
      for (const [method, path] of listed) {
        const address = path.replace('{org}', '-').replace('{id}', '987654321')
        const answer = await team.ask(`/api/v1/orgs${address}`, ada, method, method === 'GET' ? undefined : {})
        expect([method, path, answer.text.includes('No such route')]).toEqual([method, path, false])
      }
      expect(listed.length).toBeGreaterThan(10)
    })

    it('[PLATFORM-104] the commands of docs/rest.md work as they are written', async () => {
      const page = readFileSync(join(ROOT, 'docs', 'rest.md'), 'utf8')
      const commands = [...page.matchAll(/^\$ (curl .*)$/gm)].map(([, command = '']) => command)
      expect(commands.length).toBeGreaterThan(7)
      const env: Record<string, string> = { COMMONPLACE_URL: team.server.url.origin, COMMONPLACE_KEY: ada, ID: '' }
      for (const command of commands) {
        const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, ...env } })
        const answer: Json = command.includes('/changes') ? stdout : JSON.parse(stdout)
        expect([command, answer.error]).toEqual([command, undefined])
        if (env.ID === '') env.ID = String(answer.id)
      }
    })

    it('[PLATFORM-103] answers have the form that the document states', async () => {
      const { body } = await store('Documented', 'The form of an answer.')
      const examples: readonly (readonly [string, string, unknown?])[] = [
        ['get', '/entries'],
        ['get', `/entries/${body.id}`],
        ['get', `/entries/${body.id}/history`],
        ['get', '/search?query=form'],
        ['get', '/context?goal=the+form+of+an+answer'],
        ['patch', `/entries/${body.id}`, { append: 'More.' }],
        ['delete', `/entries/${body.id}`],
        ['post', '/restore', { id: body.id }],
      ]
      for (const [method, path, given] of examples) {
        const answer = await ask(method.toUpperCase(), path, given)
        const template = `/{org}${path.replace(/\?.*/, '').replace(String(body.id), '{id}')}`
        const { schema } = document.paths[template][method].responses['200'].content['application/json']
        const parsed = z.fromJSONSchema(schema).safeParse(answer.body)
        expect([template, method, answer.status, parsed.error?.issues ?? []]).toEqual([template, method, 200, []])
      }
      const refused = await ask('GET', '/entries/987654321')
      expect(z.fromJSONSchema(document.components.schemas.Problem).safeParse(refused.body).success).toBe(true)
    })
  })
}
