import type { Asker } from './ask'
import type { Key, World } from './isolation'
import { placeOf, TOOL_PLACES } from './tool-places'

/** Like `createAsker`, for the Worker in this isolate. A call ends when its work after the answer has ended. */
export function askHere(world: World, key: Key): Asker {
  async function rpc(method: string, params: object, path = '/mcp') {
    const { json, body } = await world.http(key.secret, 'POST', path, { jsonrpc: '2.0', id: 1, method, params })
    if (json?.result === undefined || json.result.isError)
      throw new Error(`${method} ${JSON.stringify(params)}: ${body}`)
    return json.result
  }

  async function route(name: string, args: Record<string, unknown>) {
    const [method, path] = name.split(' ') as [string, string]
    const body = method === 'GET' ? undefined : args
    const {
      json,
      status,
      body: text,
    } = await world.http(key.secret, method, path, body, { accept: 'application/json' })
    if (status >= 300) throw new Error(`${name}: ${text}`)
    return json
  }

  async function answered(name: string, args: Record<string, unknown>) {
    if (name.includes(' ')) return route(name, args)
    if (name === 'resources') return rpc('resources/list', {})
    if (name === 'resource') return rpc('resources/read', { uri: args.uri })
    if (name === 'completion') {
      const argument = { name: args.name, value: args.value }
      return rpc('completion/complete', { ref: { type: 'ref/resource', uri: args.template }, argument })
    }
    const { path, tool } = placeOf(name)
    return (await rpc('tools/call', { name: tool, arguments: args }, path)).structuredContent
  }

  return {
    async ask([name, args]) {
      const answer = await answered(name, args)
      await world.settle()
      return answer
    },
    async tools() {
      const lists = await Promise.all(
        TOOL_PLACES.map(async ([path, prefix]) =>
          (await rpc('tools/list', {}, path)).tools.map(({ name }: { name: string }) => `${prefix}${name}`),
        ),
      )
      return lists.flat()
    },
  }
}
