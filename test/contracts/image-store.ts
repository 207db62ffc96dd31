import { beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/domain/text'
import type { ImageStore } from '../../src/ports/image-store'
import { freshPrincipal, pngBytes } from '../support/scope'

/** Behavior of every ImageStore. */
export function imageStoreContract(name: string, make: () => ImageStore): void {
  describe(`${name} keeps image bytes`, () => {
    let store: ImageStore
    beforeEach(() => {
      store = make()
    })
    const image = async (note: string) => {
      const bytes = pngBytes(note)
      return { bytes, hash: await sha256Hex(bytes), mimeType: 'image/png' as const }
    }

    it('returns the bytes that were put, also after a second put', async () => {
      const scope = freshPrincipal()
      const one = await image('one')
      await store.put(scope, one)
      await store.put(scope, one)
      expect(await store.get(scope, one.hash)).toEqual(one.bytes)
    })

    it('keeps orgs apart', async () => {
      const one = await image('apart')
      await store.put(freshPrincipal(), one)
      expect(await store.get(freshPrincipal(), one.hash)).toBeNull()
    })

    it('returns null for a missing image and deletes it without an error', async () => {
      const scope = freshPrincipal()
      const one = await image('gone')
      await store.put(scope, one)
      await store.delete(scope, one.hash)
      await store.delete(scope, one.hash)
      expect(await store.get(scope, one.hash)).toBeNull()
    })

    it('refuses bytes that do not have the hash they claim', async () => {
      const scope = freshPrincipal()
      const [one, other] = [await image('one'), await image('other')]
      await expect(store.put(scope, { ...one, hash: other.hash })).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.get(scope, other.hash)).toBeNull()
    })

    it('lists objects of all orgs, with org, hash and time', async () => {
      const scope = freshPrincipal({ org: 'org / with ünusual name' })
      const one = await image('listed')
      await store.put(scope, one)
      const { objects } = await store.list(null)
      const found = objects.find(({ hash }) => hash === one.hash)
      expect(found?.org).toBe(scope.org)
      expect(found?.uploadedAt).toBeGreaterThan(0)
    })
  })
}
