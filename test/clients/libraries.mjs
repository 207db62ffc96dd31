// Shows how agent libraries handle our tools and results. Prints one line each.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { call, storeSample, told, URL_OF_SERVER } from './server.mjs'

const require = createRequire(`${process.cwd()}/package.json`)
const load = (name) => import(pathToFileURL(require.resolve(name)).href)
const say = (client, what) => console.log(`${client.padEnd(34)} ${what}`)
const id = await storeSample()
const WANTED = { context_ids: [id] }

async function trial(name, run) {
  try {
    say(name, await run())
  } catch (error) {
    say(name, `FAILED: ${error.message}`)
    process.exitCode = 1
  }
}

const sdk = (client) => async () => {
  const { tools } = await client.listTools()
  const result = await client.callTool({ name: 'get_context_by_ids', arguments: WANTED })
  await client.close()
  return `${tools.length} tools; received ${told(result.content)}`
}

await trial('MCP SDK v1', async () => {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const client = new Client({ name: 'trial', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_SERVER)))
  return sdk(client)()
})

for (const pin of [undefined, '2026-07-28'])
  await trial(`MCP SDK v2, ${pin ?? 'revision 2025'}`, async () => {
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client')
    const client = new Client({ name: 'trial', version: '1' }, pin ? { versionNegotiation: { mode: { pin } } } : {})
    await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_SERVER)))
    return sdk(client)()
  })

await trial('LangChain MCP adapters', async () => {
  const { MultiServerMCPClient } = await load('@langchain/mcp-adapters')
  const client = new MultiServerMCPClient({ mcpServers: { commonplace: { transport: 'http', url: URL_OF_SERVER } } })
  const tools = await client.getTools()
  const get = tools.find(({ name }) => name.endsWith('get_context_by_ids'))
  const answer = await get.invoke({ type: 'tool_call', id: 'call-1', name: get.name, args: WANTED })
  const search = tools.find(({ name }) => name.endsWith('search_context'))
  await search.invoke({ metadata_filters: [{ key: 'n', operator: 'in', value: [1, 'a'] }], limit: 1 })
  await client.close()
  return `${tools.length} tools; received ${told(answer.content)}`
})

await trial('OpenAI agents SDK, strict', async () => {
  const { MCPServerStreamableHttp, getAllMcpTools, RunContext } = await load('@openai/agents')
  const server = new MCPServerStreamableHttp({ name: 'commonplace', url: URL_OF_SERVER })
  await server.connect()
  const tools = await getAllMcpTools({
    mcpServers: [server],
    convertSchemasToStrict: true,
    runContext: new RunContext(),
  })
  const strict = tools.filter((tool) => tool.strict).map(({ name }) => name)
  const loose = tools.filter((tool) => !tool.strict).map(({ name }) => name)
  const get = tools.find(({ name }) => name === 'get_context_by_ids')
  const answer = await get.invoke(
    new RunContext(),
    JSON.stringify({ ...WANTED, include_images: true, image_format: 'block' }),
  )
  await server.close()
  return `strict: ${strict.join(', ')}; not strict: ${loose.join(', ')}; received ${told(answer)}`
})

await trial('Gemini converter (mcpToTool)', async () => {
  const { mcpToTool } = await load('@google/genai')
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const client = new Client({ name: 'trial', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_SERVER)))
  const tool = mcpToTool(client)
  const { functionDeclarations } = await tool.tool()
  const parts = await tool.callTool([{ name: 'get_context_by_ids', args: WANTED }])
  await client.close()
  return `${functionDeclarations.length} declarations; received ${told(parts)}`
})

await call('delete_context', { context_ids: [id] })
