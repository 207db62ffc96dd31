import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { createOAuth } from '../../src/http/oauth/server'
import type { Identity } from '../../src/services/people/identity'

/** OAuth and its store: what the schedule does with it, and what happens when it does not answer. */
const kv = (env as unknown as { OAUTH_KV: KVNamespace }).OAUTH_KV
/** These tests do not call it. */
const turns = { begin: () => Promise.reject(new Error('no turn')) }
const oauth = createOAuth({ kv, identity: {} as Identity, turns, log: () => undefined })

const GRANTS = 150
const name = (n: number) => `grant:key_a:${String(n).padStart(16, '0')}`
const grants = async () => (await kv.list({ prefix: 'grant:' })).keys.length

it('removes grants that have expired or lost their client, a part at a time, and keeps the others', async () => {
  await kv.put('client:known', JSON.stringify({ clientId: 'known' }))
  for (let n = 0; n < GRANTS; n++) {
    const kept = n % 3 === 0
    const grant = {
      id: name(n).slice(-16),
      userId: 'key_a',
      clientId: n % 3 === 1 ? 'gone' : 'known',
      expiresAt: kept || n % 3 === 1 ? 9_999_999_999 : 1,
    }
    await kv.put(name(n), JSON.stringify(grant))
  }
  await oauth.purge()
  expect(await grants()).toBeGreaterThan(GRANTS / 3)
  expect(await kv.get('purge-cursor')).not.toBeNull()
  await oauth.purge()
  expect([await grants(), await kv.get('purge-cursor')]).toEqual([GRANTS / 3, null])
})

it('does not call a token wrong when the store does not answer', async () => {
  const broken = { get: () => Promise.reject(new Error('KV GET failed: 503')) } as unknown as KVNamespace
  const { keyIdOf } = createOAuth({ kv: broken, identity: {} as Identity, turns, log: () => undefined })
  const token = `key_a:${'g'.repeat(16)}:${'s'.repeat(32)}`
  await expect(keyIdOf(token, new Request('https://memory.example/mcp'))).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
  })
})
