import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectorContract } from '../contracts/endpoint/connector'
import { CLIENTS, type Connect } from '../support/clients'
import { type RunningServer, startServer } from '../support/server'

// By the other clients in the nightly tier.
connectorContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)

describe('pages of entries where a key is needed', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startServer({ AUTH_MODE: 'required', ADMIN_TOKEN: 'an-admin-token-of-24-letters' })
  })
  afterAll(() => server?.stop())

  it('are refused without one, and to who belongs to no org', async () => {
    const url = new URL('/entries/1', server.url.href)
    expect((await fetch(url)).status).toBe(401)
    const operator = { authorization: 'Bearer an-admin-token-of-24-letters' }
    expect((await fetch(url, { headers: operator })).status).toBe(403)
  })
})
