import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import type { JsonObject } from '../../src/domain/entry/metadata'
import { applyUpdates } from '../../src/domain/entry/update'
import type { Caller } from '../../src/domain/identity/scope'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

const PAGE = { limit: 100, offset: 0, previewLength: 301 }
const FAR = Date.UTC(2099, 0, 1)

export interface LifeUnderTest {
  readonly entries: EntryStore
  readonly clock: TestClock
  readonly connection: SqlConnection
}

/** Effects of the life cycle, effects of writers, and that neither undoes the other (platform contract §1). */
export function entryLifeContract(name: string, make: () => LifeUnderTest): void {
  describe(`${name} keeps the life cycle apart from metadata`, () => {
    let entries: EntryStore
    let clock: TestClock
    let connection: SqlConnection
    let ada: Caller
    beforeEach(() => {
      ;({ entries, clock, connection } = make())
      ada = freshPrincipal()
    })

    const save = async (metadata?: JsonObject): Promise<number> => {
      const [saved] = await entries.save(ada, [await entryOf(ada, { threadId: 't', text: 'the text', metadata })])
      return saved?.id as number
    }
    const write = (id: number, columns: SQL) =>
      connection.batch([sql`UPDATE entries SET ${columns} WHERE id = ${id}`], { org: ada.org })
    const columns = async (id: number) => {
      const [rows] = await connection.batch([
        sql`SELECT layer, weight, pinned, archived, expires_at FROM entries WHERE id = ${id}`,
      ])
      return rows?.[0]
    }
    const listed = async () => (await entries.page(ada, EVERYTHING, PAGE)).entries.map(({ id }) => id)
    const update = async (id: number, update: { metadata?: JsonObject; metadataPatch?: JsonObject }) => {
      const [entry] = await entries.read(ada, [id])
      if (entry === undefined) throw new Error(`${id} cannot be read`)
      await entries.change(ada, [await applyUpdates(ada, entry, [{ id, ...update }])])
    }

    /** Every way in which metadata is written. */
    const ways: [string, (id: number) => Promise<unknown>][] = [
      ['replaced whole', (id) => update(id, { metadata: { title: 'new' } })],
      ['patched in a reserved key', (id) => update(id, { metadataPatch: { status: 'done' } })],
      ['patched in a plain key', (id) => entries.patch(ada, id, { plain: 1 })],
    ]

    for (const [way, rewrite] of ways)
      it(`undoes nothing of it when metadata is ${way}`, async () => {
        const id = await save({ a: 1 })
        const set = sql`archived = 1, given_weight = 5, given_pinned = 1, layer_expires_at = ${FAR}, layer = 3`
        await write(id, set)
        await rewrite(id)
        expect(await columns(id)).toEqual({ layer: 3, weight: 5, pinned: 1, archived: 1, expires_at: FAR })
        expect(await listed()).toEqual([])
      })

    it('undoes nothing of it when a store is repeated with other metadata', async () => {
      const id = await save({ a: 1 })
      await write(id, sql`given_weight = 5, given_pinned = 1, layer_expires_at = ${FAR}, layer = 3`)
      expect(await save({ b: 2 })).toBe(id)
      expect(await columns(id)).toEqual({ layer: 3, weight: 5, pinned: 1, archived: 0, expires_at: FAR })
    })

    it('neither hides nor restores an entry because of a word in metadata', async () => {
      const id = await save({ status: 'archived' })
      expect(await listed()).toEqual([id])
      expect((await entries.page(ada, { op: 'thread', is: 't' }, PAGE)).total).toBe(1)
      await write(id, sql`archived = 1`)
      await update(id, { metadataPatch: { status: 'todo' } })
      expect(await listed()).toEqual([])
      expect((await entries.page(ada, { op: 'thread', is: 't' }, PAGE)).total).toBe(0)
      expect((await entries.read(ada, [id]))[0]).toMatchObject({ archived: true, metadata: { status: 'todo' } })
    })

    it('follows the metadata for as long as they have a value', async () => {
      const id = await save({ weight: 4, pinned: true })
      expect(await columns(id)).toMatchObject({ weight: 4, pinned: 1 })
      await write(id, sql`given_weight = 1, given_pinned = 0`)
      expect(await columns(id)).toMatchObject({ weight: 4, pinned: 1 })
      await update(id, { metadataPatch: { weight: null, pinned: false } })
      expect(await columns(id)).toMatchObject({ weight: 1, pinned: 0 })
    })

    it("ends an entry at its writer's time or at its layer's, whichever is earlier", async () => {
      const soon = clock.ms + 10_000
      const id = await save({ expires_at: new Date(soon).toISOString() })
      await write(id, sql`layer_expires_at = ${FAR}`)
      expect((await columns(id))?.expires_at).toBe(soon)
      await write(id, sql`layer_expires_at = ${soon - 5_000}`)
      expect((await columns(id))?.expires_at).toBe(soon - 5_000)
      await update(id, { metadataPatch: { expires_at: null } })
      expect((await columns(id))?.expires_at).toBe(soon - 5_000)
      clock.advance(5_000)
      expect(await listed()).toEqual([])
      expect(await entries.read(ada, [id])).toEqual([])
    })

    it('refuses a time of its end that is none, and a diary that is neither true nor false', async () => {
      for (const value of ['soon', 5, ['2026-11-21'], true])
        await expect(save({ expires_at: value })).rejects.toMatchObject({ code: 'invalid_input' })
      await expect(save({ diary: 'yes' })).rejects.toMatchObject({ code: 'invalid_input' })
      expect((await entries.read(ada, [await save({ project: ['a', 'b'] })]))[0]?.project).toBeNull()
    })

    it('rewrites the links of metadata and no others, even equal ones', async () => {
      const target = await save()
      const other = await entries.save(ada, [await entryOf(ada, { threadId: 'o', metadata: { depends_on: [target] } })])
      const id = other[0]?.id as number
      const link = (origin: string) =>
        sql`INSERT INTO links (org, from_id, relation, to_id, origin) VALUES (${ada.org}, ${id}, 'depends_on', ${target}, ${origin})`
      await connection.batch([link('remember'), link('system')])
      await update(id, { metadata: { depends_on: null } })
      const [rows] = await connection.batch([
        sql`SELECT origin FROM links WHERE org = ${ada.org} AND from_id = ${id} ORDER BY origin`,
      ])
      expect(rows?.map(({ origin }) => origin)).toEqual(['remember', 'system'])
    })

    it('logs a delete at the time of the delete', async () => {
      clock.ms = Date.UTC(2020, 0, 1)
      const id = await save()
      clock.advance(1_000)
      await entries.delete(ada, { ids: [id] })
      const [rows] = await connection.batch([sql`SELECT action, at FROM changes WHERE org = ${ada.org} ORDER BY seq`])
      expect(rows?.map(({ action, at }) => [action, Number(at)])).toEqual([
        ['store', Date.UTC(2020, 0, 1)],
        ['delete', Date.UTC(2020, 0, 1) + 1_000],
      ])
    })
  })
}
