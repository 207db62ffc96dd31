import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** The server's reaction to a request: an answer, or an error. */
export type Behaviour = 'answers' | 'hangs' | 'breaks off' | 'is a stranger' | number

interface Received {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: {
    events: { id: string; event: Record<string, unknown>; place: object }[]
    answer?: string
    lost?: number
  }
}

async function bodyOf(request: IncomingMessage): Promise<Received['body']> {
  let text = ''
  for await (const piece of request) text += piece
  return JSON.parse(text)
}

/** Simulates `POST /api/v1/hooks/<client>`: records requests and answers by its behavior. */
export async function startHooksServer() {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  const wanted: {
    behaviour: (body: Received['body']) => Behaviour
    output: object | null
    refusal: object
    /** Further members of each answer. */
    more: object
  } = { behaviour: () => 'answers', output: null, refusal: {}, more: {} }
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    received.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    const behaviour = wanted.behaviour(body)
    if (behaviour === 'hangs') return
    if (typeof behaviour === 'number') return response.writeHead(behaviour).end(JSON.stringify(wanted.refusal))
    if (behaviour === 'is a stranger') return response.writeHead(200).end('<html>Sign in</html>')
    const text = JSON.stringify({
      stored: body.events.length,
      repeated: 0,
      output: body.answer ? wanted.output : null,
      ...wanted.more,
    })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    if (behaviour === 'answers') return response.end(text)
    response.write(text.slice(0, 5), () => request.socket.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    wanted,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
