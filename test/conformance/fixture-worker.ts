import { Hono } from 'hono'
import { type Environment, parseConfig } from '../../src/config'
import { Problem } from '../../src/domain/errors'
import { readAccess } from '../../src/http/access'
import { type Authenticator, authenticate } from '../../src/http/auth'
import { guard } from '../../src/http/guard'
import { serveMcp } from '../../src/http/mcp'
import { createFixtureServer } from './fixture-server'

/**
 * The Worker that the conformance suite plays: the suite wants tools, resources and prompts of its own, which the
 * product has no place for. Everything on the way to them is the product's: guard, authentication, body, MCP handler.
 */
const app = new Hono<{ Bindings: Environment }>()

app.use(guard<Environment>(readAccess, () => false))
app.get('/health', (c) => c.json({ status: 'ok' }))

const nobody = () => Promise.reject(new Problem('unauthorized', 'This server has no keys'))
const identity: Authenticator['identity'] = {
  principalOfKey: nobody,
  principalOfKeyId: nobody,
  isAdminToken: async () => false,
  isConfigured: async () => false,
}

app.all('/mcp', async (c) => {
  const config = parseConfig(c.env)
  await authenticate(c.req.raw, { config, identity, tokens: null })
  return serveMcp(c.req.raw, createFixtureServer, (error) => console.debug(error.message))
})

app.onError((error, c) => {
  if (error instanceof Problem) return c.json({ error: { code: error.code, message: error.message } }, 403)
  console.error(error)
  return c.json({ error: { code: 'internal', message: 'Something went wrong inside the fixture' } }, 500)
})

export default app
