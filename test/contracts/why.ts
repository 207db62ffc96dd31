import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AiRunner } from '../../src/adapters/workers-ai/models'
import { DAY_MS, HOUR_MS } from '../../src/domain/time'
import { aiError, createFakeAi } from '../fakes/workers-ai'
import { bindings, migrate } from '../support/bindings'
import { onPostgres, runSql } from '../support/direct-sql'
import { claudeCode, PLACE } from '../support/hook-events'
import { type Json, type Key, openWorld } from '../support/isolation'

const QUERY = 'which port does the gateway metrics exporter use'
const ANSWER = 'The gateway metrics exporter listens on port 9464 behind the load balancer.'

/** The causes for which a call did not return a memory (operate contract §1.1). */
export function whyContract(): void {
  describe('an explanation of a miss', () => {
    const ai = createFakeAi()
    /** A model that fails for texts about a register. */
    const AI: AiRunner = {
      run: async (model, inputs, options) => {
        if (JSON.stringify(inputs).includes('Register')) throw aiError('down')
        return ai.run(model, inputs, options)
      },
    }
    const world = openWorld({ HISTORY_DAYS: '30' })
    const trusting = openWorld({ PACK_TRUST: 'approved' })
    const late = openWorld(
      {
        ...{ EMBEDDING_PROVIDER: 'workers-ai', EMBEDDING_MODEL: 'fake', EMBEDDING_DIM: '8' },
        EMBEDDING_FAILURE: 'defer',
      },
      bindings.DB,
      { bindings: { AI } },
    )
    let ada: Key
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      ada = await world.makeOrg()
    })

    const remember = async (title: string, content: string, more: Json = {}, key = ada, of = world): Promise<number> =>
      (await of.ok(key, 'core:remember', { title, content, kind: 'note', ...more })).id
    const why = async (id: number, more: Record<string, string> = {}, key = ada, of = world): Promise<Json> => {
      const query = new URLSearchParams({ query: QUERY, id: String(id), ...more })
      const { status, json, body } = await of.http(key.secret, 'GET', `/api/v1/orgs/-/why?${query}`)
      if (status !== 200) throw new Error(body)
      return json
    }
    const causeOf = async (...args: Parameters<typeof why>): Promise<string> => (await why(...args)).causes[0].cause
    const both = async (id: number, more: Record<string, string> = {}): Promise<string[]> => [
      await causeOf(id, { ...more, tool: 'context' }),
      await causeOf(id, { ...more, tool: 'search' }),
    ]

    it('[OPERATE-90] says that a memory was returned, and as which one, for both tools', async () => {
      const id = await remember('Exporter', ANSWER)
      expect(await why(id)).toMatchObject({ id, returned: true, causes: [{ cause: 'returned' }] })
      expect(await both(id)).toEqual(['returned', 'returned'])
    })

    it('[OPERATE-90] is also a page of the dashboard, which a pack links', async () => {
      const id = await remember('Exporter', ANSWER, { project: 'ferry' })
      const query = new URLSearchParams({ query: QUERY, id: String(id), project: 'shop' })
      const { status, body } = await world.page(ada, `/why?${query}`)
      expect([status, body.includes('Another project')]).toEqual([200, true])
      expect((await world.page(ada, '/why')).body).toContain('Enter a query or goal')
      expect((await world.page(ada, '/why?query=a&id=x')).status).toBe(400)
      const pack = await world.page(ada, `/pack?${new URLSearchParams({ goal: QUERY })}`)
      expect(pack.body).toContain('/why?query=')
    })

    it('[OPERATE-91] has one answer for IDs of others, of another organization, and that never were', async () => {
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const narrowed = await world.makeKey(ada.org, { owner: 'cem', projects: ['shop'] })
      const stranger = await world.makeOrg()
      const hidden = await remember('Mine', ANSWER, { audience: 'private' })
      const elsewhere = await remember('Ferry', ANSWER, { project: 'ferry' })
      const foreign = await remember('Theirs', ANSWER, {}, stranger)
      const never = await why(2 ** 50, {}, ben)
      expect(never.causes).toEqual([
        { cause: 'not_found', message: 'No memory with this ID exists, or it is not yours.' },
      ])
      for (const [id, key] of [
        [hidden, ben],
        [foreign, ben],
        [elsewhere, narrowed],
      ] as const)
        for (const tool of ['context', 'search']) expect(await why(id, { tool }, key)).toEqual({ ...never, id })
      await world.ok(ada, 'core:forget', { ids: [hidden] })
      expect(await why(hidden, {}, ben)).toEqual({ ...never, id: hidden })
    })

    it('[OPERATE-91] names an end and a deletion to keys alone that could read the memory', async () => {
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const expires_at = new Date(world.clock.now() + HOUR_MS).toISOString()
      const short = await remember('Short', ANSWER, { expires_at })
      const own = await remember('Own', ANSWER, { expires_at, audience: 'private' })
      const deleted = await remember('Old', ANSWER)
      await world.ok(ada, 'core:forget', { ids: [deleted] })
      world.clock.advance(2 * HOUR_MS)
      expect(await both(short)).toEqual(['expired', 'expired'])
      expect([await causeOf(own), await causeOf(own, {}, ben)]).toEqual(['expired', 'not_found'])
      expect(await both(deleted)).toEqual(['deleted', 'deleted'])
    })

    it('[OPERATE-91] reports no deletion of a memory that is no longer readable', async () => {
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const id = await remember('Exporter', ANSWER)
      world.clock.advance(HOUR_MS)
      await world.ok(ada, 'core:update', { id, audience: 'private' })
      expect(await causeOf(id, {}, ben)).toBe('not_found')
      await world.ok(ada, 'core:forget', { ids: [id] })
      expect(await causeOf(id, {}, ben)).toBe('not_found')
    })

    it('[OPERATE-92] names a project and each filter that leave a memory out', async () => {
      const id = await remember('Exporter', ANSWER, { project: 'ferry', tags: ['ops'] })
      await remember('Shop', 'The shop sells tea.', { project: 'shop' })
      expect(await both(id, { project: 'shop' })).toEqual(['project', 'project'])
      expect(await both(id, { project: 'ferry' })).toEqual(['returned', 'returned'])
      expect(await both(id, { kind: 'decision' })).toEqual(['filter', 'filter'])
      const { causes } = await why(id, { tool: 'search', tags: 'other', by: 'nobody', project: 'shop' })
      expect(causes.map(({ cause }: Json) => cause)).toEqual(['project', 'filter', 'filter'])
      expect(causes[1].message).toContain('filter tags')
    })

    it('[OPERATE-92] names sessions that wait for review, diary pages and archived work', async () => {
      const s = claudeCode('why')
      const at = world.clock.now()
      const events = [s.prompt(QUERY), s.edit('exporter.ts'), s.end()].map((one) => ({ ...one, at, place: PLACE }))
      world.clock.advance(1_000)
      expect((await world.http(ada.secret, 'POST', '/api/v1/hooks/claude-code', { events })).status).toBe(200)
      const { json } = await world.http(ada.secret, 'GET', `/api/v1/orgs/${ada.org}/captured`)
      const [{ id: captured }] = json.items
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const query = 'the wallpaper of the lobby'
      expect(await causeOf(captured, { query })).toBe('review')
      expect(await causeOf(captured, { query }, ben)).toBe('not_found')
      const stored = { thread_id: 't', source: 'agent', text: ANSWER }
      const { context_id: page } = await world.ok(ada, 'store_context', {
        ...stored,
        metadata: { diary: true, agent_name: 'lee' },
      })
      expect(await both(page)).toEqual(['diary', 'diary'])
      const task = await remember('Exporter', ANSWER, { kind: 'task', status: 'archived' })
      expect(await both(task)).toEqual(['archived', 'returned'])
      const done = await remember('Exporter, again', `${ANSWER} As agreed.`)
      await runSql(sql`UPDATE entries SET archived = 1 WHERE id = ${done}`)
      expect(await both(done)).toEqual(['archived', 'archived'])
    })

    it('[OPERATE-92] names what packs leave out: ended, superseded, and not approved memories', async () => {
      const ended = await remember('Exporter', ANSWER, {
        valid_until: new Date(world.clock.now() - DAY_MS).toISOString(),
      })
      expect(await both(ended)).toEqual(['ended', 'returned'])
      const old = await remember('Exporter port', 'The gateway metrics exporter used port 9100 before the move.')
      const newer = await remember('New port', 'The exporter of the gateway moved to port 9464.', {
        replaces: [old],
      })
      expect((await why(old)).causes[0]).toMatchObject({ cause: 'superseded', other: newer })
      const raw = await remember('Exporter', ANSWER, {}, ada, trusting)
      expect(await causeOf(raw, {}, ada, trusting)).toBe('approval')
      const checked = await remember('Checked', `${ANSWER} Checked twice.`, {}, ada, trusting)
      await runSql(sql`UPDATE entries SET approved_version = version WHERE id = ${checked}`)
      await remember('Checked again', `${ANSWER} Not checked.`, { replaces: [checked] }, ada, trusting)
      expect(await causeOf(checked, {}, ada, trusting)).toBe('returned')
      expect(await causeOf(checked, { query: 'kettle tea wallpaper' }, ada, trusting)).not.toBe('superseded')
    })

    it('[OPERATE-93] names the rank of a memory and the score of the last one that was returned', async () => {
      const ids: number[] = []
      for (let i = 0; i < 6; i++)
        ids.push(
          await remember(
            `Exporter ${i}`,
            `The gateway metrics exporter of region ${'abcdef'[i]} uses port 94${i}1, see runbook ${i}.`,
          ),
        )
      const weak = await remember(
        'Ports',
        'Each service has one port. The register of services lists it with its owner and its team.',
      )
      const { ranked, last, causes } = await why(weak, { tool: 'search', limit: '3' })
      expect(causes[0].cause).toBe('rank')
      expect(ranked.place).toBeGreaterThan(3)
      expect(last).toMatchObject({ place: 3 })
      expect(last.score).toBeGreaterThan(ranked.score)
      const returned = (await world.ok(ada, 'core:search', { query: QUERY, limit: 3 })).results.map(
        ({ id }: Json) => id,
      )
      expect(returned).toContain(last.id)
      const explained = await Promise.all(ids.map((id) => why(id, { limit: '2' })))
      expect(explained.map(({ causes: [{ cause }] }: Json) => cause).toSorted()).toEqual([
        ...['rank', 'rank', 'rank', 'rank', 'returned', 'returned'],
      ])
    })

    it('[OPERATE-93] names the cut of a pack, and a repeated memory', async () => {
      const first = await remember('Exporter', ANSWER)
      const weak = await remember(
        'Kettle',
        'The kettle of the office is in use on Monday. The gateway of the garden is green.',
      )
      expect(await causeOf(weak)).toBe('cut')
      const repeated = await remember('Exporter', `${ANSWER} `, { kind: 'decision', tags: ['b'] })
      const causes = await Promise.all([first, repeated].map((id) => why(id)))
      expect(causes.map(({ causes: [{ cause }] }: Json) => cause).toSorted()).toEqual(['duplicate', 'returned'])
    })

    it('[OPERATE-93] names the token budget of a pack', async () => {
      const words = 'harbor lantern velvet copper meadow orchid thunder saddle glacier pepper walnut ribbon'.split(' ')
      const long = (n: number) => words.map((word) => `${word}${n} ${word.slice(2)}${n * 7}`).join(' ')
      const many = [1, 2, 3].map((n) =>
        remember(
          `Exporter ${n}`,
          `The gateway metrics exporter uses port 94${n}. ${long(n)} ${long(n + 5)} ${long(n + 10)}`,
        ),
      )
      const explained = await Promise.all((await Promise.all(many)).map((id) => why(id, { max_tokens: '400' })))
      expect(explained.map(({ causes: [{ cause }] }: Json) => cause)).toContain('budget')
    })

    it('[OPERATE-93] names doubt, and a memory without a word of the query', async () => {
      const id = await remember('Kettle', 'The kettle of the office is descaled on Mondays.')
      expect(await both(id, { query: 'quantum chromodynamics lattice' })).toEqual(['doubt', 'doubt'])
    })

    it('[OPERATE-94] names vectors that are not made yet, before the rank', async () => {
      const key = await late.makeOrg()
      for (let i = 0; i < 3; i++)
        await remember(`Exporter ${i}`, `${ANSWER} Region ${i}, runbook ${i * 7}.`, {}, key, late)
      const id = await remember('Register', 'The list of services names the port of each.', {}, key, late)
      await late.settle()
      const { causes } = await why(id, { limit: '1', tool: 'search' }, key, late)
      expect(causes.map(({ cause }: Json) => cause)).toEqual(['not_indexed', 'rank'])
    })

    it('[OPERATE-95] explains an earlier instant: not stored then, not ended then, replaced later', async () => {
      const id = await remember('Exporter', ANSWER, { valid_until: new Date(world.clock.now() + DAY_MS).toISOString() })
      const before = new Date(world.clock.now() - DAY_MS).toISOString()
      const then = new Date(world.clock.now() + HOUR_MS).toISOString()
      expect(await both(id, { as_of: before })).toEqual(['not_stored', 'not_stored'])
      world.clock.advance(2 * DAY_MS)
      expect(await both(id)).toEqual(['ended', 'returned'])
      expect(await both(id, { as_of: then })).toEqual(['returned', 'returned'])
      await remember('Exporter moved', 'The gateway metrics exporter moved to port 9999.', { replaces: [id] })
      expect(await both(id, { as_of: then })).toEqual(['returned', 'returned'])
    })

    it('[OPERATE-96] stores no text of the call, and refuses what the tools refuse', async () => {
      const id = await remember('Exporter', ANSWER)
      const audited = (await world.auditOf(ada)).length
      await why(id, { query: 'zanzibarquery', tool: 'context' })
      const events = (await world.auditOf(ada)).slice(audited)
      expect(JSON.stringify(events)).not.toContain('zanzibar')
      const ask = async (query: string) => (await world.http(ada.secret, 'GET', `/api/v1/orgs/-/why?${query}`)).status
      expect(await ask('query=a&id=x')).toBe(400)
      expect(await ask('id=1')).toBe(400)
      expect(await ask('query=a&id=1&kind=nonsense')).toBe(400)
      expect(await ask('query=a&id=1&tags=a')).toBe(400)
      expect(await ask('query=a&id=1&tool=recall')).toBe(400)
      expect(await ask('query=a&id=1&surprise=1')).toBe(400)
      expect((await world.http(ada.secret, 'GET', '/api/v1/orgs/other/why?query=a&id=1')).status).toBe(404)
    })
  })
}
