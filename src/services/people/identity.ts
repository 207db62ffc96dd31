import { Problem } from '../../domain/errors'
import { type ApiKey, isUsable, principalOf } from '../../domain/identity/identity'
import { isWellFormedKey, sameHash } from '../../domain/identity/key'
import type { Principal } from '../../domain/identity/scope'
import { sha256Hex } from '../../domain/text'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'

/** Who a credential stands for (platform contract §5). */
export interface Identity {
  /**
   * The holder of a bearer key, as the key stands at this moment.
   *
   * @throws Problem unauthorized when there is no such key, or it has expired or was revoked: always in the same words
   */
  principalOfKey(key: string): Promise<Principal>
  /** The same by the key's id, for grants that were made with it. */
  principalOfKeyId(id: string): Promise<Principal>
  /** Whether a bearer is the deployment's ADMIN_TOKEN. */
  isAdminToken(bearer: string): Promise<boolean>
  /** Whether anybody could get in at all: there is an ADMIN_TOKEN, or a key was made. */
  isConfigured(): Promise<boolean>
}

interface Dependencies {
  readonly store: IdentityStore
  readonly adminToken: string | null
  readonly clock: Clock
  readonly afterwards: (work: Promise<unknown>) => void
}

/** `last_used_at` is this exact, so that a busy key costs one write in five minutes instead of one a request. */
const USE_PRECISION_MS = 5 * 60_000

const unknownKey = () => new Problem('unauthorized', 'The credential is not valid; it may have expired or been revoked')

export function createIdentity({ store, adminToken, clock, afterwards }: Dependencies): Identity {
  function accept(key: ApiKey | null): Principal {
    const now = clock.now()
    if (key === null || !isUsable(key, now)) throw unknownKey()
    if (key.lastUsedAt === null || now - key.lastUsedAt >= USE_PRECISION_MS) afterwards(store.noteUse(key.id, now))
    return principalOf(key)
  }

  return {
    async principalOfKey(text) {
      if (!isWellFormedKey(text)) throw unknownKey()
      const hash = await sha256Hex(text)
      const found = await store.keyByHash(hash)
      return accept(found !== null && sameHash(found.hash, hash) ? found.key : null)
    },

    async principalOfKeyId(id) {
      return accept(await store.keyById(id))
    },

    async isAdminToken(bearer) {
      // Hashes are compared, because they are of one length whatever the caller sends.
      return adminToken !== null && sameHash(await sha256Hex(bearer), await sha256Hex(adminToken))
    },

    async isConfigured() {
      return adminToken !== null || (await store.hasKeys())
    },
  }
}
