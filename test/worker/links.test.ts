import { beforeAll, expect, it } from 'vitest'
import { composeServices } from '../../src/composition/worker'
import type { Metadata } from '../../src/domain/entry/metadata'
import type { Caller } from '../../src/domain/identity/scope'
import { bindings, config, migrate } from '../support/bindings'
import { freshPrincipal, TestClock } from '../support/scope'

/** Links that metadata names (platform contract §1): made for what is visible, and following later changes. */
const services = composeServices(bindings, config, { log: () => {}, waitUntil: () => {}, clock: new TestClock() })

beforeAll(migrate)

async function store(by: Caller, text: string, metadata?: Metadata): Promise<number> {
  const draft = { ok: true as const, value: { threadId: 't', source: 'user' as const, text, metadata } }
  const [outcome] = await services.storeEntries(by, [draft], { atomic: true, dedupe: true })
  return outcome?.ok && outcome.value ? outcome.value.id : 0
}

async function linksFrom(by: Caller): Promise<string[]> {
  const { results } = await bindings.DB.prepare(
    `SELECT l.from_id, l.relation, l.to_id FROM links l JOIN entries e ON e.id = l.to_id
      WHERE l.org = ?1 ORDER BY l.relation, l.to_id`,
  )
    .bind(by.org)
    .all<{ from_id: number; relation: string; to_id: number }>()
  return results.map(({ from_id, relation, to_id }) => `${from_id} ${relation} ${to_id}`)
}

it('links to entries that the writer sees, and to no others', async () => {
  const ada = freshPrincipal()
  const eve = freshPrincipal({ org: ada.org, owner: 'eve' })
  const seen = await store(ada, 'seen')
  const secret = await store(eve, 'of eve', { audience: 'private' })
  const foreign = await store(freshPrincipal(), 'of another org')
  const id = await store(ada, 'linking', {
    references: { context_ids: [seen, secret, foreign, 987_654_321] },
    supersedes: String(seen),
  })
  expect(await linksFrom(ada)).toEqual([`${id} references ${seen}`, `${id} supersedes ${seen}`])
})

it('follows later changes of the metadata and the end of either entry', async () => {
  const ada = freshPrincipal()
  const [a, b] = [await store(ada, 'a'), await store(ada, 'b')]
  const id = await store(ada, 'linking', { depends_on: [a] })
  const change = (metadataPatch: Metadata) =>
    services.updateEntries(ada, [{ ok: true, value: { id, metadataPatch } }], true)
  await change({ depends_on: [b], contradicts: a })
  expect(await linksFrom(ada)).toEqual([`${id} contradicts ${a}`, `${id} depends_on ${b}`])
  await change({ unrelated: 1 })
  expect(await linksFrom(ada)).toHaveLength(2)
  await services.deleteEntries.delete(ada, { ids: [b] })
  expect(await linksFrom(ada)).toEqual([`${id} contradicts ${a}`])
  await change({ contradicts: null })
  expect(await linksFrom(ada)).toEqual([])
})

it('refuses calls whose metadata link to more than five thousand entries, and changes nothing', async () => {
  const ada = freshPrincipal()
  const ids = await Promise.all([store(ada, 'a'), store(ada, 'b')])
  const named = Array.from({ length: 100 }, (_, i) => 900_000 + i)
  const metadata = { references: { context_ids: [...ids, ...named] } }
  const drafts = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ok: true as const,
      value: { threadId: 't', source: 'agent' as const, text: `linking ${i}`, metadata },
    }))
  const storing = (count: number) => services.storeEntries(ada, drafts(count), { atomic: true, dedupe: false })
  await expect(storing(51)).rejects.toMatchObject({ code: 'limit_exceeded' })
  expect(await linksFrom(ada)).toEqual([])
  const stored = [...(await storing(50)), ...(await storing(1))].flatMap((one) =>
    one.ok && one.value ? [one.value.id] : [],
  )
  expect(await linksFrom(ada)).toHaveLength(102)
  const updates = (count: number) =>
    stored.slice(0, count).map((id) => ({ ok: true as const, value: { id, metadataPatch: { status: 'done' } } }))
  await expect(services.updateEntries(ada, updates(51), true)).rejects.toMatchObject({ code: 'limit_exceeded' })
  expect((await services.updateEntries(ada, updates(50), true)).every(({ ok }) => ok)).toBe(true)
})
