import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createWebhook } from '../../src/adapters/webhook/webhook'
import { parseConfig } from '../../src/config'

const NOTICE = { org: 'acme', event: 'work.failed', value: 2, limit: null } as const

it('[OPERATE-185] is a signed POST, and fails unless the receiver accepts it at that address', async () => {
  let status = 204
  const received: { signature: unknown; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ signature: request.headers['x-commonplace-signature'], body })
    response.writeHead(status, { location: '/elsewhere' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret-path`
  const { webhook } = parseConfig({ WEBHOOK_URL: url, WEBHOOK_SECRET: 's3cret' })
  const send = () => createWebhook(webhook as NonNullable<typeof webhook>, { now: () => 0 }).send([NOTICE])
  await send()
  const [{ signature, body } = { signature: '', body: '' }] = received
  expect(JSON.parse(body)).toEqual({ at: '1970-01-01T00:00:00.000Z', notices: [NOTICE] })
  expect(signature).toBe(`sha256=${createHmac('sha256', 's3cret').update(body).digest('hex')}`)
  for (status of [302, 500]) await expect(send()).rejects.toThrow(`the webhook answered with status ${status}`)
  expect(received).toHaveLength(3)
  await new Promise((resolve) => server.close(resolve))
})

it('[OPERATE-185] needs an https address, which no message shows', () => {
  expect(() => parseConfig({ WEBHOOK_URL: 'http://hooks.example/a-secret' })).toThrow(
    /WEBHOOK_URL is not an https URL$/,
  )
})
