/** Requests up to here reach the tools (platform contract §6). */
export const MAX_BODY_BYTES = 100_000_000

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'malformed' }

/** Reads a JSON body, giving up as soon as it is larger than allowed. */
export async function readJsonBody(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Body> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return { kind: 'too_large' }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  const parts: string[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) return { kind: 'too_large' }
      parts.push(decoder.decode(chunk, { stream: true }))
    }
    parts.push(decoder.decode())
    return { kind: 'json', value: JSON.parse(parts.join('')) }
  } catch {
    return { kind: 'malformed' }
  }
}
