import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { onPostgres, runSql } from '../support/direct-sql'
import { claudeCode, PLACE } from '../support/hook-events'
import { type Json, type Key, openWorld } from '../support/isolation'

const PROJECT = 'github.com/acme/ferry'
const DAY = 86_400_000

/** Whether memories were of use, as the hooks of sessions show it (capture contract §6). */
export function memoryUsageContract(): void {
  describe('the use of memories', () => {
    const world = openWorld()
    let ada: Key
    let serial = 0
    beforeAll(async () => {
      if (!onPostgres()) await migrate()
    })
    beforeEach(async () => {
      ada = await world.makeOrg()
    })

    type Event = { readonly id: string; readonly event: Record<string, unknown>; readonly place?: object }
    const session = () => claudeCode(`u${++serial}`)
    const send = async (key: Key, events: readonly Event[], answer?: string): Promise<Json> => {
      const sent = events.map((event) => {
        world.clock.advance(1_000)
        return { place: PLACE, at: world.clock.now(), ...event }
      })
      const body = { events: sent, ...(answer === undefined ? {} : { answer }) }
      const { status, json, body: text } = await world.http(key.secret, 'POST', '/api/v1/hooks/claude-code', body)
      expect([status, text]).toEqual([200, text])
      return json
    }
    const start = async (key: Key, s: ReturnType<typeof session>, place: object = PLACE) => {
      const event = { ...s.start(), place }
      return send(key, [event], event.id)
    }
    const remember = async (title: string, content: string, more: object = {}): Promise<number> =>
      Number((await world.ok(ada, 'remember', { title, content, kind: 'decision', project: PROJECT, ...more })).id)
    const call = (s: ReturnType<typeof session>, tool: string, tool_input: object): Event => ({
      id: `${serial}-${tool}`,
      event: {
        ...s.ran('x').event,
        tool_name: `mcp__plugin_commonplace_commonplace__${tool}`,
        ...{ tool_input, tool_use_id: `${serial}-${tool}` },
      },
    })
    const scopeOf = ({ org, owner }: Key, projects: readonly string[] | null = null) => ({ org, owner, projects })
    const { usage } = world.services.capture
    const useOf = (key: Key, id: number, projects: readonly string[] | null = null) =>
      usage.of(scopeOf(key, projects), id)
    const rows = () => runSql(sql`SELECT memories AS text FROM session_memories WHERE org = ${ada.org}`)
    const callerOf = (key: Key) => ({
      ...{ ...key, role: 'admin' as const, keyId: key.id, action: 'memory.archive', tool: null },
      changeId: `archive${++serial}`,
    })

    it('is one row a session with memories that were shown, opened, quoted, touched and contradicted, and no words', async () => {
      const quoted = await remember('Quay lamps', 'Lamps on the quay are switched by the harbour master before dusk')
      const touched = await remember('Tide table', 'src/tide/table.ts computes the tides of the port')
      const opened = await remember('Sail makers', 'The sail makers deliver on Mondays')
      const wrong = await remember('Fuel dock opening hours', 'The fuel dock opens at seven')
      const replaced = await remember('Old anchor', 'Use the old anchor')
      const idle = await remember('Paint', 'The hull is white')
      const s = session()
      expect((await start(ada, s)).waiting).toBe(0)
      await send(ada, [
        s.prompt('Please look after the boats'),
        s.edit('src/tide/table.ts'),
        call(s, 'fetch', { ids: [opened] }),
        call(s, 'remember', { title: 'x', replaces: [String(replaced)] }),
        s.prompt('No, the fuel dock hours are outdated, it opens at nine'),
      ])
      const { memory } = await send(ada, [
        s.stop('As decided, the lamps on the quay are switched by the harbour master before dusk.'),
      ])
      expect(memory).toEqual({ session: expect.any(String), shown: 6, used: 3, captured: 1 })
      expect((await start(ada, session())).waiting).toBe(1)
      const [row, ...more] = await rows()
      const expected = [
        ...[
          [quoted, 1 + 8],
          [touched, 1 + 4],
          [opened, 1 + 2],
          [wrong, 1 + 16],
          [replaced, 1 + 16],
          [idle, 1],
        ],
      ].sort(([a = 0], [b = 0]) => a - b)
      expect([JSON.parse(String(row?.text)), more]).toEqual([expected, []])
      await send(ada, [s.end()])
      expect(await rows()).toHaveLength(1)
      expect(await useOf(ada, quoted)).toEqual({
        ...{ shown: 1, used: 1, contradicted: 0 },
        last: { client: 'claude-code', at: expect.any(Number) },
      })
      expect(await useOf(ada, wrong)).toEqual({ shown: 1, used: 0, contradicted: 1, last: null })
    })

    it('is recorded of a session that only asked, and of none that was shown nothing', async () => {
      await send(ada, [session().stop()])
      expect(await rows()).toEqual([])
      const id = await remember('Quay lamps', 'Lamps on the quay are switched at dusk')
      const s = session()
      await start(ada, s)
      await send(ada, [s.prompt('When are they switched?'), s.stop(`At dusk [${id}].`)])
      expect(await useOf(ada, id)).toMatchObject({ shown: 1, used: 1 })
    })

    it('is written by no tool that reads', async () => {
      const id = await remember('Quay lamps', 'Lamps on the quay are switched at dusk')
      for (const [tool, args] of [
        ['context', { goal: 'switch the quay lamps', project: PROJECT }],
        ['get_context_by_ids', { context_ids: [id] }],
        ['fts_search_context', { query: 'lamps' }],
      ] as const)
        await world.ok(ada, tool, args)
      await world.settle()
      expect(await rows()).toEqual([])
    })

    it('counts sessions of other owners, and none of a project that the key does not reach', async () => {
      const id = await remember('Quay lamps', 'Lamps on the quay are switched at dusk', { project: undefined })
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const other = { ...PLACE, remote: 'git@github.com:acme/quay.git' }
      for (const [key, place] of [
        [ada, PLACE],
        [ben, PLACE],
        [ben, other],
      ] as const) {
        const s = session()
        await start(key, s, place)
        await send(
          key,
          [s.prompt('When?'), s.stop(`See [${id}].`)].map((event) => ({ ...event, place })),
        )
      }
      expect([(await useOf(ada, id)).used, (await useOf(ben, id)).used]).toEqual([3, 3])
      expect((await useOf(ada, id, [PROJECT])).used).toBe(2)
      const stranger = await world.makeOrg()
      expect((await useOf(stranger, id)).used).toBe(0)
    })

    it('begins with the first session of a project that the key reaches', async () => {
      const id = await remember('Open lamps', 'Lamps of the open quay')
      const s = session()
      await start(ada, s)
      await send(ada, [s.prompt('Which?'), s.stop(`See [${id}].`)])
      expect(typeof (await usage.week(scopeOf(ada, [PROJECT]))).since).toBe('number')
      expect((await usage.week(scopeOf(ada, ['elsewhere']))).since).toBeNull()
    })

    it('names on the page of the week no memory that another owner keeps private', async () => {
      const hidden = await remember('Hidden lamps', 'Lamps of the hidden quay', { audience: 'private' })
      const open = await remember('Open lamps', 'Lamps of the open quay')
      const s = session()
      await start(ada, s)
      await send(ada, [s.prompt('Which?'), s.stop(`See [${hidden}] and [${open}].`)])
      const ben = await world.makeKey(ada.org, { owner: 'ben' })
      const listed = async (key: Key) => (await usage.week(scopeOf(key))).mostUsed.map(({ memory }) => memory.id)
      expect(await listed(ada)).toEqual([hidden, open])
      expect(await listed(ben)).toEqual([open])
    })

    it('offers to archive what no session used for 90 days, once use is known for so long, and takes that back', async () => {
      const idle = await remember('Paint', 'The hull is white')
      const used = await remember('Quay lamps', 'Lamps on the quay are switched at dusk')
      const turn = async () => {
        const s = session()
        await start(ada, s)
        await send(ada, [s.prompt('When?'), s.stop(`See [${used}].`)])
      }
      await turn()
      world.clock.advance(60 * DAY)
      await turn()
      expect((await usage.week(scopeOf(ada))).unused).toEqual([])
      world.clock.advance(31 * DAY)
      const { unused, since } = await usage.week(scopeOf(ada))
      expect([unused.map(({ id }) => id), since]).toEqual([[idle], expect.any(Number)])
      const found = async () => (await world.ok(ada, 'fts_search_context', { query: 'hull' })).results.length
      const refused = await usage
        .archive(
          callerOf(ada),
          [
            [idle, 1],
            [used, 9],
          ],
          true,
        )
        .catch((error: unknown) => error)
      expect([refused, await found()]).toEqual([expect.objectContaining({ code: 'conflict' }), 1])
      await usage.archive(callerOf(ada), [[idle, 1]], true)
      expect([await found(), (await usage.week(scopeOf(ada))).unused]).toEqual([0, []])
      await usage.archive(callerOf(ada), [[idle, 1]], false)
      expect(await found()).toBe(1)
      const stranger = await world.makeOrg()
      await expect(usage.archive(callerOf(stranger), [[idle, 1]], true)).rejects.toMatchObject({ code: 'conflict' })
    })

    it('is forgotten after 180 days, and with what was captured of its project', async () => {
      const id = await remember('Quay lamps', 'Lamps on the quay are switched at dusk')
      const turn = async () => {
        const s = session()
        await start(ada, s)
        await send(ada, [s.prompt('When?'), s.stop(`See [${id}].`)])
      }
      await turn()
      world.clock.advance(181 * DAY)
      await world.services.schedule.run()
      await world.settle()
      expect(await rows()).toEqual([])
      await turn()
      expect(await rows()).toHaveLength(1)
      await world.http(ada.secret, 'DELETE', `/api/v1/orgs/${ada.org}/captured?project=${encodeURIComponent(PROJECT)}`)
      expect(await rows()).toEqual([])
    })
  })
}
