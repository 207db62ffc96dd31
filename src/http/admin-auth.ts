import { Problem } from '../domain/errors'
import type { Administrator } from '../services/people/administration'
import type { Services } from '../services/services'
import { administratorOf, type Credential, OWN, requireRole } from './auth'

/** Middleware of every administration route (platform contract §5). */
interface Asked {
  readonly services: Services
  readonly credential: Credential
}

/** Returns the administrator who calls; other callers are refused, and the denial is logged. */
export async function administrator({ services, credential }: Asked, action: string): Promise<Administrator> {
  const by = administratorOf(credential, action)
  if (by.kind === 'key') await noting(services, by, async () => requireRole(by.caller, 'admin'))
  return by
}

/** Returns the organization that an address names: `-` is that of the key, since not every key knows its organization. */
export const namedOrg = (credential: Credential, named: string): string =>
  named === OWN && credential.kind === 'principal' ? credential.principal.org : named

/** Logs denials before the error is returned. */
export async function noting<T>(services: Services, by: Administrator, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden' && by.kind === 'key')
      await services.administration.note(by.caller, false, { denied: 1 })
    throw error
  }
}
