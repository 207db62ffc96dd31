import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../src/adapters/sql/tables/outbox/outbox-rows'
import type { WorkItem, WorkTopic } from '../../../src/ports/outbox'
import { createOutboxWork } from '../../../src/services/maintenance/outbox-work'
import { type Ground, type KeepingWorld, keepingWorld } from './world'

const LANES = [
  { topic: 'image_delete', limit: 2 },
  { topic: 'vector_sync', limit: 2 },
  { topic: 'embed', limit: 2 },
] as const

/** A lease belongs to one worker, and a worker that lost it cannot interfere. */
export function outboxContract(name: string, make: () => Promise<Ground>): void {
  describe(`${name} hands out work`, () => {
    let world: KeepingWorld
    let org: string
    beforeAll(async () => {
      world = keepingWorld(await make())
    })
    beforeEach(async () => {
      org = `org-${crypto.randomUUID()}`
      await world.connection.batch([sql`DELETE FROM outbox`], 'all')
    })

    const queue = (topic: WorkTopic, ...keys: string[]) =>
      world.connection.batch(
        keys.map(
          (key) => sql`
            INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (${org}, ${topic}, ${key}, 0, 0)
            ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0`,
        ),
      )
    const claim = (): Promise<WorkItem[]> => world.outbox.claim(LANES)
    const keys = (items: readonly { key: unknown }[]) => items.map(({ key }) => key)

    it('to one worker at a time, with a token that the next claim does not have', async () => {
      await queue('vector_sync', 'm')
      const [first] = await claim()
      expect(await claim()).toEqual([])
      world.clock.advance(LEASE_MS)
      const [second] = await claim()
      expect(second).toMatchObject({ id: first?.id, attempts: 2 })
      expect(second?.token).not.toBe(first?.token)
    })

    it('in lanes: many rows of one topic keep none of another waiting', async () => {
      await queue('embed', '1', '2', '3', '4')
      await queue('vector_sync', 'm')
      await queue('image_delete', 'h')
      expect(keys(await claim()).sort()).toEqual(['1', '2', 'h', 'm'])
      expect(keys(await claim()).sort()).toEqual(['3', '4'])
    })

    it('and lets a worker that lost it neither finish, nor postpone, nor prolong it', async () => {
      await queue('vector_sync', 'm')
      const stale = await claim()
      world.clock.advance(LEASE_MS)
      const holder = await claim()
      await world.outbox.finish(stale)
      await world.outbox.retry(stale, 'late')
      expect(await world.outbox.hold(stale)).toEqual([])
      expect(await world.queue(org)).toMatchObject([{ state: 'claimed', attempts: 2 }])
      expect(await world.outbox.hold(holder)).toEqual(holder)
      await world.outbox.finish(holder)
      expect(await world.queue(org)).toEqual([])
    })

    it('and keeps items that were queued again during the work', async () => {
      await queue('vector_sync', 'm')
      const items = await claim()
      await queue('vector_sync', 'm')
      await world.outbox.finish(items)
      expect(await world.queue(org)).toMatchObject([{ state: 'pending' }])
    })

    it('for as long as it is extended, however long the work takes', async () => {
      await queue('vector_sync', 'm', 'n')
      const items = await claim()
      for (let step = 0; step < 3; step++) {
        world.clock.advance(LEASE_MS - 1)
        expect(await world.outbox.hold(items)).toHaveLength(2)
        expect(await claim()).toEqual([])
      }
    })

    it('so that a lane that fails leaves the others to do their work, and only its own step to be repeated', async () => {
      await queue('vector_sync', 'bad', 'good')
      await queue('image_delete', 'h')
      const done: string[] = []
      const work = createOutboxWork({
        outbox: world.outbox,
        images: { ...world.images, delete: async (_, hash) => void done.push(hash) },
        index: world.index,
        deletes: world.deletes,
        longTexts: world.longTexts,
        generation: null,
        syncOrg: async (_, model) => {
          if (model === 'bad') throw new Error('no index')
          done.push(model)
        },
        log: () => {},
      })
      await work()
      expect(done.sort()).toEqual(['good', 'h'])
      expect(await world.queue(org)).toEqual([{ topic: 'vector_sync', key: 'bad', state: 'pending', attempts: 1 }])
    })

    it('and does each once when two workers come at the same time', async () => {
      await queue('vector_sync', ...Array.from({ length: 30 }, (_, i) => `m${i}`))
      const done: string[] = []
      const work = createOutboxWork({
        outbox: world.outbox,
        images: world.images,
        index: world.index,
        deletes: world.deletes,
        longTexts: world.longTexts,
        generation: null,
        syncOrg: async (_, model) => void done.push(model),
        log: () => {},
      })
      await Promise.all([work(5), work(5)])
      expect(done.length).toBe(30)
      expect(new Set(done).size).toBe(30)
    })
  })
}
