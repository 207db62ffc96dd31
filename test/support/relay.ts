import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A relay to a server that can be closed and opened again, like a restart. */
export async function startRelay(to: URL) {
  const way = { closed: false, origin: '', stop: () => server.close() }
  const server = createServer(async (request, response) => {
    if (way.closed) return response.destroy()
    const body = await buffer(request)
    const answer = await fetch(new URL(request.url as string, to), {
      method: request.method as string,
      headers: { 'content-type': request.headers['content-type'] ?? 'text/plain' },
      ...(body.length === 0 ? {} : { body }),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  way.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return way
}
