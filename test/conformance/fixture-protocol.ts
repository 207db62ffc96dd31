import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { text } from './samples'

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

/** Uses the keywords of JSON Schema 2020-12 that a listing must not lose. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

/** Tools that use further protocol features: messages while they work, headers, schemas. */
export function registerProtocolTools(server: McpServer): void {
  server.registerTool('test_tool_with_progress', { description: 'Reports progress three times.' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        })
      await pause()
    }
    return { content: [text('Done, with progress.')] }
  })

  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    server.registerTool(name, { description: 'Logs three lines.' }, async (ctx) => {
      for (const line of ['Started', 'Working', 'Finished']) {
        await ctx.mcpReq.log('info', line)
        await pause()
      }
      return { content: [text('Done, with log lines.')] }
    })

  server.registerTool(
    'test_reconnection',
    { description: 'Closes its stream where that is possible.' },
    async (ctx) => {
      ctx.http?.closeSSE?.()
      await pause()
      return { content: [text('Done, after closing the stream.')] }
    },
  )

  server.registerTool(
    'test_mirrored_header',
    {
      description: 'Has an argument that clients repeat in a header.',
      inputSchema: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
    },
    ({ region }) => ({ content: [text(`Region: ${region ?? 'none'}`)] }),
  )

  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema with many keywords.', inputSchema: fromJsonSchema(RICH_SCHEMA) },
    () => ({ content: [text('Valid.')] }),
  )

  // Accepted, and forgotten with the request: clients of 2025 that subscribe to us hear nothing, but do not fail either.
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}
