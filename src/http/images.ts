import type { Principal } from '../domain/identity/scope'
import type { Services } from '../services/services'

/** Serves the bytes of an image that an entry visible to the caller uses. Absent and invisible give the same answer. */
export async function serveImage(services: Services, principal: Principal, hash: string): Promise<Response> {
  const type = /^[0-9a-f]{64}$/.test(hash) ? await services.entries.imageType(principal, hash) : null
  const bytes = type === null ? null : await services.images.get(principal, hash)
  if (type === null || bytes === null)
    return Response.json(
      { error: { code: 'not_found', message: 'Image not found', retryable: false } },
      { status: 404 },
    )
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': type,
      'content-length': String(bytes.length),
      'cache-control': 'private, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
    },
  })
}
