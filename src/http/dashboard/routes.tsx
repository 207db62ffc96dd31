import { Hono } from 'hono'
import { enter, whenSent } from '../admission'
import { addressOf } from '../client-address'
import { serveImage } from '../images'
import { isBrowser } from '../welcome'
import { assetOf } from './assets/serve'
import { seeOther } from './page'
import { activityStream } from './pages/activity'
import { askAgain, askForKey, comeAgain, signIn, WRONG_KEYS_A_MINUTE } from './pages/login'
import { palette, suggest } from './pages/palette'
import { safePath } from './parts/words'
import { executeAction, type PageContext, serve, tooMany, type Variables, visitOf } from './serve'
import { endedSession, endSession, visitorOf } from './session'
import { type Handler, ROUTES } from './table'
import { isForm, type Visit } from './visit'

/** Routes of the dashboard (operate contract §1), which answer browsers only. */

const isProgram = (request: Request): boolean => /^bearer\b/i.test(request.headers.get('authorization') ?? '')

const pathOf = ({ pathname, search }: URL): string => safePath(`${pathname}${search}`)

/** Admits requests with a session, within the limits of their key. */
async function admit(c: PageContext, handler: Handler): Promise<Response> {
  const { config, services } = c.var.setup
  const visitor = await visitorOf(c.req.raw, config, services)
  const url = new URL(c.req.url)
  if (visitor === null)
    return c.req.method === 'GET'
      ? (comeAgain(c.req.raw) ?? askForKey(c.req.raw, config, { next: pathOf(url), status: 401 }))
      : askAgain(c.req.raw, config)
  const admission = await enter(services.limiter, visitor.credential)
  if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
  const response = await serve(c, visitor, handler)
  return admission === null ? response : whenSent(response, () => services.afterwards(admission.leave()))
}

/** Returns the visit of a script of our pages, which has their session; null for programs and without a session. */
async function visitOfScript(c: PageContext): Promise<Visit | null> {
  const { config, services } = c.var.setup
  const visitor = isProgram(c.req.raw) ? null : await visitorOf(c.req.raw, config, services)
  return visitor === null ? null : visitOf(c, visitor)
}

/** Answers a script: an error has a status and no body. */
async function resource(c: PageContext, visit: Visit, read: () => Promise<Response>): Promise<Response> {
  const answer = await executeAction(c, visit, read)
  return answer instanceof Response ? answer : new Response(null, { status: answer.status ?? 500 })
}

/** Suggestions that the script reads while a person types. */
const SUGGESTIONS: readonly (readonly [path: string, handler: (visit: Visit) => Promise<Response>])[] = [
  ['/palette', palette],
  ['/suggest', suggest],
]

/** Mounted at the root, before the routes that accept a bearer token. */
export function createDashboard() {
  const routes = new Hono<{ Bindings: object; Variables: Variables }>()

  for (const [method, path, handler, brings] of ROUTES)
    routes.on(method, path, async (c, next) => {
      const wanted = method === 'POST' ? isForm(c.req.raw, brings === 'file') : isBrowser(c.req.raw)
      if (!wanted || isProgram(c.req.raw)) return next()
      return admit(c, handler)
    })

  // Resources of pages: images of entries, and the feed for the script. Programs send a bearer token and are answered elsewhere.
  routes.get('/images/:hash', async (c, next) => {
    if (c.req.raw.headers.has('authorization')) return next()
    const { config, services } = c.var.setup
    const visitor = config.authMode === 'open' ? null : await visitorOf(c.req.raw, config, services)
    if (visitor === null || visitor.credential.kind === 'operator') return next()
    return serveImage(services, visitor.credential.principal, c.req.param('hash'))
  })
  routes.get('/activity/stream', async (c, next) => {
    const visit = await visitOfScript(c)
    if (visit === null) return next()
    return resource(c, visit, () => activityStream(visit, c.req.header('last-event-id') ?? null))
  })
  for (const [path, handler] of SUGGESTIONS)
    routes.get(path, async (c, next) => {
      const visit = await visitOfScript(c)
      if (visit === null) return next()
      const { services } = visit
      const admission = await enter(services.limiter, visit.credential)
      if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
      const response = await resource(c, visit, () => handler(visit))
      return admission === null ? response : whenSent(response, () => services.afterwards(admission.leave()))
    })

  routes.post('/login', async (c, next) => {
    if (!isForm(c.req.raw)) return next()
    const { services, setup } = c.var
    const { response, isWrongKey } = await signIn({ request: c.req.raw, services, config: setup.config })
    if (!isWrongKey) return response
    const address = addressOf(c.req.raw, setup.addressHeader)
    const admission = await services.limiter?.enter(`/login ${address}`, { perMinute: WRONG_KEYS_A_MINUTE })
    if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
    if (admission !== undefined) services.afterwards(admission.leave())
    return response
  })
  routes.get('/login', async (c, next) => {
    if (!isBrowser(c.req.raw)) return next()
    const next_ = safePath(c.req.query('next') ?? null)
    return c.var.setup.config.authMode === 'open'
      ? seeOther('/')
      : askForKey(c.req.raw, c.var.setup.config, { next: next_, status: 200 })
  })
  routes.post('/logout', async (c, next) => {
    if (!isForm(c.req.raw)) return next()
    return admit(c, async ({ url, services, session }) => {
      await endSession(services, session)
      const response = seeOther('/login')
      response.headers.append('Set-Cookie', endedSession(url))
      return response
    })
  })
  return routes
}

/** Routes that need neither database nor session; mounted before those that do. */
export const createAssets = () =>
  new Hono().get('/assets/:name', async (c, next) => assetOf(c.req.param('name')) ?? next())
