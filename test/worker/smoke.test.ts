import { env, exports } from 'cloudflare:workers'
import { expect, it } from 'vitest'

it('health', async () => {
  const r = await (exports as any).default.fetch('http://localhost/ready')
  console.log(await r.text(), Object.keys(env))
  expect(r.status).toBe(200)
})
