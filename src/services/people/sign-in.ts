import { type ApiKey, isUsable, principalOf } from '../../domain/identity/identity'
import { SignInRefused } from '../../domain/identity/sign-in'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'
import type { AccessGate, OpenIdProvider, VerifiedPerson } from '../../ports/sign-in'
import type { Administration } from './administration'

/** Signs people in by identity providers: an address that a provider has verified leads to the key that an administrator gave it. */
export type SignIn = ReturnType<typeof createSignIn>

export function createSignIn({
  access,
  openId,
  store,
  administration,
  clock,
}: {
  /** Null where the server is not behind Cloudflare Access. */
  readonly access: AccessGate | null
  readonly openId: OpenIdProvider | null
  readonly store: Pick<IdentityStore, 'keysByEmail'>
  readonly administration: Pick<Administration, 'note'>
  readonly clock: Clock
}) {
  return {
    access,
    openId,

    /**
     * Returns the newest key of the address in each organization.
     *
     * @param org only this organization; null for all
     * @throws SignInRefused unknown_address for an address without a key that can be used
     */
    async keysOf({ email }: VerifiedPerson, org: string | null): Promise<ApiKey[]> {
      const now = clock.now()
      const keys = (await store.keysByEmail(email)).filter(
        (key) => isUsable(key, now) && (org === null || key.org === org),
      )
      if (keys.length === 0) throw new SignInRefused('unknown_address', email)
      return keys
    },

    /** Records a sign-in in the audit log. If that fails, there is none. */
    note: (key: ApiKey, by: 'access' | 'oidc') =>
      administration.note({ ...principalOf(key), action: 'sign_in', tool: null }, true, { by }),
  }
}
