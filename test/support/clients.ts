import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

// biome-ignore lint/suspicious/noExplicitAny: results are whatever the tool answers; tests look at them freely
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
  close(): Promise<void>
}

export type Connect = (url: URL) => Promise<TestClient>

const info = { name: 'test', version: '1.0.0' }

function toResult(result: Json): CallResult {
  return {
    data: result.structuredContent,
    text: result.content?.[0]?.text,
    content: result.content,
    isError: result.isError === true,
  }
}

/** SDK v2; without a pinned revision it speaks the newest of 2025. */
const v2 =
  (pin?: string): Connect =>
  async (url) => {
    const client = new Client(info, pin ? { versionNegotiation: { mode: { pin } } } : {})
    await client.connect(new StreamableHTTPClientTransport(url))
    // Listing makes the client check results against the output schemas.
    await client.listTools()
    return {
      tools: async () => (await client.listTools()).tools,
      call: async (name, args = {}) => toResult(await client.callTool({ name, arguments: args })),
      instructions: () => client.getInstructions(),
      close: () => client.close(),
    }
  }

const v1: Connect = async (url) => {
  const client = new ClientV1(info)
  await client.connect(new TransportV1(url) as Transport)
  await client.listTools()
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => toResult(await client.callTool({ name, arguments: args })),
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  }
}

/** The real clients that every endpoint behaviour is played by. */
export const CLIENTS: Readonly<Record<string, Connect>> = {
  'SDK v2, revision 2026-07-28': v2('2026-07-28'),
  'SDK v2, revision 2025': v2(),
  'SDK v1': v1,
}
