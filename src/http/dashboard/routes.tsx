import { type Context, Hono } from 'hono'
import type { Config } from '../../config'
import { Problem, type ProblemCode } from '../../domain/errors'
import type { Services } from '../../services/services'
import { enter, whenSent } from '../admission'
import { serveImage } from '../images'
import type { Log } from '../log'
import { logLine } from '../log'
import { sourceOf } from '../oauth/routes'
import type { OAuth } from '../oauth/server'
import { unsaid } from '../said'
import { isBrowser } from '../welcome'
import { assetOf } from './assets/serve'
import { type Page, respondWith, seeOther } from './page'
import { activityStream } from './pages/activity'
import { askForKey, comeAgain, signIn } from './pages/login'
import { troublePage } from './pages/trouble'
import { safePath } from './parts/addresses'
import { Door, Frame } from './parts/frame'
import { isForm, isOurs, readSent, STALE } from './sent'
import { endedSession, type Visitor, visitorOf } from './session'
import { type Handler, ROUTES } from './table'
import type { Visit } from './visit'

/** Pages for people (operate contract §1), beside the routes of programs: who asks for no page is none of them. */
interface Variables {
  readonly setup: {
    readonly config: Config
    readonly services: Services
    readonly log: Log
    readonly oauth?: OAuth | null
  }
  readonly services: Services
  readonly requestId: string
}
type PageContext = Context<{ Bindings: object; Variables: Variables }>

const STATUS: Readonly<Record<ProblemCode, number>> = {
  invalid_input: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit_exceeded: 413,
  internal: 500,
  unsupported: 501,
  unavailable: 503,
}

/** Keys shown in a minute from one place: whoever mistypes has room, and nobody guesses 256 bits. */
const LOGINS_A_MINUTE = 120

const isProgram = (request: Request): boolean => /^bearer\b/i.test(request.headers.get('authorization') ?? '')

const pathOf = ({ pathname, search }: URL): string => safePath(`${pathname}${search}`)

/** What became of a request, as a page; what nobody foresaw is logged, and told by its number. */
async function carriedOut(c: PageContext, visit: Visit, handler: Handler): Promise<Page | Response> {
  try {
    return await handler(visit)
  } catch (error) {
    const { requestId } = c.var
    const problem =
      error instanceof Problem
        ? error
        : new Problem('internal', `Something went wrong inside the server (request ${requestId}).`)
    if (!(error instanceof Problem) || error.cause !== undefined)
      console.error(
        logLine('ERROR', 'request_failed', {
          requestId,
          message: unsaid(problem.cause ?? error, c.req.raw, c.req.param()),
        }),
      )
    return troublePage(problem.code, problem.message, STATUS[problem.code])
  }
}

async function visitOf(c: PageContext, visitor: Visitor): Promise<Visit> {
  const { config, services, log, oauth = null } = c.var.setup
  const url = new URL(c.req.url)
  return {
    ...(await readSent(c.req.raw)),
    ...{ url, config, services, log, env: { ...c.env } as Visit['env'], requestId: c.var.requestId },
    credential: visitor.credential,
    formToken: await (await services.sessions()).formToken(visitor.session),
    oauth: (oauth?.at(url.origin) ?? null) !== null,
  }
}

/** Answers with a page in its frame, or with what the handler made. */
async function serve(c: PageContext, visitor: Visitor, handler: Handler): Promise<Response> {
  const visit = await visitOf(c, visitor)
  const { url } = visit
  const trusted = c.req.method !== 'POST' || isOurs(c.req.raw, url, visit.form, visit.formToken)
  const answer = trusted ? await carriedOut(c, visit, handler) : troublePage('forbidden', STALE, 403)
  const response =
    answer instanceof Response
      ? answer
      : respondWith(<Frame visit={visit} page={answer} />, { origin: url.origin, status: answer.status ?? 200 })
  if (visitor.cookie !== null) response.headers.append('Set-Cookie', visitor.cookie)
  return response
}

/** A person who is too quick is told so on a page. */
const tooMany = (c: PageContext, retryAfter: number): Response => {
  const page = troublePage('limit_exceeded', `There were too many requests; try again in ${retryAfter} s.`, 429)
  const headers = { 'Retry-After': String(retryAfter) }
  return respondWith(<Door page={page} />, { origin: new URL(c.req.url).origin, status: 429, headers })
}

/** Lets in who has a session, within the limits of their key. */
async function admit(c: PageContext, handler: Handler): Promise<Response> {
  const { config, services } = c.var.setup
  const visitor = await visitorOf(c.req.raw, config, services)
  const url = new URL(c.req.url)
  if (visitor === null)
    return (
      (c.req.method === 'GET' ? comeAgain(c.req.raw) : null) ??
      askForKey(c.req.raw, { next: c.req.method === 'GET' ? pathOf(url) : '/', status: 401 })
    )
  const admission = await enter(services.limiter, visitor.credential)
  if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
  const response = await serve(c, visitor, handler)
  return admission === null ? response : whenSent(response, () => services.afterwards(admission.leave()))
}

/** To be mounted at the root, before the routes that take a bearer. */
export function createDashboard() {
  const routes = new Hono<{ Bindings: object; Variables: Variables }>()

  for (const [method, path, handler, brings] of ROUTES)
    routes.on(method, path, async (c, next) => {
      const wanted = method === 'POST' ? isForm(c.req.raw, brings === 'file') : isBrowser(c.req.raw)
      if (!wanted || isProgram(c.req.raw)) return next()
      return admit(c, handler)
    })

  // What pages load: images of entries, and the feed for the script. Programs bring a bearer and are answered elsewhere.
  routes.get('/images/:hash', async (c, next) => {
    if (c.req.raw.headers.has('authorization')) return next()
    const { config, services } = c.var.setup
    const visitor = config.authMode === 'open' ? null : await visitorOf(c.req.raw, config, services)
    if (visitor === null || visitor.credential.kind === 'operator') return next()
    return serveImage(services, visitor.credential.principal, c.req.param('hash'))
  })
  routes.get('/activity/stream', async (c, next) => {
    const { config, services } = c.var.setup
    const visitor = isProgram(c.req.raw) ? null : await visitorOf(c.req.raw, config, services)
    if (visitor === null) return next()
    const stream = await carriedOut(c, await visitOf(c, visitor), (visit) =>
      activityStream(visit, c.req.header('last-event-id') ?? null),
    )
    return stream instanceof Response ? stream : new Response(null, { status: stream.status ?? 500 })
  })

  routes.post('/login', async (c, next) => {
    if (!isForm(c.req.raw)) return next()
    const { services } = c.var
    const admission = await services.limiter?.enter(`/login ${sourceOf(c.req.raw)}`, { perMinute: LOGINS_A_MINUTE })
    if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
    try {
      return await signIn({ request: c.req.raw, services })
    } finally {
      if (admission !== undefined) services.afterwards(admission.leave())
    }
  })
  routes.get('/login', async (c, next) => {
    if (!isBrowser(c.req.raw)) return next()
    const next_ = safePath(c.req.query('next') ?? null)
    return c.var.setup.config.authMode === 'open' ? seeOther('/') : askForKey(c.req.raw, { next: next_, status: 200 })
  })
  routes.post('/logout', async (c, next) => {
    if (!isForm(c.req.raw)) return next()
    return admit(c, async ({ url }) => {
      const response = seeOther('/login')
      response.headers.append('Set-Cookie', endedSession(url))
      return response
    })
  })
  return routes
}

/** What stands in no database and needs no session; before everything that does. */
export const createAssets = () =>
  new Hono().get('/assets/:name', async (c, next) => assetOf(c.req.param('name')) ?? next())
