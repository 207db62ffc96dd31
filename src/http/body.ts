/** Requests up to here reach the tools (platform contract §6). */
export const MAX_BODY_BYTES = 100_000_000

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'malformed' }

/** A client that is cut off while it sends never reads the answer; so a body is heard to its end, up to here. */
const PATIENCE = 4

/** Reads a JSON body, keeping nothing of one that is larger than allowed. */
export async function readJsonBody(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Body> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes * PATIENCE) return { kind: 'too_large' }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let parts: string[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes * PATIENCE) break
      if (bytes > maxBytes) parts = []
      else parts.push(decoder.decode(chunk, { stream: true }))
    }
    if (bytes > maxBytes) return { kind: 'too_large' }
    parts.push(decoder.decode())
    return { kind: 'json', value: JSON.parse(parts.join('')) }
  } catch {
    return { kind: bytes > maxBytes ? 'too_large' : 'malformed' }
  }
}
