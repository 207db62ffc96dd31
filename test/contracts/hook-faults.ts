import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startHooksServer } from '../fakes/hooks-server'
import { type Desk, desk } from '../support/hook-desk'

const DAY_MS = 86_400_000
/** The program takes fewer steps than this. */
const MOST_STEPS = 100

/** No event is doubled or lost by the hook program (capture contract §7). @param every how many steps lie between two at which it is ended */
export function hookFaults(every: number) {
  let server: Awaited<ReturnType<typeof startHooksServer>>
  let home: string
  let at: Desk
  beforeEach(async () => {
    server = await startHooksServer()
    anew()
    return () => rmSync(home, { recursive: true, force: true })
  })
  afterEach(() => server.stop())

  function anew() {
    if (home !== undefined) rmSync(home, { recursive: true, force: true })
    home = mkdtempSync(join(tmpdir(), 'commonplace-hook-'))
    at = desk(home, server.url)
    server.received.length = 0
  }

  const sent = () => server.received.flatMap(({ body }) => body.events)
  const named = ({
    tool_use_id: call,
    last_assistant_message: words,
    hook_event_name: name,
  }: Record<string, unknown>) => call ?? words ?? name
  /** Processing of arriving events: each once, by its id. */
  const once = () => [...new Map(sent().map(({ id, event }) => [id, named(event)])).values()]
  /** Ids: one that is noted twice, since its note was not the last that happened, counts once. */
  const lostFile = () => [
    ...new Set(
      readFileSync(join(home, '.commonplace', 'lost'), 'utf8')
        .split('\n')
        .filter(Boolean),
    ),
  ]

  /** On a busy machine an answer may come too late; what waits goes with the next event, which here is one that is known. */
  const sendAll = async () => {
    for (let tries = 0; tries < 5 && at.waiting().length > 0; tries++) await at.fire(at.stop())
  }

  it('an event that is a file is sent, once more at worst, wherever the program is ended', async () => {
    for (let step = 0; step < MOST_STEPS; step += every) {
      anew()
      await at.fire(at.tool('t1'))
      const { code } = await at.fire(at.stop('killed'), 'claude-code', { KILL_AT: String(step) })
      const wasFile = once().includes('killed') || at.waiting().length === 2
      // The lock belongs to a dead process now, and a draft to none.
      // On a busy machine an answer may come too late; what waits goes with the next event.
      for (let tries = 0; tries < 5 && (tries === 0 || at.waiting().length > 0); tries++) await at.fire(at.end())
      expect([step, once().filter((name) => name !== 'killed'), at.waiting()]).toEqual([step, ['t1', 'SessionEnd'], []])
      expect([step, once().includes('killed')]).toEqual([step, wasFile])
      if (code !== 0) continue
      // A draft and its name, the lock, the request, the answer, what is deleted, the state: all of them were passed.
      expect(step).toBeGreaterThan(9)
      return
    }
    expect.unreachable('the program never came to its end')
  })

  it('an event that the server refuses for good is counted once, wherever the program is ended', async () => {
    const isRefused = ({ event }: { event: Record<string, unknown> }) => event.tool_use_id === 't1'
    server.wanted.behaviour = ({ events }) => (events.some(isRefused) ? 413 : 'answers')
    for (let step = 0; step < MOST_STEPS; step += every) {
      anew()
      await at.fire(at.tool('t1'))
      const { code } = await at.fire(at.stop('killed'), 'claude-code', { KILL_AT: String(step) })
      for (const words of ['two', 'three']) await at.fire(at.stop(words))
      await sendAll()
      const lost = server.received
        .filter(({ body }) => !body.events.some(isRefused))
        .flatMap(({ body }) => body.lost ?? [])
      // A process killed between an answer and its record sends it again; never more than there was.
      expect([step, new Set(lost), lostFile().length, at.waiting()]).toEqual([step, new Set([1]), 1, []])
      if (code === 0) return
    }
    expect.unreachable('the program never came to its end')
  })

  it('events of six days without the server are sent then in order, and older ones are reported as lost', async () => {
    server.wanted.behaviour = () => 503
    const on = (day: number, hours = 0) => ({ CLOCK_MS: String(day * DAY_MS + hours * 3_600_000) })
    for (const day of [0, 1, 3, 5]) await at.fire(at.tool(`day ${day}`), 'claude-code', on(day))
    await at.fire(at.stop('five'), 'claude-code', on(5))
    server.received.length = 0
    server.wanted.behaviour = () => 'answers'
    await at.fire(at.stop('six'), 'claude-code', on(6, 1))
    expect(sent().map(({ event }) => named(event))).toEqual(['day 1', 'day 3', 'day 5', 'five', 'six'])
    expect(at.waiting()).toEqual([])
    const { out } = await at.fire(at.start(), 'claude-code', on(6, 1))
    expect(JSON.parse(out).systemMessage).toBe('commonplace: 1 event was lost')
  })

  it('2,000 events are held at most; tool events go first, the oldest of them, and what went is counted', async () => {
    await at.fire(at.stop('first'))
    server.wanted.behaviour = () => 503
    const begun = Date.now() - 60_000
    for (let i = 0; i < 2_000; i++) {
      const id = i.toString(16).padStart(64, '0')
      const event = i < 5 ? at.stop(`early ${i}`) : at.tool(`t${i}`)
      const record = { client: 'claude-code', id, at: begun + i, event, place: { folder: '/x' } }
      writeFileSync(join(home, '.commonplace', 'spool', `${begun + i}-${id}.json`), JSON.stringify(record))
    }
    await at.fire(at.stop('last'))
    const left = at.waiting().sort()
    expect([left.length, lostFile()]).toEqual([2_000, ['5'.padStart(64, '0')]])
    expect(left.slice(0, 6).map((name) => Number.parseInt(name.slice(14, 78), 16))).toEqual([0, 1, 2, 3, 4, 6])
  })

  it('sends events of two clients in one project to the route of each, whichever sends them', async () => {
    await at.fire(at.tool('t1'))
    await at.fire({ ...at.tool('t2'), session_id: 's2', turn_id: 'u1' }, 'codex')
    await at.fire(at.stop())
    await sendAll()
    const routes = server.received.flatMap(({ path, body }) =>
      body.events.map(({ event }) => [named(event), path.split('/').at(-1)] as const),
    )
    expect([...new Map(routes)]).toEqual([
      ['t1', 'claude-code'],
      ['t2', 'codex'],
      ['done', 'claude-code'],
    ])
  })

  it('no process is left where the server hangs, and none holds the output open', async () => {
    server.wanted.behaviour = () => 'hangs'
    expect(await at.fire(at.stop(), 'claude-code', { PATIENCE: '1' })).toMatchObject({ code: 0, out: '' })
    expect(at.waiting()).toHaveLength(1)
  })

  it('a home that cannot be written to fails no turn', async () => {
    mkdirSync(join(home, 'folder'))
    writeFileSync(join(home, 'folder', '.commonplace'), 'a file where the folder should be')
    const { code, out, err } = await at.fire(at.start(), 'claude-code', { HOME: join(home, 'folder') })
    const systemMessage = expect.stringContaining('.commonplace cannot be written')
    expect([code, JSON.parse(out), err]).toEqual([0, { systemMessage }, ''])
  })
}
