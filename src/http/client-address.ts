/**
 * Returns the address that a request comes from, for rate limits; `anywhere` where it is not known, so that all such requests are counted
 * together. A client can write any header, so the server trusts only a header that the platform in front of the Worker sets.
 *
 * @param header set on a server that runs outside Cloudflare: the one header that the server's own entry sets, under a name that no client
 *   knows. Cloudflare's header and `cf` mean nothing there: workerd takes `cf` from a header.
 */
export function addressOf(request: Request, header: string | undefined): string {
  if (header !== undefined) return networkOf(request.headers.get(header) ?? 'anywhere')
  const isOnCloudflare = (request as { cf?: { colo?: unknown } }).cf?.colo !== undefined
  return networkOf((isOnCloudflare ? request.headers.get('cf-connecting-ip') : null) ?? 'anywhere')
}

/** The first 64 bits of an IPv6 address, since the holder of one address has all with that prefix. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = tail === undefined ? 0 : 8 - (first?.length ?? 0) - (last?.length ?? 0)
  const groups = [...(first ?? []), ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...(last ?? [])]
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
