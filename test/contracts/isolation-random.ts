import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { runSql } from '../support/direct-sql'
import { type Key, openWorld } from '../support/isolation'
import { HistoryStage } from '../support/isolation-history'
import { type Play, reaches, Stage } from '../support/isolation-plays'
import { imageHashes } from '../support/isolation-sayings'
import { seeded } from '../support/seeded'

const SEED = Number(process.env.ISOLATION_SEED ?? 20_261_121)

const KEYS = [
  { role: 'writer', owner: 'bob', agent: 'scout' },
  { role: 'writer', owner: 'ada', projects: ['a'] },
  { role: 'admin', owner: 'eve', projects: ['a', 'b'] },
  { role: 'writer', owner: 'eve', projects: ['b'], agent: 'rover' },
  { role: 'reader', owner: 'bob' },
  { role: 'reader', owner: 'zoe', projects: ['a'] },
]

const playsOf = (length: number): fc.Arbitrary<Play[]> =>
  fc.array(
    fc.record({
      kind: fc.constantFrom(...Stage.KINDS),
      key: fc.nat({ max: 13 }),
      dice: fc.array(fc.nat({ max: 5039 }), { minLength: 24, maxLength: 24 }),
    }),
    { minLength: length, maxLength: length, size: 'max' },
  )

async function open(): Promise<Stage> {
  const world = openWorld()
  const keys: Key[] = []
  for (const name of ['one', 'two']) {
    const admin = await world.makeOrg(name)
    keys.push(admin)
    for (const draft of KEYS) keys.push(await world.makeKey(admin.org, draft))
  }
  return new Stage(world, keys, await imageHashes())
}

/** Everything that each key can list, and what the tables hold. */
async function compareAll(stage: Stage): Promise<void> {
  const dice = Array(24).fill(0)
  for (const key of stage.keys.keys())
    for (const kind of ['browse', 'threads', 'statistics', 'search', 'image', 'export'])
      await stage.play({ kind, key, dice })
  const orgs = [...new Set(stage.keys.map(({ org }) => org))]
  const results = (await runSql(
    sql`SELECT id, org, version, text, project FROM entries WHERE org IN (${orgs[0]}, ${orgs[1]}) ORDER BY id`,
  )) as { id: number }[]
  const known = stage.model.memories
  const stored = results.filter(({ id }) => known.has(id))
  const unknown = results.filter(({ id }) => !known.has(id))
  expect(unknown).toEqual([])
  for (const row of stored) expect(known.get(row.id)).toMatchObject(row)
}

/** The audit log holds what happened, in order, and a narrowed administrator reads the part of its own keys. */
async function compareAudit(stage: Stage): Promise<void> {
  for (const by of stage.keys.filter(({ role }) => role === 'admin')) {
    const events = (await stage.world.auditOf(by, 37)).filter(({ action }) => !/^(orgs|keys)\.create$/.test(action))
    const expected = stage.events.filter(({ org, key }) => org === by.org && reaches(by, key))
    expect(
      events.map(({ key_id, action, allowed, ids, detail }) => ({ key_id, action, allowed, ids, detail })),
    ).toEqual(
      expected.map(({ key, action, allowed, ids, detail }) => ({ key_id: key.id, action, allowed, ids, detail })),
    )
    expect(events.map(({ agent }) => agent)).toEqual(expected.map(({ key }) => key.agent))
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b))
    expect(JSON.stringify(events)).not.toMatch(/secret|harbor|alpha/)
  }
}

/**
 * Isolation as a property: keys of two orgs, narrowed and not, call tools and routes at random, and each answer is what a
 * plain model of the rule requires. `ISOLATION_SEED=7 npm test -- test/worker/isolation.test.ts` for another seed.
 *
 * @param extent number of runs and calls each, and steps of history and changes
 */
export function isolationAtRandom({ runs, calls, steps }: Readonly<Record<'runs' | 'calls' | 'steps', number>>): void {
  beforeAll(migrate)

  it('shows each key exactly what its scope holds, whatever others do', { timeout: 300_000 }, async () => {
    console.log(`isolation: seed ${SEED}`)
    const property = fc.asyncProperty(playsOf(calls), async (sequence) => {
      const stage = await open()
      for (const [i, play] of sequence.entries())
        await stage.play(play).catch((cause) => {
          throw new Error(`play ${i}, ${play.kind} by ${JSON.stringify(stage.keys[play.key])}: ${cause.message}`, {
            cause,
          })
        })
      await compareAll(stage)
      await compareAudit(stage)
    })
    for (let run = 0; run < runs; run++) await fc.assert(property, { seed: SEED + run, numRuns: 1, endOnFailure: true })
  })

  it('shows history and changes only to those who could see them then', async () => {
    const world = openWorld({ HISTORY_DAYS: '30' })
    const keys: Key[] = []
    for (const name of ['one', 'two']) {
      const admin = await world.makeOrg(name)
      keys.push(admin)
      for (const draft of KEYS.slice(0, 5)) keys.push(await world.makeKey(admin.org, draft))
    }
    await new HistoryStage(world, keys, seeded(SEED)).play(steps)
  })
}
