import { McpServer } from '@modelcontextprotocol/server'
import { registerContentTools } from './fixture-content'
import { registerInputTools, stateCodec } from './fixture-input'
import { registerPrompts, registerResources } from './fixture-library'
import { registerProtocolTools } from './fixture-protocol'

/**
 * The server with the names and answers that the conformance suite needs. Like the product it is created for each request
 * and announces no list changes; what it announces beyond the product (resources, prompts, logging, completions) lets
 * the suite reach every kind of answer that the endpoint can carry.
 */
export function createFixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'commonplace-conformance', version: '0.0.0' },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, subscribe: true },
        prompts: { listChanged: false },
        logging: {},
      },
      requestState: { verify: stateCodec.verify },
    },
  )
  registerContentTools(server)
  registerProtocolTools(server)
  registerInputTools(server)
  registerResources(server)
  registerPrompts(server)
  return server
}
