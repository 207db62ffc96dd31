import { Hono } from 'hono'
import type { Config } from '../../config'
import type { Principal } from '../../domain/identity/scope'
import type { Services } from '../../services/services'
import { addressOf } from '../client-address'
import { noteBody } from '../log'
import { namesAcceptableClient } from './client-ids'
import { authorize, type SignInWay } from './consent'
import { isForm, readBytes } from './form'
import { oauthError } from './provider'
import { describedBy, SCOPE, WELL_KNOWN, withoutSlash } from './resources'
import type { Issuer, OAuth } from './server'

/** Routes of OAuth. Without a store for it, or on an origin that cannot be an issuer, they do not exist. */
interface Variables {
  readonly setup: {
    readonly config: Config
    readonly oauth?: OAuth | null
    readonly addressHeader?: string | undefined
  }
  readonly services: Services
}

/** Requests per minute from one address, whatever a key may do: registrations stay in the store, other requests cost reads of it. */
const A_MINUTE: Readonly<Record<string, number>> = { '/register': 120, '/authorize': 600, '/token': 600 }

function tooMany(retryAfter: number): Response {
  const response = oauthError(429, 'temporarily_unavailable', `Too many requests; try again in ${retryAfter} s`)
  response.headers.set('Retry-After', String(retryAfter))
  return response
}

/** Limit of a registration in bytes, which may be stored for as long as the client is known. */
const MAX_REGISTRATION_BYTES = 8192

/** Returns a request of bounded size that does not name a client whose document may not be fetched. */
async function admit(
  request: Request,
  mostBytes?: number,
): Promise<{ request: Request; form: URLSearchParams } | Response> {
  const bytes = await readBytes(request, mostBytes)
  if (bytes === null) return oauthError(413, 'invalid_request', 'The body is too large')
  const text = new TextDecoder().decode(bytes)
  const form = new URLSearchParams(isForm(request) ? text : '')
  const resources = form.getAll('resource')
  form.delete('resource')
  for (const resource of resources) form.append('resource', withoutSlash(resource))
  noteBody(request, [text, ...form.values()])
  if (!namesAcceptableClient(form, request.headers.get('authorization')))
    return oauthError(401, 'invalid_client', 'Client not found')
  return { request: new Request(request, { body: bytes }), form }
}

/** Finds the person who is signed in to the dashboard, and the ways to sign in; neither where no identity provider is configured. */
export type FindVisitor = (
  request: Request,
  config: Config,
  services: Services,
) => Promise<{ readonly visitor: Principal | null; readonly ways: readonly SignInWay[] }>

/** Mounted at the root, behind the guard and next to the routes that accept credentials. */
export function createOAuthRoutes(findVisitor: FindVisitor) {
  const routes = new Hono<{ Variables: Variables }>()
  const issuerOf = ({ setup }: Variables, request: Request): Issuer | null =>
    setup.oauth?.at(new URL(request.url).origin) ?? null

  for (const path of [WELL_KNOWN, `${WELL_KNOWN}/*`])
    routes.get(path, (c) => {
      const url = new URL(c.req.url)
      const resource = issuerOf(c.var, c.req.raw) === null ? null : describedBy(url)
      if (resource === null) return c.notFound()
      return c.json({
        resource,
        authorization_servers: [url.origin],
        scopes_supported: [SCOPE],
        bearer_methods_supported: ['header'],
        resource_name: 'Commonplace',
      })
    })

  // Requests without a credential, and the data stored for them, are limited per client address.
  for (const path of ['/token', '/register', '/authorize'])
    routes.use(path, async (c, next) => {
      if (issuerOf(c.var, c.req.raw) === null) return c.notFound()
      const { limiter } = c.var.services
      const admission =
        (await limiter?.enter(`${path} ${addressOf(c.req.raw, c.var.setup.addressHeader)}`, {
          perMinute: A_MINUTE[path],
        })) ?? null
      if (admission?.admitted === false) return tooMany(admission.retryAfter)
      try {
        return await next()
      } finally {
        await admission?.leave()
      }
    })

  for (const path of ['/.well-known/oauth-authorization-server', '/token', '/register'])
    routes.all(path, async (c) => {
      const issuer = issuerOf(c.var, c.req.raw)
      if (issuer === null) return c.notFound()
      const ctx = c.executionCtx as ExecutionContext
      if (c.req.method !== 'POST') return issuer.serve(c.req.raw, ctx)
      const admitted = await admit(c.req.raw, path === '/register' ? MAX_REGISTRATION_BYTES : undefined)
      if (admitted instanceof Response) return admitted
      if (path !== '/token') return issuer.serve(admitted.request, ctx)
      return isForm(c.req.raw)
        ? issuer.serve(admitted.request, ctx, admitted.form)
        : oauthError(400, 'invalid_request', 'Content-Type must be application/x-www-form-urlencoded')
    })

  routes.on(['GET', 'POST'], '/authorize', async (c) => {
    const issuer = issuerOf(c.var, c.req.raw)
    if (issuer === null) return c.notFound()
    const { services, setup } = c.var
    const found = await findVisitor(c.req.raw, setup.config, services)
    return authorize({ request: c.req.raw, helpers: await issuer.helpers(), services, ...found })
  })

  return routes
}
