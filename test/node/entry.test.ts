import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createEntry, listen } from '../../scripts/serve/entry.mjs'
import { networkOf } from '../../src/http/client-address'

/** The entry between other machines and the Worker where `npm start` serves them. */
const HEADER = 'x-client-0123'
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function entryBefore(worker: (incoming: IncomingMessage, outgoing: ServerResponse) => void): Promise<URL> {
  const behind = createServer(worker)
  await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve))
  const target = new URL(`http://127.0.0.1:${(behind.address() as AddressInfo).port}`)
  const entry = createEntry(target, HEADER)
  await listen(entry, { ip: '0.0.0.0', port: 0 })
  servers.push(behind, entry)
  return new URL(`http://127.0.0.1:${(entry.address() as AddressInfo).port}`)
}

interface Sending {
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly localAddress?: string
  readonly body?: Uint8Array
}

const send = (
  url: URL,
  path: string,
  { method = 'GET', headers = {}, localAddress = '127.0.0.1', body }: Sending = {},
) =>
  new Promise<{ status: number; raw: string[]; text: string }>((resolve, reject) => {
    const sent = httpRequest(new URL(path, url).href, { method, headers, localAddress }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, raw: answer.rawHeaders, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })

const told: (incoming: IncomingMessage, outgoing: ServerResponse) => void = (incoming, outgoing) => {
  const { method, url, rawHeaders } = incoming
  incoming.resume()
  outgoing.setHeader('Set-Cookie', ['a=1', 'b=2'])
  incoming.on('end', () => outgoing.end(JSON.stringify({ method, url, rawHeaders })))
}

it('names the address of the connection, whatever a client writes of it', async () => {
  const url = await entryBefore(told)
  for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
    const forged = { [HEADER.toUpperCase()]: ['9.9.9.9', '8.8.8.8'], 'MF-CF-Blob': '{"colo":"X"}', 'x-other': 'kept' }
    const { text, raw } = await send(url, '/a/../b?c=%2f', { localAddress, headers: forged })
    const { method, url: path, rawHeaders } = JSON.parse(text)
    const pairs = rawHeaders.flatMap((name: string, i: number) =>
      i % 2 ? [] : [[name.toLowerCase(), rawHeaders[i + 1]]],
    )
    expect([method, path]).toEqual(['GET', '/b?c=%2f'])
    expect(pairs.filter(([name]: string[]) => name === HEADER)).toEqual([[HEADER, localAddress]])
    expect(pairs.map(([name]: string[]) => name)).not.toContain('mf-cf-blob')
    expect(pairs).toEqual(
      expect.arrayContaining([
        ['x-other', 'kept'],
        ['host', url.host],
      ]),
    )
    expect(raw.filter((one) => /^[ab]=\d$/.test(one))).toEqual(['a=1', 'b=2'])
  }
})

it('passes bodies and streams on as they come, and lets the Worker know when a client goes', async () => {
  const gone = Promise.withResolvers<void>()
  const url = await entryBefore((incoming, outgoing) => {
    if (incoming.url === '/stream') {
      outgoing.write('first')
      outgoing.on('close', () => gone.resolve())
      return
    }
    let bytes = 0
    incoming.on('data', (chunk) => {
      bytes += chunk.length
    })
    incoming.on('end', () =>
      outgoing.end(`${bytes} ${incoming.headers['transfer-encoding'] ?? incoming.headers['content-length']}`),
    )
  })
  const body = new Uint8Array(3_000_000)
  expect((await send(url, '/', { method: 'POST', body })).text).toMatch(/^3000000 /)
  const control = new AbortController()
  const stream = (await fetch(new URL('/stream', url), { signal: control.signal })).body?.getReader()
  expect(new TextDecoder().decode((await stream?.read())?.value)).toBe('first')
  control.abort()
  await gone.promise
})

it('passes an answer on that comes before the end of the body, and answers if no Worker is behind it', async () => {
  const url = await entryBefore((_, outgoing) => {
    outgoing.writeHead(413, { connection: 'close' }).end('too large', () => outgoing.socket?.end())
  })
  const { hostname, port } = url
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      if (text.includes('too large')) resolve(text)
    })
    socket.on('error', reject)
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc')
  })
  expect(answer).toMatch(/^HTTP\/1\.1 413/)
  servers[0]?.closeAllConnections()
  await new Promise((resolve) => servers[0]?.close(resolve))
  expect((await send(url, '/')).status).toBe(503)
})

it('takes no request that two parsers could read as two', async () => {
  const url = await entryBefore(told)
  for (const request of [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    'GET / HTTP/1.1\r\nHost: x\r\nX-Client : a\r\n\r\n',
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname)
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
      socket.write(request)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400/)
  }
})

it('counts the addresses of one network of IPv6 together', () => {
  for (const [address, network] of [
    ['203.0.113.7', '203.0.113.7'],
    ['anywhere', 'anywhere'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1:2:3:4', 'fe80:0:0:0::/64'],
  ] as const)
    expect([address, networkOf(address)]).toEqual([address, network])
})
