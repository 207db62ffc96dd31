import { beforeAll, describe, expect, it } from 'vitest'
import { toolBudgetContract } from '../contracts/tool-budgets'
import { migrate } from '../support/bindings'
import { type Key, OPERATOR, openWorld } from '../support/isolation'

/** Ranking: what a key does not see moves no score, no order and no choice of candidates. */
const world = openWorld()
const { ok } = world

beforeAll(migrate)

const TOPICS = ['turbine', 'glacier', 'orchard', 'compass', 'violin']

/** Entries that share words with those of everybody else. */
async function fill(
  key: Key,
  from: number,
  count: number,
  metadata?: Record<string, unknown>,
  words = '',
): Promise<void> {
  for (let i = from; i < from + count; i += 100) {
    const entries = Array.from({ length: Math.min(100, from + count - i) }, (_, j) => {
      const n = i + j
      const text = `${words} ${TOPICS[n % 5]} ${TOPICS[(n * 3 + 1) % 5]} number ${n} ${'filler '.repeat(n % 7)}`
      const parts = { tags: [`tag${n % 4}`], ...(metadata ? { metadata: { ...metadata, n } } : {}) }
      return { thread_id: `thread ${n % 9}`, source: n % 2 ? 'user' : 'agent', text, ...parts }
    })
    await ok(key, 'store_context_batch', { entries })
  }
  await world.settle()
}

const SEARCHES: [string, Record<string, unknown>][] = [
  ['fts_search_context', { query: 'turbine glacier', limit: 100, highlight: true, explain_query: true }],
  ['fts_search_context', { query: 'turbine', mode: 'phrase', limit: 100 }],
  ['fts_search_context', { query: 'turb glac', mode: 'prefix', limit: 100 }],
  ['fts_search_context', { query: 'turbine NOT (glacier OR violin)', mode: 'boolean', limit: 100 }],
  ['semantic_search_context', { query: 'turbine glacier', limit: 100, explain_query: true }],
  ['semantic_search_context', { query: 'violin', limit: 100, tags: ['tag1'] }],
  ['hybrid_search_context', { query: 'turbine glacier', limit: 100, explain_query: true }],
]
const LISTS: [string, Record<string, unknown>][] = [
  ['search_context', { limit: 100, explain_query: true }],
  ['search_context', { tags: ['tag1'] }],
  ['list_threads', {}],
]

async function answers(key: Key, calls: readonly [string, Record<string, unknown>][]): Promise<string[]> {
  const bodies: string[] = []
  for (const [tool, args] of calls) bodies.push(`${tool} ${JSON.stringify(await ok(key, tool, args))}`)
  return bodies
}

/** The numbers that are the caller's; how busy the isolate is, is everybody's. */
async function statistics(key: Key): Promise<string> {
  const { connection_metrics: _, ...own } = await ok(key, 'get_statistics')
  return JSON.stringify(own)
}

describe('ranking', () => {
  it('gives the same bytes after another org has stored the same words many times', async () => {
    const [ada, other] = [await world.makeOrg('ranked'), await world.makeOrg('crowd')]
    await fill(ada, 0, 60)
    const look = async () => [...(await answers(ada, [...SEARCHES, ...LISTS])), await statistics(ada)]
    const before = await look()
    await fill(other, 0, 200)
    await fill(other, 0, 50, { project: 'a' }, 'turbine turbine')
    expect(await look()).toEqual(before)
  })

  it('gives the same bytes after projects and owners that the key does not see have stored the same words', async () => {
    const ada = await world.makeOrg('ranked')
    const narrowed = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
    await fill(narrowed, 0, 60)
    await fill(ada, 60, 20)
    const look = async () => [...(await answers(narrowed, [...SEARCHES, ...LISTS])), await statistics(narrowed)]
    const before = await look()
    await fill(ada, 0, 200, { project: 'b' })
    await fill(ada, 0, 50, { audience: 'private', project: 'a' })
    await fill(ada, 0, 50, { diary: true }, 'turbine turbine')
    expect(await look()).toEqual(before)
  })

  it('chooses the same candidates, also of words that more entries hold than are ranked', async () => {
    const [ada, other] = [await world.makeOrg('ranked'), await world.makeOrg('crowd')]
    const narrowed = await world.makeKey(ada.org, { projects: ['a'], owner: 'bob' })
    // Each of two words alone in 240 entries, some of which repeat it.
    for (const word of ['marble', 'cobalt'])
      for (let i = 0; i < 240; i += 80) {
        const entries = Array.from({ length: 80 }, (_, j) => {
          const n = i + j
          const text = `${`${word} `.repeat(1 + (n % 4))} entry ${n} ${'filler '.repeat(n % 11)}`
          return { thread_id: `thread ${n}`, source: 'user', text, metadata: { project: 'a' } }
        })
        await ok(ada, 'store_context_batch', { entries })
      }
    const query = 'marble OR cobalt'
    const calls: [string, Record<string, unknown>][] = [
      ['fts_search_context', { query: 'marble cobalt', limit: 100 }],
      ['fts_search_context', { query, mode: 'boolean', limit: 100 }],
      ['fts_search_context', { query: 'marb', mode: 'prefix', limit: 100 }],
      ['hybrid_search_context', { query: 'marble cobalt', limit: 100 }],
    ]
    const look = async () => [await answers(ada, calls), await answers(narrowed, calls)]
    const before = await look()
    await fill(other, 0, 150, {}, 'marble')
    await fill(await world.makeKey(ada.org, { owner: 'eve' }), 0, 50, { audience: 'private' }, 'cobalt')
    expect(await look()).toEqual(before)
  })

  it('counts no private words of another org whose owner has a name made to collide', async () => {
    // The 53-bit hashes of these two are equal; such a pair takes half a minute to find.
    const victim = { org: 'collision-victim', owner: 'owner-awxybb' }
    const attacker = { org: 'collision-attacker', owner: 'owner-af58t6' }
    const key = async ({ org, owner }: typeof victim) => {
      await world.http(OPERATOR, 'POST', '/api/v1/orgs', { id: org })
      return world.makeKey(org, { owner })
    }
    const [theirs, mine] = [await key(victim), await key(attacker)]
    await fill(mine, 0, 20)
    const before = await answers(mine, SEARCHES)
    await fill(theirs, 0, 40, { audience: 'private' })
    expect(await answers(mine, SEARCHES)).toEqual(before)
  })
})

// Plays on both databases, as the above does.
toolBudgetContract()
