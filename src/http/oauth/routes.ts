import { Hono } from 'hono'
import type { Services } from '../../services/services'
import { namesAcceptableClient } from './client-ids'
import { authorize } from './consent'
import { isForm, readBytes } from './form'
import { describedBy, WELL_KNOWN } from './resources'
import { type Issuer, type OAuth, SCOPE } from './server'

/** Where OAuth is served. Without a store for it, or on an origin that cannot be an issuer, none of this exists. */
interface Variables {
  readonly setup: { readonly oauth?: OAuth | null }
  readonly services: Services
}

const refusal = (status: number, error: string, description: string) =>
  Response.json({ error, error_description: description }, { status, headers: { 'Cache-Control': 'no-store' } })

/** A request of bounded size that names no client whose document we would not fetch. */
async function admit(request: Request): Promise<Request | Response> {
  const bytes = await readBytes(request)
  if (bytes === null) return refusal(413, 'invalid_request', 'The body is too large')
  const form = isForm(request) ? new URLSearchParams(new TextDecoder().decode(bytes)) : new URLSearchParams()
  if (!namesAcceptableClient(form, request.headers.get('authorization')))
    return refusal(401, 'invalid_client', 'Client not found')
  return new Request(request, { body: bytes })
}

/** To be mounted at the root, behind the guard and beside the routes that take credentials. */
export function createOAuthRoutes() {
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

  for (const path of ['/.well-known/oauth-authorization-server', '/token', '/register'])
    routes.all(path, async (c) => {
      const issuer = issuerOf(c.var, c.req.raw)
      if (issuer === null) return c.notFound()
      const request = c.req.method === 'POST' ? await admit(c.req.raw) : c.req.raw
      return request instanceof Response ? request : issuer.serve(request, c.executionCtx as ExecutionContext)
    })

  routes.on(['GET', 'POST'], '/authorize', (c) => {
    const issuer = issuerOf(c.var, c.req.raw)
    if (issuer === null) return c.notFound()
    return authorize({ request: c.req.raw, helpers: issuer.helpers, services: c.var.services })
  })

  return routes
}
