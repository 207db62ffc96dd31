import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ListResourcesResultSchema } from '@modelcontextprotocol/sdk/types.js'

// biome-ignore lint/suspicious/noExplicitAny: results are untyped
type Json = any

export interface CallResult {
  /** Structured content. */
  readonly data: Json
  readonly text: string
  /** All blocks of the answer. */
  readonly content: Json[]
  readonly isError: boolean
}

export interface TestClient {
  tools(): Promise<Json[]>
  call(name: string, args?: Record<string, unknown>): Promise<CallResult>
  instructions(): string | undefined
  /** Capabilities that the server declares, with their options. */
  capabilities(): Json
  /** One page of resources; the first without a cursor. */
  resources(cursor?: string): Promise<Json>
  templates(): Promise<Json[]>
  read(uri: string): Promise<Json[]>
  prompts(): Promise<Json[]>
  prompt(name: string, args?: Record<string, string>): Promise<Json>
  complete(ref: Json, name: string, value: string): Promise<Json>
  close(): Promise<void>
}

/** @param key key of the client; without it, the client sends no credential */
export type Connect = (url: URL, key?: string) => Promise<TestClient>

const bearing = (key?: string) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } }

const info = { name: 'test', version: '1.0.0' }

function toResult(result: Json): CallResult {
  return {
    data: result.structuredContent,
    text: result.content?.[0]?.text,
    content: result.content,
    isError: result.isError === true,
  }
}

/** Methods with the same names in both generations of the SDK. */
const beside = (client: Json) => ({
  capabilities: () => client.getServerCapabilities(),
  // The newer SDK collects all pages when it is called without a cursor.
  resources: async (cursor?: string) =>
    client.request(
      { method: 'resources/list', params: cursor === undefined ? {} : { cursor } },
      ListResourcesResultSchema,
    ),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates,
  read: async (uri: string) => (await client.readResource({ uri })).contents,
  prompts: async () => (await client.listPrompts()).prompts,
  prompt: async (name: string, args: Record<string, string> = {}) => client.getPrompt({ name, arguments: args }),
  complete: async (ref: Json, name: string, value: string) =>
    (await client.complete({ ref, argument: { name, value } })).completion,
})

/** SDK v2; without a pinned revision it uses the latest of 2025. */
const v2 =
  (pin?: string): Connect =>
  async (url, key) => {
    const client = new Client(info, pin ? { versionNegotiation: { mode: { pin } } } : {})
    await client.connect(new StreamableHTTPClientTransport(url, bearing(key)))
    // Listing makes the client check results against the output schemas.
    await client.listTools()
    return {
      tools: async () => (await client.listTools()).tools,
      call: async (name, args = {}) => toResult(await client.callTool({ name, arguments: args })),
      instructions: () => client.getInstructions(),
      ...beside(client),
      close: () => client.close(),
    }
  }

const v1: Connect = async (url, key) => {
  const client = new ClientV1(info)
  await client.connect(new TransportV1(url, bearing(key)) as Transport)
  await client.listTools()
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => toResult(await client.callTool({ name, arguments: args })),
    instructions: () => client.getInstructions(),
    ...beside(client),
    close: () => client.close(),
  }
}

/** The real clients with which endpoint tests run. */
export const CLIENTS: Readonly<Record<string, Connect>> = {
  'SDK v2, revision 2026-07-28': v2('2026-07-28'),
  'SDK v2, revision 2025': v2(),
  'SDK v1': v1,
}
