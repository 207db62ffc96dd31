import type { Config, Environment } from '../../config'
import { Problem } from '../../domain/errors'
import { type Caller, mayAct, type Principal, type Role } from '../../domain/identity/scope'
import type { Session } from '../../domain/identity/session'
import type { Administrator } from '../../services/people/administration'
import type { Services } from '../../services/services'
import type { Tool } from '../../tools/define-tool'
import { administratorOf, type Credential, requireOrg, requireRole } from '../auth'
import type { Log } from '../log'
import { readBytes, readForm } from '../oauth/form'
import type { Preferences } from './preferences'

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
  readonly preferences: Preferences
  /** The page of this server that sent the request; `/` for none. */
  readonly cameFrom: string
}

/** Returns the principal whose memory is shown. @throws Problem forbidden for ADMIN_TOKEN, which belongs to no organization */
export const principalOf = ({ credential }: Visit): Principal => requireOrg(credential)

/** Returns whether the visitor's key has at least this role; the holder of ADMIN_TOKEN has none. */
export const hasRole = ({ credential }: Visit, role: Role): boolean =>
  credential.kind === 'principal' && mayAct(credential.principal.role, role)

/** Returns whether the visitor administers anything: an organization by an admin key, or all by ADMIN_TOKEN. */
export const administers = (visit: Visit): boolean => visit.credential.kind === 'operator' || hasRole(visit, 'admin')

/** Returns whether the visitor administers all projects of an organization. */
export const administersAll = (visit: Visit): boolean =>
  administers(visit) && (visit.credential.kind === 'operator' || visit.credential.principal.projects === null)

/** @param action name for the audit log */
export const administratorFor = ({ credential }: Visit, action: string): Administrator =>
  administratorOf(credential, action)

/** Returns a parameter of the address, or null where it is absent or empty. */
export function queryParameter({ url }: Pick<Visit, 'url'>, name: string): string | null {
  const value = url.searchParams.get(name)
  return value === null || value.trim() === '' ? null : value
}

/** Returns a field of a form, or null as above; line breaks are normalized to \n. */
export function sent({ form }: Pick<Visit, 'form'>, name: string): string | null {
  const value = form.get(name)
  return value === null || value.trim() === '' ? null : value.replaceAll('\r\n', '\n')
}

/** Returns an integer parameter within bounds; `fallback` for anything else. */
export function queryNumber(visit: Pick<Visit, 'url'>, name: string, fallback: number, most: number): number {
  const text = queryParameter(visit, name) ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : fallback
}

/** Performs writes the way agents do: with the tools, their checks, their receipts and their rows of the audit log. */

/** Logs a denial, as the endpoint does; if that fails, the denial still applies. */
async function noteDenial({ services, log, requestId }: Visit, caller: Caller): Promise<void> {
  await services.administration
    .note(caller, false, { denied: 1 })
    .catch((error) => log('ERROR', 'denial_not_noted', { tool: caller.tool, requestId, message: String(error) }))
}

export const callerOf = (visit: Visit, name: string): Caller => ({
  ...principalOf(visit),
  action: name,
  tool: name,
  changeId: visit.services.ids.next(),
  isPerson: true,
})

/**
 * Calls a tool for the visitor.
 *
 * @returns its structured result
 * @throws Problem of the tool, or forbidden for an insufficient role
 */
export async function callTool(visit: Visit, tool: Tool, args: Record<string, unknown>) {
  const principal = callerOf(visit, tool.name)
  const { services, config, url } = visit
  try {
    requireRole(principal, tool.role)
    return (await tool.call({ principal, services, config, origin: url.origin }, args)).structured
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden') await noteDenial(visit, principal)
    throw error
  }
}

/** Reads submitted forms within a size limit, and checks that they come from our own pages. */

/** Limit of a form in bytes: a text of 1,000,000 bytes takes up to three times as many when encoded, plus its metadata. */
const MAX_FORM_BYTES = 4_000_000

/** Limit of a form with a file in bytes, which is in memory twice: one plain volume of an export, or many compressed ones. */
const MAX_FILE_BYTES = 20_000_000

export interface Sent {
  readonly form: URLSearchParams
  /** Null where the form has no file, or may not have one. */
  readonly file: Blob | null
}

const typeOf = (request: Request): string => request.headers.get('content-type') ?? ''
const isPlain = (request: Request): boolean => /^application\/x-www-form-urlencoded\b/i.test(typeOf(request))
const isWithFile = (request: Request): boolean => /^multipart\/form-data\b/i.test(typeOf(request))

/** @param takesFile whether this form may contain a file */
export const isForm = (request: Request, takesFile = false): boolean =>
  request.method === 'POST' && (isPlain(request) || (takesFile && isWithFile(request)))

const tooLarge = (most: number) => new Problem('limit_exceeded', `The form is larger than ${most} bytes`)

async function readParts(request: Request): Promise<Sent> {
  const bytes = await readBytes(request, MAX_FILE_BYTES)
  if (bytes === null) throw tooLarge(MAX_FILE_BYTES)
  const parts = await new Response(bytes, { headers: { 'Content-Type': typeOf(request) } }).formData().catch(() => {
    throw new Problem('invalid_input', 'The form is truncated or altered; submit it again')
  })
  const form = new URLSearchParams()
  let file: Blob | null = null
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value)
    else if (value.size > 0) file = value
  return { form, file }
}

/** Returns the submitted fields; empty if the body is not a form. @throws Problem limit_exceeded, invalid_input */
export async function readSent(request: Request): Promise<Sent> {
  if (request.method !== 'POST') return { form: new URLSearchParams(), file: null }
  if (isWithFile(request)) return readParts(request)
  const form = await readForm(request, MAX_FORM_BYTES)
  if (form === null) throw tooLarge(MAX_FORM_BYTES)
  return { form, file: null }
}

/** Returns whether a form was sent by one of our pages, to the session that it was made for. */
export const isOurs = (request: Request, { origin: own }: URL, form: URLSearchParams, token: string): boolean => {
  const origin = request.headers.get('origin')
  return (origin === null || origin === own) && form.get('token') === token
}

export const STALE =
  'This form belongs to another session, or your browser blocks cookies. Go back, reload the page and submit it again.'
