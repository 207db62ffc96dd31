import type { Context } from 'hono'
import type { Config } from '../../config'
import { Problem, type ProblemCode } from '../../domain/errors'
import { attempt } from '../../services/outcome'
import type { Services } from '../../services/services'
import { STATUS } from '../error-body'
import { type Log, logLine, redactedError } from '../log'
import type { OAuth } from '../oauth/server'
import { type Page, respondWith } from './page'
import { Frame, homeOf, PublicFrame, reviews, type Waiting } from './parts/frame'
import { safePath } from './parts/words'
import { preferencesOf } from './preferences'
import type { Visitor } from './session'
import type { Handler } from './table'
import { hasRole, isOurs, principalOf, readSent, STALE, type Visit } from './visit'

/** The page of an error. */
const TITLES: Readonly<Record<ProblemCode, string>> = {
  invalid_input: 'Invalid request',
  not_found: 'Not found',
  conflict: 'Nothing was changed',
  limit_exceeded: 'Limit exceeded',
  unsupported: 'Not available here',
  unauthorized: 'Not signed in',
  forbidden: 'Not allowed',
  unavailable: 'Not available now',
  internal: 'Something went wrong',
}

/** @param message one sentence for the user */
export const troublePage = (code: ProblemCode, message: string, status: number, isOperator = false): Page => ({
  title: TITLES[code],
  status,
  body: (
    <div class="card">
      <h1>{TITLES[code]}</h1>
      <p class="more">{message}</p>
      <p class="more">
        <a href={homeOf(isOperator)}>Back to the {isOperator ? 'projects' : 'overview'}</a>
      </p>
    </div>
  ),
})

/** Answers a browser with a page in its frame, or with an error page. */

export interface Variables {
  readonly setup: {
    readonly config: Config
    readonly services: Services
    readonly log: Log
    readonly oauth?: OAuth | null
    readonly addressHeader?: string | undefined
  }
  readonly services: Services
  readonly requestId: string
}

export type PageContext = Context<{ Bindings: object; Variables: Variables }>

/** Renders an error as a page; an unexpected one is logged, and shown with the number of the request. */
export async function executeAction(c: PageContext, visit: Visit, handler: Handler): Promise<Page | Response> {
  try {
    return await handler(visit)
  } catch (error) {
    const { requestId } = c.var
    const problem =
      error instanceof Problem ? error : new Problem('internal', `Internal server error (request ${requestId}).`)
    if (!(error instanceof Problem) || error.cause !== undefined)
      console.error(
        logLine('ERROR', 'request_failed', {
          requestId,
          message: redactedError(problem.cause ?? error, c.req.raw, c.req.param()),
        }),
      )
    return troublePage(problem.code, problem.message, STATUS[problem.code], visit.credential.kind === 'operator')
  }
}

export async function visitOf(c: PageContext, visitor: Visitor): Promise<Visit> {
  const { config, services, log, oauth = null } = c.var.setup
  const url = new URL(c.req.url)
  return {
    ...(await readSent(c.req.raw)),
    ...{ url, config, services, log, env: { ...c.env } as Visit['env'], requestId: c.var.requestId },
    credential: visitor.credential,
    session: visitor.session,
    formToken: await (await services.sessions()).formToken(visitor.session),
    oauth: (oauth?.at(url.origin) ?? null) !== null,
    preferences: preferencesOf(c.req.raw),
    cameFrom: safePath(c.req.header('referer')?.split(url.origin)[1] ?? null),
  }
}

/** Counts what waits for the visitor; a page that answers a form, or cannot count, shows nothing. */
async function waitingFor(visit: Visit, method: string): Promise<Waiting> {
  if (method !== 'GET' || !hasRole(visit, 'writer')) return { sessions: 0, pairs: 0 }
  const { capture, stalePairs } = visit.services
  const principal = principalOf(visit)
  const [sessions, pairs] = await Promise.all([
    reviews(visit) ? attempt(() => capture.review.waiting(principal)) : null,
    attempt(() => stalePairs.waiting(principal)),
  ])
  return { sessions: sessions?.ok ? sessions.value : 0, pairs: pairs.ok ? pairs.value.pairs : 0 }
}

/** Answers with a page in its frame, or with what the handler made. */
export async function serve(c: PageContext, visitor: Visitor, handler: Handler): Promise<Response> {
  const visit = await visitOf(c, visitor)
  const { url } = visit
  const trusted = c.req.method !== 'POST' || isOurs(c.req.raw, url, visit.form, visit.formToken)
  // The count adds no time: it is read while the page reads its own.
  const [answer, waiting] = await Promise.all([
    trusted ? executeAction(c, visit, handler) : troublePage('forbidden', STALE, 403),
    waitingFor(visit, c.req.method),
  ])
  const response =
    answer instanceof Response
      ? answer
      : respondWith(<Frame visit={visit} page={answer} waiting={waiting} />, {
          origin: url.origin,
          status: answer.status ?? 200,
        })
  if (visitor.cookie !== null) response.headers.append('Set-Cookie', visitor.cookie)
  return response
}

/** Answers a browser that requests an unknown address, with or without a session. */
export const noPage = (request: Request): Response => {
  const page = troublePage('not_found', 'No page exists at this address.', 404)
  return respondWith(<PublicFrame page={page} />, { origin: new URL(request.url).origin, status: 404 })
}

/** The error page of a rate limit. */
export const tooMany = (c: PageContext, retryAfter: number): Response => {
  const page = troublePage('limit_exceeded', `Too many requests. Try again in ${retryAfter} s.`, 429)
  const headers = { 'Retry-After': String(retryAfter) }
  return respondWith(<PublicFrame page={page} />, { origin: new URL(c.req.url).origin, status: 429, headers })
}
