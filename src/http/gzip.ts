import { invalidInput } from '../domain/errors'

/** Exports and imports as bytes: compressed where a client takes that, unpacked where it sent that. */

/** The bytes of an export; whoever stops reading stops it. */
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
        // The volume has no end then, and the reader goes on from the last whole one.
        controller.error(error)
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** Cloudflare asks a Worker for gzip whatever the client takes, and tells beside it what that is. */
export const acceptedBy = ({ cf, headers }: Request): string =>
  typeof cf?.clientAcceptEncoding === 'string' ? cf.clientAcceptEncoding : (headers.get('accept-encoding') ?? '')

export const acceptsGzip = (accepted: string): boolean =>
  accepted.split(',').some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part))

/** Whether a Content-Encoding is gzip and nothing else. */
export const isGzip = (encoding: string): boolean => /^\s*(x-)?gzip\s*$/i.test(encoding)

/**
 * Unpacks a body that begins as gzip does, whatever its headers say.
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
    throw invalidInput('Content-Encoding is gzip, and the body is not; nothing of this volume is imported')
  }
  return chunksOf(isPacked ? rest.pipeThrough(new DecompressionStream('gzip')) : rest, isPacked)
}

async function* chunksOf(stream: ReadableStream<Uint8Array>, isPacked: boolean): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (isPacked) throw invalidInput('The gzip of the volume is cut or altered; nothing of this volume is imported')
        throw error
      })
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
