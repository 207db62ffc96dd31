import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real HTTP server that plays a model provider and fails on demand. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: whatever the adapter sent; tests look into it
  readonly body: any
}

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as plain text instead. */
  readonly text?: string
}

/** Takes the place of one answer. */
export type Fault = (response: ServerResponse) => void

export interface ModelServer {
  readonly url: string
  /** Every request so far. */
  readonly received: readonly Received[]
  /** Reactions to the next requests, one each; the ones after them are answered properly. */
  fail(...faults: Fault[]): void
  close(): Promise<void>
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text }: Reply): void {
  response.writeHead(status, { 'content-type': text === undefined ? 'application/json' : 'text/plain', ...headers })
  response.end(text ?? JSON.stringify(json))
}

export const replies =
  (reply: Reply): Fault =>
  (response) =>
    send(response, reply)

/** Never answers. */
export const silent: Fault = () => {}

/** Closes the connection without a word. */
export const hangsUp: Fault = (response) => {
  response.socket?.destroy()
}

/** Announces an answer, sends its beginning and closes the connection. */
export const breaksOff: Fault = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"embeddings": [[0.1', () => response.socket?.destroy())
}

/** A page of a proxy, where JSON was expected. */
export const notJson: Fault = replies({ text: '<html>Welcome</html>' })

export async function startModelServer(answer: (request: Received) => Reply): Promise<ModelServer> {
  const received: Received[] = []
  const faults: Fault[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8')
      const heard = { path: request.url ?? '', headers: request.headers, body: text === '' ? null : JSON.parse(text) }
      received.push(heard)
      const fault = faults.shift()
      if (fault === undefined) send(response, answer(heard))
      else fault(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    fail: (...more) => faults.push(...more),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)))
        server.closeAllConnections()
      }),
  }
}

/** An address without a server. */
export async function deadUrl(): Promise<string> {
  const server = await startModelServer(() => ({}))
  await server.close()
  return server.url
}
