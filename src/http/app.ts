import { Hono, type MiddlewareHandler } from 'hono'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { getPath } from 'hono/utils/url'
import type { Config } from '../config'
import { ABOUT } from '../domain/about'
import { capacityWarning, vectorsWarning } from '../domain/capacity'
import { Problem, type ProblemDetails } from '../domain/errors'
import { perObject } from '../domain/per-object'
import { createUsageCounter } from '../services/people/usage'
import type { Services } from '../services/services'
import { toolsetOf } from '../tools/toolsets'
import { preflight, readAccess } from './access'
import { admit, enter, refuse, whenSent } from './admission'
import { administratorOf, authenticate, type Credential, requireOrg, requireRole } from './auth'
import { errorBody, STATUS } from './error-body'
import { guard } from './guard'
import { backupCheck, checkParts } from './health'
import { type Log, logLine, redactedError } from './log'
import { handleMcp } from './mcp'
import { isMcpPath, routedPath, withoutClosingSlash } from './mcp-message'
import { CARD_PATH, serverCard } from './mcp-server'
import type { DataPoint, Measure } from './measure'
import { createCounters, METRICS_TYPE, metricsText, noteRequest, organizationTotals } from './measure'
import { metadataUrlOf, SCOPE } from './oauth/resources'
import type { OAuth } from './oauth/server'
import { groupOf, type RouteGroup } from './route-groups'
import { introduction, isBrowser, isListener, trouble, welcome } from './welcome'

/** Dependencies of one request, made by the Worker entry. */
export interface RequestSetup {
  readonly config: Config
  readonly services: Services
  readonly log: Log
  /** Measures what this request costs; absent where that is not recorded. */
  readonly measure?: Measure
  /** Receives the kind and cost of each request; absent without Analytics Engine. */
  readonly record?: (point: DataPoint) => void
  /** Null where OAuth is switched off. */
  readonly oauth?: OAuth | null
  /** Outside Cloudflare, the header that names a client's address (client-address.ts). */
  readonly addressHeader?: string | undefined
  /** Migrations of the database that this Worker does not know, because a newer release applied them. */
  readonly ahead?: readonly string[]
}

export type Variables = {
  setup: RequestSetup
  services: Services
  credential: Credential
  requestId: string
  /** Called when the answer has been sent. */
  afterAnswer: (() => Promise<void>)[]
}

/**
 * Security headers of every response. The owner of the domain decides on HSTS. The return from the consent page may be a window of
 * the app that opened it. The policy for what a page may load is set where the page is rendered.
 */
const SECURE_HEADERS = secureHeaders({
  xFrameOptions: 'DENY',
  // With `no-referrer` browsers would send `Origin: null` with a form, which hides the origin.
  referrerPolicy: 'same-origin',
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
})

/** @param prepare gives the services for one request; may throw a Problem when configuration or database are not ready */
export function createApp<Env extends object>(prepare: Prepare<Env>) {
  // An isolate serves one environment, except in tests.
  const counterOf = perObject((_: Env) => createUsageCounter())
  const counters = createCounters()
  const shared = { counters, counterOf }
  const core = createRouter(prepare, shared, {})
  /** Routers by the routes that are loaded with them. */
  const routers = new Map<string, Promise<typeof core>>()
  return {
    async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
      const group = groupOf(routedPath(getPath(request)))
      if (group === null) return core.fetch(request, env, ctx)
      let router = routers.get(group.name)
      if (router === undefined) {
        router = group.load().then((routes) => createRouter(prepare, shared, routes))
        routers.set(group.name, router)
      }
      return (await router).fetch(request, env, ctx)
    },
  }
}

/** Counters of an isolate. */
interface Shared<Env> {
  readonly counters: ReturnType<typeof createCounters>
  readonly counterOf: (env: Env) => ReturnType<typeof createUsageCounter>
}

type Prepare<Env> = (env: Env, ctx: ExecutionContext) => Promise<RequestSetup>

/** @param routes those of a group, in addition to the routes that load at the start */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
function createRouter<Env extends object>(
  prepare: Prepare<Env>,
  { counters, counterOf }: Shared<Env>,
  routes: RouteGroup,
) {
  const app = new Hono<{ Bindings: Env; Variables: Variables }>({ getPath: (request) => routedPath(getPath(request)) })
  const { isPagePath = () => false } = routes
  /** Returns whether other sites may link to an address: the pages of the dashboard and of the MCP endpoint. */
  const isLinkable = (request: Request): boolean => {
    const path = routedPath(new URL(request.url).pathname)
    return isBrowser(request) && (path === '/login' || isEndpoint(path) || isPagePath(path))
  }

  app.use(SECURE_HEADERS)
  app.use(guard<Env>(readAccess, isLinkable))
  app.get('/health', (c) => c.json({ status: 'ok', version: ABOUT.version }))
  routes.withoutServices?.(app)

  // Never accepted from the caller: log lines are searched by it.
  app.use(requestId({ headerName: '' }))
  app.use(async (c, next) => {
    c.set('setup', await prepare(c.env, c.executionCtx as ExecutionContext))
    c.set('services', c.var.setup.services)
    const { measure, log, record } = c.var.setup
    measure?.traced(c.req.header('traceparent'))
    await next()
    if (measure !== undefined) {
      const route = routeOf(c.req.path)
      const { status } = c.res
      noteRequest(counters, route, status, measure)
      c.header('Server-Timing', measure.timing())
      record?.(measure.point(route, status))
      const usage = counterOf(c.env)
      usage.note(measure.usage(route, usage.note))
      const due = usage.due(c.var.setup.services.now())
      const { services } = c.var.setup
      if (due !== null)
        services.afterwards(
          services.usage.add(due).catch(() => {
            // The next minute tries again. The error may hold text of a caller.
            for (const one of due) usage.note(one)
            log('WARNING', 'usage_not_written', { counts: due.length })
          }),
        )
      log('INFO', 'request', { requestId: c.var.requestId, route, status, ...measure.line() })
    }
    const { afterwards, catchUp, close } = c.var.setup.services
    afterwards(catchUp.further())
    c.executionCtx.waitUntil(close())
  })

  app.get('/ready', async (c) => {
    const { ahead = [], services } = c.var.setup
    const { health, catchUp } = services
    const { checks, ready } = await checkParts(health)
    const backups = await backupCheck(c.var.setup.services)
    const unfinished = catchUp.missed()
    const vectors = await services.mostVectors().catch(() => 0)
    const warnings = [
      capacityWarning(health.database.bytes?.() ?? null, health.database.limit ?? null),
      vectorsWarning(vectors, services.vectorCapacity),
    ].filter((warning) => warning !== null)
    const status = ready ? 'ready' : 'unavailable'
    return c.json(
      {
        status,
        version: ABOUT.version,
        checks: { ...checks, ...backups },
        ...(unfinished.length > 0 && { unfinished }),
        ...(ahead.length > 0 && { ahead }),
        ...(warnings.length > 0 && { warnings }),
      },
      ready ? 200 : 503,
    )
  })

  /** Routes that need a credential; the rate and concurrency limits of the key apply. */
  const withCredential: MiddlewareHandler<{ Bindings: Env; Variables: Variables }> = async (c, next) => {
    // CORS preflights carry no credential.
    if (c.req.method === 'OPTIONS') return preflight()
    const { config, services, oauth = null } = c.var.setup
    const { measure } = c.var.setup
    const { limiter, afterwards } = services
    const asked = { limiter, afterwards, authorization: c.req.header('authorization') ?? null }
    const { credential, admission } = await admit(asked, async () => {
      const found = await authenticate(c.req.raw, { config, identity: services.identity, tokens: oauth })
      measure?.authenticated()
      return found
    })
    c.set('credential', credential)
    if (credential.kind === 'principal') {
      const { org, keyId: key, agent } = credential.principal
      measure?.asks({ org, key, agent })
    }
    if (admission?.admitted === false) return refuse(admission, c.req.raw)
    c.set('afterAnswer', admission === null ? [] : [admission.leave])
    try {
      await next()
    } finally {
      const { afterAnswer } = c.var
      if (afterAnswer.length > 0)
        c.res = whenSent(c.res, () => services.afterwards(Promise.all(afterAnswer.map((leave) => leave()))))
    }
  }
  app.get(CARD_PATH, (c) => serverCard(new URL(c.req.url).origin, c.var.setup.config.authMode))

  // Before authentication: a browser cannot send a credential here.
  routes.withoutCredential?.(app)
  app.on('GET', '/mcp/:families?', async (c, next) => {
    const { config, oauth } = c.var.setup
    const url = new URL(c.req.url)
    const named = c.req.param('families')
    if (!isBrowser(c.req.raw) || toolsetOf(config, named) === null) return next()
    return welcome({
      address: addressOf(url),
      origin: url.origin,
      mode: config.authMode,
      oauth: (oauth?.at(url.origin) ?? null) !== null,
    })
  })

  for (const path of ['/mcp/*', '/api/*', '/images/*', '/entries/*', '/metrics']) app.use(path, withCredential)

  app.all('/mcp/:families?', async (c) => {
    const { config, services, log, measure } = c.var.setup
    const named = c.req.param('families')
    const offer = toolsetOf(config, named)
    if (offer === null) throw new Problem('not_found', `No such tool family: ${named}`)
    const principal = requireOrg(c.var.credential)
    if (c.req.method === 'GET' && !isListener(c.req.raw))
      return c.json(introduction(addressOf(new URL(c.req.url)), config.authMode))
    const admit = async (messages: number) => {
      const admission = await enter(services.limiter, c.var.credential, messages)
      if (admission?.admitted === false) return refuse(admission, c.req.raw)
      if (admission !== null) c.var.afterAnswer.push(admission.leave)
      return null
    }
    const { requestId, afterAnswer } = c.var
    const release = () => services.afterwards(Promise.all(afterAnswer.splice(0).map((leave) => leave())))
    const request = { config, services, principal, ...offer, log, measure, requestId, admit, release }
    return handleMcp(c.req.raw, request)
  })

  app.get('/metrics', async (c) => {
    const { services } = c.var.setup
    const by = administratorOf(c.var.credential, 'metrics')
    if (by.kind === 'key') requireRole(by.caller, 'admin')
    const standing = by.kind === 'key' ? await organizationTotals(services, by.caller) : null
    const bytes = services.health.database.bytes?.() ?? null
    const limit = services.health.database.limit ?? 0
    const keys = await services.administration.expiringKeys(by)
    const used = by.kind === 'key' ? await services.usage.today(by) : []
    const expiring = new Map(keys.map((key) => [key, key.expiresAt ?? 0]))
    return c.body(metricsText(counters, { standing, bytes, limit, usage: used, expiring }), 200, {
      'Content-Type': METRICS_TYPE,
    })
  })

  routes.withCredential?.(app)

  app.notFound(async (c) => {
    const isForPeople = isBrowser(c.req.raw) && !c.req.header('authorization') && !/^\/(api|mcp)\//.test(c.req.path)
    if (isForPeople) return (await import('./dashboard/serve')).noPage(c.req.raw)
    const isRest = c.req.path.startsWith('/api/')
    const message = `No such route. ${isRest ? 'GET /api/v1/openapi.json lists the routes' : 'MCP is served at /mcp'}`
    return c.json(errorBody(c.req.raw, { code: 'not_found', message, retryable: false }), 404)
  })

  app.onError((error, c) => {
    const requestId = c.get('requestId') as string | undefined
    const problem =
      error instanceof Problem
        ? error
        : new Problem('internal', `Internal server error (request ${requestId ?? 'unknown'})`)
    if (!(error instanceof Problem) || error.cause !== undefined)
      console.error(
        logLine('ERROR', 'request_failed', {
          requestId,
          message: redactedError(error.cause ?? error, c.req.raw, c.req.param()),
        }),
      )
    const { code, message, retryable, details } = problem
    // A person who opens the server in a browser gets a page, also when the database does not respond.
    const isForPeople = isEndpoint(c.req.path) || isPagePath(c.req.path)
    if (isBrowser(c.req.raw) && isForPeople && code !== 'unauthorized' && !c.req.header('authorization'))
      return trouble(message, { origin: new URL(c.req.url).origin, status: STATUS[code] })
    // RFC 6750 §3.1: the answer to a request without a credential has no error code.
    const known = c.req.header('authorization') ? ', error="invalid_token"' : ''
    const url = new URL(c.req.url)
    const hasOAuth = (c.get('setup') as RequestSetup | undefined)?.oauth?.at(url.origin)
    const discovery = hasOAuth ? `, resource_metadata="${metadataUrlOf(url)}", scope="${SCOPE}"` : ''
    const challenge = `Bearer realm="commonplace"${known}${discovery}`
    const wait = secondsUntil(details)
    const headers: Record<string, string> = {
      ...(code === 'unauthorized' && { 'WWW-Authenticate': challenge }),
      ...(wait !== null && { 'Retry-After': String(wait) }),
    }
    const shown = details === undefined ? {} : { details }
    // `curl` gets in the body what a browser gets as a page.
    const isCurious = c.req.method === 'GET' && code === 'unauthorized' && isMcpPath(url.pathname)
    const about = isCurious ? { server: introduction(addressOf(url), 'required') } : {}
    const body = errorBody(c.req.raw, { code, message, retryable }, { ...shown, ...about })
    return c.json(body, wait === null ? STATUS[code] : 429, headers)
  })

  return app
}

/** Returns whether a path is an address of the MCP endpoint. */
const isEndpoint = (path: string): boolean => /^\/mcp(\/[^/]*)?$/.test(path)

/** Returns the address of an endpoint for clients. */
const addressOf = ({ origin, pathname }: URL): string => `${origin}${withoutClosingSlash(pathname)}`

/** The part of the server that the request addresses, without the rest of the path. */
const ROUTES = new Set(['mcp', 'api', 'images', 'entries', 'ready', 'metrics', 'authorize', 'token', 'register'])
const routeOf = (path: string): string => {
  const [, first = ''] = path.split('/')
  return ROUTES.has(first) ? first : 'pages'
}

/** Seconds until a limit with a known end (`until`) resets; null for other limits. */
function secondsUntil(details: ProblemDetails | undefined): number | null {
  const { until } = (details ?? {}) as { until?: unknown }
  return typeof until === 'string' ? Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000)) : null
}
