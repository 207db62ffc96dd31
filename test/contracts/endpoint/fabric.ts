import { expect, it } from 'vitest'
import { promise } from '../../requirements/fabric'
import type { Connect } from '../../support/clients'
import { backend, useSession } from './session'

/** Common behavior of all fabric tools over MCP (fabric contract §1). */
const NAMES = [
  'getCurrent',
  'store',
  'recall',
  'orient',
  'searchCode',
  'get',
  'update',
  'delete',
  'list',
  'summarize',
  'reportEvent',
  'setup',
].map((name) => `context_${name}`)
/** Tokens at four characters each; all twelve tools together stay below 3,000. */
const MAX_TOKENS = 500

export function fabricContract(connect: Connect): void {
  const session = useSession(connect)

  it(promise('f1-list'), async () => {
    const client = await session.connect('/mcp/fabric')
    const tools = await client.tools()
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    for (const tool of tools) expect(tool.annotations).toMatchObject({ openWorldHint: false })
    const both = ['context_searchCode', 'context.searchCode'].map((name) =>
      client.call(name, { query: 'x', mode: 'symbol' }),
    )
    for (const { isError, data } of await Promise.all(both)) expect([isError, data.total]).toEqual([false, 0])
    await client.close()
    const dotted = await backend().start({ TOOL_NAMES: 'dotted' })
    const other = await connect(new URL('/mcp/fabric', dotted.url.href))
    expect((await other.tools()).map(({ name }) => name)).toEqual(NAMES.map((name) => name.replace('_', '.')))
    await other.close()
    await dotted.stop()
  })

  it(promise('f1-instructions'), async () => {
    const client = await session.connect('/mcp/fabric')
    const words = client.instructions() ?? ''
    await client.close()
    const tools = new Set((words.match(/context_\w+/g) ?? []).map((name) => name))
    expect([...tools].filter((name) => !NAMES.includes(name))).toEqual([])
    for (const name of ['context_orient', 'context_recall', 'context_store', 'context_reportEvent'])
      expect(tools).toContain(name)
    expect(words).not.toMatch(/store_context|search_context/)
  })

  it(promise('f1-tokens'), async () => {
    for (const { name, description, inputSchema } of (await session.client.tools()).filter((tool) =>
      NAMES.includes(tool.name),
    ))
      expect(JSON.stringify({ name, description, inputSchema }).length / 4).toBeLessThan(MAX_TOKENS)
  })
}
