import { beforeAll, expect, it } from 'vitest'
import { composeServices } from '../../src/compose'
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
  await services.entries.delete(ada, { ids: [b] })
  expect(await linksFrom(ada)).toEqual([`${id} contradicts ${a}`])
  await change({ contradicts: null })
  expect(await linksFrom(ada)).toEqual([])
})
