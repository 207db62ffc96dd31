import { describe, expect, it } from 'vitest'
import { connectorContract } from '../contracts/endpoint/connector'
import { sharedTeam } from '../contracts/endpoint/session'
import { ADMIN_TOKEN } from '../support/access'
import { CLIENTS, type Connect } from '../support/clients'

// By the other clients in the nightly tier.
connectorContract(CLIENTS['SDK v2, revision 2026-07-28'] as Connect)

describe('pages of entries where a key is needed', () => {
  it('are refused without one, and to who belongs to no org', async () => {
    const { server } = await sharedTeam()
    const url = new URL('/entries/1', server.url.href)
    expect((await fetch(url)).status).toBe(401)
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` }
    expect((await fetch(url, { headers: operator })).status).toBe(403)
  })
})
