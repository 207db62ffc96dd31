import { expect, it } from 'vitest'
import { FAMILIES, TOOLS } from '../../../src/tools/catalogue'
import type { Connect } from '../../support/clients'
import { backend, useSession } from './session'

/** Behavior that all fabric tools share (fabric contract §1). */
const FABRIC = TOOLS.filter(({ family }) => family === FAMILIES.fabric)
const NAMES = FABRIC.map(({ name }) => name)

export function fabricContract(connect: Connect): void {
  const session = useSession(connect)

  it('[FABRIC-1] lists the fabric tools alone at /mcp/fabric, in the portable form, and calls them in both spellings', async () => {
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

  it('[FABRIC-1] explains to a client of the fabric tools alone when to call which of them', async () => {
    const client = await session.connect('/mcp/fabric')
    const words = client.instructions() ?? ''
    await client.close()
    const tools = new Set((words.match(/context_\w+/g) ?? []).map((name) => name))
    expect([...tools].filter((name) => !NAMES.includes(name))).toEqual([])
    for (const name of ['context_orient', 'context_recall', 'context_store', 'context_reportEvent'])
      expect(tools).toContain(name)
    expect(words).not.toMatch(/store_context|search_context/)
  })

  it('[FABRIC-1] limits the size of the definitions of fabric tools', async () => {
    const listed = (await session.client.tools()).filter((tool) => NAMES.includes(tool.name))
    const over = listed.filter(({ name, description, inputSchema }) => {
      const budget = FABRIC.find((tool) => tool.name === name)?.budget.tokens ?? 0
      return JSON.stringify({ name, description, inputSchema }).length / 4 > budget
    })
    expect(over).toEqual([])
    expect(listed).toHaveLength(FABRIC.length)
  })
}
