import { Problem } from '../../domain/errors'
import { type ApiKey, isUsable, principalOf } from '../../domain/identity/identity'
import { isWellFormedKey, sameHash } from '../../domain/identity/key'
import type { Principal } from '../../domain/identity/scope'
import { sha256Hex } from '../../domain/text'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'

/** Resolves credentials (platform contract §5). */
export interface Identity {
  /**
   * Returns the principal of a bearer key with its current rights.
   *
   * @throws Problem unauthorized with one message for an unknown, expired or revoked key
   */
  principalOfKey(key: string): Promise<Principal>
  /** Returns the principal of a key by the key's ID, for grants made with it. */
  principalOfKeyId(id: string): Promise<Principal>
  /** Reports whether a bearer token is the ADMIN_TOKEN of the deployment. */
  isAdminToken(bearer: string): Promise<boolean>
  /** Reports whether anyone can sign in: an ADMIN_TOKEN is set, or a key exists. */
  isConfigured(): Promise<boolean>
}

interface Dependencies {
  readonly store: IdentityStore
  readonly adminToken: string | null
  readonly clock: Clock
  readonly afterwards: (work: Promise<unknown>) => void
}

/** Precision of `last_used_at`, so that a busy key causes one write in five minutes. */
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
      // Compares hashes, because they have equal length for any input.
      return adminToken !== null && sameHash(await sha256Hex(bearer), await sha256Hex(adminToken))
    },

    async isConfigured() {
      return adminToken !== null || (await store.hasKeys())
    },
  }
}
