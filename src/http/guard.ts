import type { MiddlewareHandler } from 'hono'

/**
 * Checks against foreign web pages, before everything else. The address of a request is made from its Host header, so a
 * name that was rebound to this machine looks like our own: open mode therefore takes loopback names only.
 */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[?::1\]?|::ffff:127(\.\d{1,3}){3})$/i.test(hostname)

function hostnameOf(authority: string): string | null {
  try {
    return new URL(`http://${authority}`).hostname
  } catch {
    return null
  }
}

function originHostname(origin: string): string | null {
  try {
    const url = new URL(origin)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.hostname : null
  } catch {
    return null
  }
}

/** @returns why the request is refused, or null */
export function refusal(request: Request): string | null {
  const served = new URL(request.url).hostname
  const host = request.headers.get('host')
  if (host !== null) {
    const named = hostnameOf(host)
    const same = named === served || (named !== null && isLoopback(named) && isLoopback(served))
    if (!same) return 'Host header does not match the address of the request'
  }
  const origin = request.headers.get('origin')
  if (origin === null) return null
  const from = originHostname(origin)
  return from !== null && (from === served || isLoopback(from)) ? null : 'Origin is not allowed'
}

export const guard: MiddlewareHandler = async (c, next) => {
  const reason = refusal(c.req.raw)
  if (reason !== null)
    return c.json(
      { error: { code: 'forbidden', message: `${reason}; call this server from its own origin`, retryable: false } },
      403,
    )
  await next()
}

/** Lets a page whose origin was accepted read every answer, errors included. */
export const readableByPages: MiddlewareHandler = async (c, next) => {
  await next()
  if (!c.req.header('origin') || c.res.headers.has('access-control-allow-origin')) return
  c.res.headers.set('Access-Control-Allow-Origin', '*')
  c.res.headers.set('Access-Control-Expose-Headers', 'WWW-Authenticate')
}
