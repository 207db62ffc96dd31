import { EXPIRY_WARNING_MS } from '../../domain/identity/identity'
import { DAY_MS } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'
import type { Step } from '../maintenance/schedule'

/** Keys that one run logs, the next to end first. */
const LOGGED = 100

/** Logs each key that ends within two weeks, once a day. */
export const keyExpiryStep = ({
  store,
  clock,
  log,
}: {
  readonly store: Pick<IdentityStore, 'expiringKeys'>
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): Step => ({
  name: 'expiring keys',
  every: DAY_MS,
  daily: true,
  rounds: 1,
  round: async () => {
    const now = clock.now()
    const keys = await store.expiringKeys(now, now + EXPIRY_WARNING_MS, LOGGED)
    for (const { id, org, owner, expiresAt } of keys)
      log('key_expires', { org, key: id, owner, days: Math.floor(((expiresAt ?? now) - now) / DAY_MS) })
    return { done: keys.length, next: null }
  },
})
