import { beforeAll, describe, expect, it } from 'vitest'
import { callFor } from '../../../bench/packs/calls.mjs'
import { migrate } from '../../support/bindings'
import { crowd } from '../../support/captured-crowd'
import { onPostgres } from '../../support/direct-sql'
import { type Json, type Key, openWorld } from '../../support/isolation'

/** Packs of every goal of the gold sets, with and without 10,000 captured sessions of the asker's own (capture contract §7). */
// @ts-expect-error This is Vite's, which reads its arguments statically.
const FILES: Record<string, string> = import.meta.glob('../../../bench/packs/*/{goals.jsonl,history/*.jsonl}', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const ASKERS: Readonly<Record<string, readonly [asker: string, now: string]>> = {
  ferries: ['mira', '2026-11-20T09:00:00Z'],
  studio: ['jonas', '2026-10-14T14:00:00Z'],
  bakery: ['lena', '2026-09-30T08:00:00Z'],
  harbour: ['femke', '2026-10-21T07:30:00Z'],
}
const read = (team: string, what: string): Json[] =>
  Object.entries(FILES)
    .filter(([file]) => file.includes(`/packs/${team}/${what}`))
    .flatMap(([, text]) =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    )

const world = openWorld()

beforeAll(async () => {
  if (!onPostgres()) await migrate()
})

describe('packs of the gold set', () => {
  it.each(Object.entries(ASKERS))(
    'of the %s are byte for byte as without 10,000 captured sessions',
    async (team, [asker, now]) => {
      const first = await world.makeOrg(team)
      const keys = new Map<string, Key>()
      const keyOf = async ({ org, owner = asker }: Json): Promise<Key> => {
        const name = `${org}/${owner}`
        const home = org === undefined ? first.org : (keys.get(`org ${org}`) ?? (await world.makeOrg(org)))
        if (typeof home !== 'string') keys.set(`org ${org}`, home)
        const key = keys.get(name) ?? (await world.makeKey(typeof home === 'string' ? home : home.org, { owner }))
        keys.set(name, key)
        return key
      }
      const ids = new Map<string, string>()
      const history = read(team, 'history/').sort((a, b) =>
        a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1,
      )
      for (const memory of history) {
        world.clock.ms = Date.parse(memory.at)
        const { name, args } = callFor(memory, (id: string) => ids.get(id) ?? id)
        const { id, context_id } = await world.ok(await keyOf(memory), name, args as Record<string, unknown>)
        ids.set(memory.id, String(id ?? context_id))
      }
      await world.settle()
      world.clock.ms = Date.parse(now)
      const me = await keyOf({})
      const goals = read(team, 'goals.jsonl')
      const ask = async (): Promise<string[]> => {
        const packs: string[] = []
        for (const { goal, intent, project, agent } of goals) {
          const who = agent === undefined ? {} : { agent_id: agent }
          packs.push((await world.call(me, 'context', { goal, intent, project, limit: 24, ...who })).body)
        }
        await world.settle()
        return packs
      }
      const before = await ask()
      expect(before.length).toBeGreaterThan(100)
      const words = [...new Set(goals.flatMap(({ goal }) => goal.toLowerCase().match(/\p{L}{4,}/gu) ?? []))].join(' ')
      await crowd(world, me, { project: goals[0].project, title: 'A session', words: words.slice(0, 2_000) })
      const after = await ask()
      expect(after.filter((pack, i) => pack !== before[i])).toEqual([])
    },
  )
})
