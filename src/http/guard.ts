import type { MiddlewareHandler } from 'hono'

/** Host and Origin checks against DNS rebinding and foreign web pages; they come before everything else. */
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
