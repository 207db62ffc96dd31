import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Team } from './access'
import type { Call } from './every-tool'
import { placeOf, TOOL_PLACES } from './tool-places'

/** Calls a server with one key over open connections: tools, resources, completions and routes. */
export interface Asker {
  /** @throws Error with the server's message when a call is refused */
  readonly ask: (call: Call) => Promise<unknown>
  /** The names of all tools, including those of the connector. */
  readonly tools: () => Promise<string[]>
}

export function createAsker(team: Team, key: string): Asker {
  const clients = new Map<string, Promise<Client>>()
  const connected = (path: string): Promise<Client> => {
    const known = clients.get(path)
    if (known !== undefined) return known
    const client = new Client({ name: 'test', version: '1.0.0' })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const transport = new StreamableHTTPClientTransport(new URL(path, team.server.url), { requestInit })
    const connecting = client.connect(transport).then(() => client)
    clients.set(path, connecting)
    return connecting
  }

  async function route(name: string, args: Record<string, unknown>): Promise<unknown> {
    const [method, path] = name.split(' ') as [string, string]
    const { status, body, text } = await team.ask(path, key, method, method === 'GET' ? undefined : args)
    if (status >= 300) throw new Error(`${name}: ${text}`)
    return body
  }

  return {
    async ask([name, args]) {
      if (name.includes(' ')) return route(name, args)
      const { path, tool } = placeOf(name)
      const client = await connected(path)
      if (name === 'resources') return client.listResources()
      if (name === 'resource') return client.readResource({ uri: String(args.uri) })
      if (name === 'completion') {
        const argument = { name: String(args.name), value: String(args.value) }
        return client.complete({ ref: { type: 'ref/resource', uri: String(args.template) }, argument })
      }
      const { structuredContent, isError, content } = await client.callTool({ name: tool, arguments: args })
      if (isError === true) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(content)}`)
      return structuredContent
    },

    async tools() {
      const lists = await Promise.all(
        TOOL_PLACES.map(async ([path, prefix]) =>
          (await (await connected(path)).listTools()).tools.map(({ name }) => `${prefix}${name}`),
        ),
      )
      return lists.flat()
    },
  }
}
