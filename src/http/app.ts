import { Hono } from 'hono'
import type { Config } from '../config'
import { Problem, type ProblemCode } from '../domain/errors'
import type { Services } from '../services/services'
import { listTools, readFamilies } from '../tools/catalogue'
import { FAMILIES } from '../tools/define-tool'
import { authenticate, refuseStrangers } from './auth'
import { guard, readableByPages } from './guard'
import { serveImage } from './images'
import type { Log } from './log'
import { handleMcp } from './mcp'

/** Everything one request needs, made by the Worker entry. */
export interface RequestSetup {
  readonly config: Config
  readonly services: Services
  readonly log: Log
}

type Variables = { setup: RequestSetup; requestId: string }

const STATUS: Readonly<Record<ProblemCode, 400 | 401 | 403 | 404 | 409 | 413 | 500 | 501 | 503>> = {
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

/** @param prepare gives the services for one request; may throw a Problem when configuration or database are not ready */
export function createApp<Env extends object>(prepare: (env: Env, ctx: ExecutionContext) => Promise<RequestSetup>) {
  const app = new Hono<{ Bindings: Env; Variables: Variables }>()

  app.use(readableByPages)
  app.use(guard)
  app.get('/health', (c) => c.json({ status: 'ok' }))

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    c.set('setup', await prepare(c.env, c.executionCtx as ExecutionContext))
    refuseStrangers(c.req.raw, c.var.setup.config)
    await next()
    c.executionCtx.waitUntil(c.var.setup.services.close())
  })

  app.get('/ready', async (c) => {
    const { database, objects, vectors } = c.var.setup.services.health
    const check = (name: string, part: { backend: string; ping(): Promise<void> }) =>
      part.ping().then(
        () => [name, { backend: part.backend, ok: true }] as const,
        () => [name, { backend: part.backend, ok: false }] as const,
      )
    const checks = await Promise.all([
      check('database', database),
      check('images', objects),
      ...(vectors ? [check('vectors', vectors)] : []),
    ])
    const ready = checks.every(([, { ok }]) => ok)
    return c.json({ status: ready ? 'ready' : 'unavailable', checks: Object.fromEntries(checks) }, ready ? 200 : 503)
  })

  app.all('/mcp/:families?', (c) => {
    const { config, services, log } = c.var.setup
    const named = c.req.param('families')
    const families = named === undefined ? FAMILIES : readFamilies(named)
    if (families === null) throw new Problem('not_found', `No such tool family: ${named}`)
    // CORS preflights carry no credential.
    const principal = c.req.method === 'OPTIONS' ? null : authenticate(c.req.raw, config)
    if (principal === null) return c.body(null, 204, PREFLIGHT)
    const tools = listTools(config, families)
    return handleMcp(c.req.raw, { config, services, principal, tools, log, requestId: c.var.requestId })
  })

  app.post('/api/v1/reembed', async (c) => {
    const principal = authenticate(c.req.raw, c.var.setup.config)
    if (principal.role !== 'admin') throw new Problem('forbidden', 'This route needs the role admin')
    const { generation, maintenance, afterwards } = c.var.setup.services
    if (generation === null) throw new Problem('unsupported', 'Semantic search is switched off')
    const progress = await generation.reembed(principal.org)
    afterwards(maintenance.work())
    return c.json(progress)
  })

  app.get('/images/:hash', (c) =>
    serveImage(c.var.setup.services, authenticate(c.req.raw, c.var.setup.config), c.req.param('hash')),
  )

  app.notFound((c) =>
    c.json({ error: { code: 'not_found', message: 'No such route; MCP is served at /mcp', retryable: false } }, 404),
  )

  app.onError((error, c) => {
    const requestId = c.get('requestId') as string | undefined
    const problem =
      error instanceof Problem
        ? error
        : new Problem('internal', `Something went wrong inside the server (request ${requestId ?? 'unknown'})`)
    if (!(error instanceof Problem) || error.cause !== undefined)
      console.error(
        JSON.stringify({ level: 'ERROR', event: 'request_failed', requestId, message: String(error.cause ?? error) }),
      )
    const { code, message, retryable } = problem
    // RFC 6750 §3.1: a request that brought no credential is told no error code.
    const challenge = `Bearer realm="commonplace"${c.req.header('authorization') ? ', error="invalid_token"' : ''}`
    const headers: Record<string, string> = code === 'unauthorized' ? { 'WWW-Authenticate': challenge } : {}
    return c.json({ error: { code, message, retryable } }, STATUS[code], headers)
  })

  return app
}

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'Content-Type, Accept, Authorization, mcp-session-id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  'Access-Control-Max-Age': '86400',
}
