import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../src/adapters/sql/tables/outbox/outbox-rows'
import type { Caller } from '../../../src/domain/identity/scope'
import { freshPrincipal } from '../../support/scope'
import { type Ground, type KeepingWorld, keepingWorld } from './world'

/** An image of a visible entry always has its bytes, whatever runs between storing them, removing them and writing the row. */
export function imageRemovalContract(name: string, make: () => Promise<Ground>): void {
  describe(`${name} keeps the bytes of every image in use`, () => {
    let world: KeepingWorld
    let ada: Caller
    beforeAll(async () => {
      world = keepingWorld(await make())
    })
    beforeEach(async () => {
      await world.empty()
      ada = freshPrincipal()
    })
    /** An image that nothing uses any more, waiting to be removed. */
    const unused = async (note: string): Promise<void> => {
      const id = await world.store(ada, note)
      await world.entries.delete(ada, { ids: [id] })
      expect(await world.queue(ada.org)).toMatchObject([{ topic: 'image_delete', state: 'pending' }])
    }

    it('when the cleaner removes them between the put and the commit of a store', async () => {
      await unused('a')
      world.afterPut.next(() => world.clean())
      await world.store(ada, 'a')
      expect(await world.missing(ada.org)).toEqual([])
      expect(await world.queue(ada.org)).toEqual([])
    })

    it('when the cleaner removes them between the put and the commit of an update', async () => {
      const id = await world.store(ada, 'other')
      await unused('b')
      world.afterPut.next(() => world.clean())
      await world.illustrate(ada, id, 'b')
      expect(await world.missing(ada.org)).toEqual([])
    })

    it('when the cleaner comes again between the second put and the commit', async () => {
      await unused('c')
      world.afterPut.next(async () => {
        await world.clean()
        world.afterPut.next(async () => {
          // Another has used the image and let it go meanwhile.
          await unused('c')
          await world.clean()
        })
      })
      await world.store(ada, 'c')
      expect(await world.missing(ada.org)).toEqual([])
    })

    it('when a removal failed without saying whether it happened', async () => {
      await unused('d')
      world.afterPut.next(async () => {
        const [item] = await world.outbox.claim([{ topic: 'image_delete', limit: 50 }])
        await world.images.delete(ada, item?.key as string)
        if (item) await world.outbox.retry([item], 'the answer was lost')
      })
      await world.store(ada, 'd')
      expect(await world.missing(ada.org)).toEqual([])
      expect(await world.queue(ada.org)).toEqual([])
    })

    it('when the write comes while the removal is under way: it is refused until that is over', async () => {
      await unused('e')
      world.beforeDelete.next(async () => {
        await expect(world.store(ada, 'e')).rejects.toMatchObject({ code: 'conflict', retryable: true })
      })
      await world.cleanSlowly()
      await world.store(ada, 'e')
      expect(await world.missing(ada.org)).toEqual([])
      expect(await world.objects(ada.org)).toBe(1)
    })

    it('when a cleaner slept through its claim: it removes nothing', async () => {
      await unused('f')
      world.afterClaim.next(async () => {
        world.clock.advance(LEASE_MS + 1)
        await world.clean()
        await world.store(ada, 'f')
      })
      await world.cleanSlowly()
      expect(await world.missing(ada.org)).toEqual([])
      expect(await world.objects(ada.org)).toBe(1)
    })

    it('and removes those that stay unused, once', async () => {
      await unused('g')
      await world.clean()
      expect([await world.objects(ada.org), await world.queue(ada.org)]).toEqual([0, []])
      const id = await world.store(ada, 'g')
      await world.entries.delete(ada, { ids: [id] })
      await world.clean()
      expect(await world.objects(ada.org)).toBe(0)
    })

    it('and removes those of a write that a limit refused, not those that another entry shows', async () => {
      const narrow = keepingWorld(world, { entries: 1, bytes: null })
      const id = await narrow.store(ada, 'shown')
      await expect(narrow.store(ada, 'refused')).rejects.toMatchObject({ code: 'limit_exceeded' })
      await expect(narrow.store(ada, 'shown')).rejects.toMatchObject({ code: 'limit_exceeded' })
      await narrow.clean()
      expect([await world.objects(ada.org), await world.missing(ada.org)]).toEqual([1, []])
      await narrow.illustrate(ada, id, 'refused')
      expect(await world.missing(ada.org)).toEqual([])
    })

    it('and forgets its marks when every write that knew nothing of them is long over', async () => {
      world.clock.advance(1)
      const before = world.clock.ms
      await world.retention.forgetImageRemovals(before, 1000)
      await unused('h')
      await world.clean()
      expect(await world.retention.forgetImageRemovals(before, 1000)).toBe(0)
      expect(await world.retention.forgetImageRemovals(before + 1, 1000)).toBeGreaterThan(0)
      expect(await world.retention.forgetImageRemovals(before + 1, 1000)).toBe(0)
    })
  })
}
