import { Problem } from '../domain/errors'
import type { Administrator } from '../services/people/administration'
import type { Services } from '../services/services'
import { administratorOf, type Credential, requireRole } from './auth'

/** What stands before every route of administration (platform contract §5). */
interface Asked {
  readonly services: Services
  readonly credential: Credential
}

/** Who administers; anybody but an administrator is refused, and the refusal is noted. */
export async function administrator({ services, credential }: Asked, action: string): Promise<Administrator> {
  const by = administratorOf(credential, action)
  if (by.kind === 'key') await noting(services, by, async () => requireRole(by.caller, 'admin'))
  return by
}

/** Notes denials on the way out. */
export async function noting<T>(services: Services, by: Administrator, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden' && by.kind === 'key')
      await services.administration.note(by.caller, false, { denied: 1 })
    throw error
  }
}
