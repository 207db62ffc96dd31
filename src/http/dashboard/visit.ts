import type { Config, Environment } from '../../config'
import { mayAct, type Principal, type Role } from '../../domain/identity/scope'
import type { Session } from '../../domain/identity/session'
import type { Administrator } from '../../services/people/administration'
import type { Services } from '../../services/services'
import { administratorOf, type Credential, requireOrg } from '../auth'
import type { Log } from '../log'

/** One request for a page, by somebody who may come in. */
export interface Visit {
  readonly url: URL
  /** Of the deployment, to say which of its variables are set; their values are shown by the configuration alone. */
  readonly env: Environment
  readonly config: Config
  readonly services: Services
  readonly log: Log
  readonly requestId: string
  readonly credential: Credential
  readonly session: Session
  /** What each form carries, so that no other site can send one. */
  readonly formToken: string
  /** Of a form that was sent; empty for a page that is only looked at. */
  readonly form: URLSearchParams
  /** What the form brought along. */
  readonly file: Blob | null
  /** Whether clients that know OAuth can connect by themselves. */
  readonly oauth: boolean
}

/** Whose memory is looked at. @throws Problem forbidden for ADMIN_TOKEN, which belongs to no organization */
export const principalOf = ({ credential }: Visit): Principal => requireOrg(credential)

/** Whether the visitor's key has at least this role; the holder of ADMIN_TOKEN has none. */
export const hasRole = ({ credential }: Visit, role: Role): boolean =>
  credential.kind === 'principal' && mayAct(credential.principal.role, role)

/** Whether the visitor administers anything: an organization by an admin key, or all by ADMIN_TOKEN. */
export const administers = (visit: Visit): boolean => visit.credential.kind === 'operator' || hasRole(visit, 'admin')

/** @param action as the audit log names it */
export const administratorFor = ({ credential }: Visit, action: string): Administrator =>
  administratorOf(credential, action)

/** A parameter of the address, or null where it is absent or empty. */
export function asked({ url }: Pick<Visit, 'url'>, name: string): string | null {
  const value = url.searchParams.get(name)
  return value === null || value.trim() === '' ? null : value
}

/** A member of a form, or null as above; line breaks as everybody but forms writes them. */
export function sent({ form }: Pick<Visit, 'form'>, name: string): string | null {
  const value = form.get(name)
  return value === null || value.trim() === '' ? null : value.replaceAll('\r\n', '\n')
}

/** A whole number of the address within bounds; `fallback` for anything else. */
export function askedNumber(visit: Pick<Visit, 'url'>, name: string, fallback: number, most: number): number {
  const text = asked(visit, name) ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : fallback
}
