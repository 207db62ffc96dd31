import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { beforeAll, expect, it } from 'vitest'
import { sharedOpen, sharedTeam } from '../../contracts/endpoint/session'
import { ROOT } from '../../support/build'
import type { Json } from '../../support/oauth'

/**
 * The card of a server and the entry of the registry against the schemas as they are published. `test/node/discovery.test.ts` and
 * `test/unit/package.test.ts` hold what of them we use, for runs without a network. A schema that cannot be fetched is reported after the run.
 */
const CARD = 'https://raw.githubusercontent.com/modelcontextprotocol/experimental-ext-server-card/main/schema.json'

async function published(address: string, definition: string | null): Promise<Json | null> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(20_000) })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    // Both dialects mean the same where these schemas use them.
    const { $schema: _, ...schema } = (await response.json()) as Json
    return definition === null ? schema : { ...schema, $ref: `#/$defs/${definition}` }
  } catch (error) {
    const text = `Not tested: the schema ${address}, since it cannot be fetched: ${error}`
    const { COMMONPLACE_TEST_NOTES: notes } = process.env
    if (notes === undefined) console.error(text)
    else appendFileSync(notes, `${text}\n`)
    return null
  }
}

let origins: readonly string[]
beforeAll(async () => {
  const servers = [await sharedOpen(), (await sharedTeam()).server]
  origins = servers.map(({ url }) => new URL(url).origin)
})

it('shows a card that the published schema accepts, in open mode and where keys are required', async (context) => {
  const schema = await published(CARD, 'ServerCard')
  if (schema === null) return context.skip()
  const validate = new AjvJsonSchemaValidator().getValidator(schema)
  for (const origin of origins)
    expect(validate(await (await fetch(`${origin}/mcp/server-card`)).json())).toMatchObject({ valid: true })
})

it('has an entry for the registry that the published schema accepts', async (context) => {
  const entry = JSON.parse(readFileSync(join(ROOT, 'server.json'), 'utf8'))
  const schema = await published(entry.$schema, null)
  if (schema === null) return context.skip()
  expect(new AjvJsonSchemaValidator().getValidator(schema)(entry)).toMatchObject({ valid: true })
})
