import { invalidInput } from '../domain/errors'

/** Streams exports and imports, with gzip where the client supports it. */

/** The bytes of an export; a reader that disconnects stops it. */
export function streamOf(parts: AsyncGenerator<{ readonly bytes: Uint8Array } | object>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await parts.next()
          if (done) return controller.close()
          if ('bytes' in value) return controller.enqueue(value.bytes)
        }
      } catch (error) {
        // The volume then has no end, and the reader resumes from the last complete one.
        controller.error(error)
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** Cloudflare requests gzip from a Worker whatever the client accepts, and reports the client's encodings separately. */
export const acceptedBy = ({ cf, headers }: Request): string =>
  typeof cf?.clientAcceptEncoding === 'string' ? cf.clientAcceptEncoding : (headers.get('accept-encoding') ?? '')

export const acceptsGzip = (accepted: string): boolean =>
  accepted.split(',').some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part))

/** Whether a Content-Encoding is gzip and nothing else. */
export const isGzip = (encoding: string): boolean => /^\s*(x-)?gzip\s*$/i.test(encoding)

/**
 * Decompresses a body that starts with the gzip magic bytes, whatever its headers state.
 *
 * @param encoding its Content-Encoding
 * @throws Problem where that is gzip and the body is not
 */
export async function unpacked(request: Pick<Request, 'body'>, encoding = ''): Promise<AsyncIterable<Uint8Array>> {
  if (request.body === null) throw invalidInput('The body must be one volume, plain or gzip')
  const reader = request.body.getReader()
  const first = await reader.read()
  const head = first.value ?? new Uint8Array()
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const isPacked = head[0] === 0x1f && head[1] === 0x8b
  if (!isPacked && isGzip(encoding)) {
    await reader.cancel().catch(() => {})
    throw invalidInput('Content-Encoding is gzip, but the body is not gzip; nothing of this volume was imported')
  }
  return chunksOf(isPacked ? rest.pipeThrough(new DecompressionStream('gzip')) : rest, isPacked)
}

async function* chunksOf(stream: ReadableStream<Uint8Array>, isPacked: boolean): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (isPacked)
          throw invalidInput('The gzip data of the volume is truncated or altered; nothing of this volume was imported')
        throw error
      })
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
