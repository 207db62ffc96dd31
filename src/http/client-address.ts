/**
 * The address that a request comes from, to count requests by it; `anywhere` where it is not known, so that all such requests count
 * together. A client can write any header, so that a name is believed only where the platform before the Worker sets it.
 *
 * @param header set on a server that runs outside Cloudflare: the one header that the server's own entry sets, under a name that no client
 *   knows. Cloudflare's header and `cf` mean nothing there: workerd takes `cf` from a header.
 */
export function addressOf(request: Request, header: string | undefined): string {
  if (header !== undefined) return request.headers.get(header) ?? 'anywhere'
  const isOnCloudflare = (request as { cf?: { colo?: unknown } }).cf?.colo !== undefined
  return (isOnCloudflare ? request.headers.get('cf-connecting-ip') : null) ?? 'anywhere'
}
