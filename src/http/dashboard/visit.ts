import type { Config, Environment } from '../../config'
import { mayAct, type Principal, type Role } from '../../domain/identity/scope'
import type { Session } from '../../domain/identity/session'
import type { Administrator } from '../../services/people/administration'
import type { Services } from '../../services/services'
import { administratorOf, type Credential, requireOrg } from '../auth'
import type { Log } from '../log'

/** One authenticated request for a page. */
export interface Visit {
  readonly url: URL
  /** Environment of the deployment, to show which of its variables are set; only the configuration shows values. */
  readonly env: Environment
  readonly config: Config
  readonly services: Services
  readonly log: Log
  readonly requestId: string
  readonly credential: Credential
  readonly session: Session
  /** Token that each form carries, so that no other site can send one. */
  readonly formToken: string
  /** Fields of a submitted form; empty for a page that is only read. */
  readonly form: URLSearchParams
  /** The uploaded file. */
  readonly file: Blob | null
  /** Whether clients that support OAuth can connect without a key. */
  readonly oauth: boolean
}

/** Returns the principal whose memory is shown. @throws Problem forbidden for ADMIN_TOKEN, which belongs to no organization */
export const principalOf = ({ credential }: Visit): Principal => requireOrg(credential)

/** Returns whether the visitor's key has at least this role; the holder of ADMIN_TOKEN has none. */
export const hasRole = ({ credential }: Visit, role: Role): boolean =>
  credential.kind === 'principal' && mayAct(credential.principal.role, role)

/** Returns whether the visitor administers anything: an organization by an admin key, or all by ADMIN_TOKEN. */
export const administers = (visit: Visit): boolean => visit.credential.kind === 'operator' || hasRole(visit, 'admin')

/** @param action name for the audit log */
export const administratorFor = ({ credential }: Visit, action: string): Administrator =>
  administratorOf(credential, action)

/** Returns a parameter of the address, or null where it is absent or empty. */
export function asked({ url }: Pick<Visit, 'url'>, name: string): string | null {
  const value = url.searchParams.get(name)
  return value === null || value.trim() === '' ? null : value
}

/** Returns a field of a form, or null as above; line breaks are normalized to \n. */
export function sent({ form }: Pick<Visit, 'form'>, name: string): string | null {
  const value = form.get(name)
  return value === null || value.trim() === '' ? null : value.replaceAll('\r\n', '\n')
}

/** Returns an integer parameter within bounds; `fallback` for anything else. */
export function askedNumber(visit: Pick<Visit, 'url'>, name: string, fallback: number, most: number): number {
  const text = asked(visit, name) ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : fallback
}
