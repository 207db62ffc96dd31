// Other memory servers from npm, each a process that a client starts, in the configuration of its own README. Missing features of an adapter
// are replaced in the peer's favor, as described in `favour`.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * @typedef {object} Session one agent's connection
 * @property {(name: string, text: string) => Promise<void>} store a memory of that name; throws where it was not acknowledged
 * @property {(name: string, line: string) => Promise<void>} append a line to that memory, as the system offers it
 * @property {(word: string) => Promise<string>} find returns the results of a search for a word, as text
 * @property {(name: string) => Promise<string>} read the memory of that name, as text
 * @property {(name: string) => Promise<void>} remove deletes it
 * @property {(name: string) => Promise<void>} [erase] for good, where the system has that
 * @property {() => Promise<void>} close
 * @property {() => Promise<void>} kill -9, where the session is the server
 *
 * @typedef {object} Peer
 * @property {string} name with its version
 * @property {string} favour features that were replaced for it
 * @property {boolean} [erases] whether its sessions have `erase`
 * @property {(folder: string) => Promise<Session>} open another session on the store in a folder
 */

const words = (result) => (result.content ?? []).map(({ text }) => text ?? '').join('\n')

/** Starts one of the installed programs and connects to it by stdio. */
async function connect(installed, bin, folder, env) {
  const from = createRequire(join(installed, 'package.json'))
  const load = async (name) => import(pathToFileURL(from.resolve(name)).href)
  const { Client } = await load('@modelcontextprotocol/client')
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio')
  // Their native modules are built for the Node.js that installed them, not for the one of this project.
  const theirs = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((part) => !part.includes('node_modules'))
    .join(delimiter)
  const client = new Client({ name: 'bench', version: '1' })
  const transport = new StdioClientTransport({
    command: join(installed, 'node_modules', '.bin', bin),
    cwd: folder,
    env: { ...process.env, PATH: theirs, HOME: folder, ...env },
    stderr: 'ignore',
  })
  await client.connect(transport)
  return {
    async call(name, args) {
      const result = await client.callTool({ name, arguments: args })
      const text = words(result)
      if (result.isError) throw new Error(text)
      return text
    },
    close: () => client.close(),
    async kill() {
      spawnSync('pkill', ['-KILL', '-P', String(transport.pid)])
      process.kill(transport.pid, 'SIGKILL')
      await client.close().catch(() => {})
    },
  }
}

/** The tools of server-memory, which forks of it share. @returns {(folder: string) => Promise<Session>} */
const graph = (installed, bin, env) => async (folder) => {
  const at = await connect(installed, bin, folder, env(folder))
  return {
    ...{ close: at.close, kill: at.kill },
    store: (name, text) =>
      at.call('create_entities', { entities: [{ name, entityType: 'note', observations: [text] }] }),
    append: (name, line) => at.call('add_observations', { observations: [{ entityName: name, contents: [line] }] }),
    find: (query) => at.call('search_nodes', { query }),
    read: (name) => at.call('open_nodes', { names: [name] }),
    remove: (name) => at.call('delete_entities', { entityNames: [name] }),
  }
}
const ADDS = 'lines are added by add_observations, which it offers for that'

/** @param {string} installed folder in which package.json of this folder is installed @returns {Peer[]} */
export const peers = (installed) => [
  {
    name: 'server-memory 2026.8.31',
    favour: ADDS,
    open: graph(installed, 'mcp-server-memory', (folder) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') })),
  },
  {
    name: 'mcp-knowledge-graph 1.0.7 (itseasy21)',
    favour: ADDS,
    open: graph(installed, 'mcp-knowledge-graph', (folder) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') })),
  },
  {
    name: 'mcp-memory-libsql 0.0.17',
    favour: 'it replaces a memory of the same name, so an agent reads it and writes it with its line',
    async open(folder) {
      const at = await connect(installed, 'mcp-memory-libsql', folder, {
        LIBSQL_URL: `file:${join(folder, 'memory-tool.db')}`,
      })
      const entity = (name, observations) =>
        at.call('create_entities', { entities: [{ name, entityType: 'note', observations }] })
      const read = (name) => at.call('search_nodes', { query: name })
      return {
        ...{ close: at.close, kill: at.kill, read },
        store: (name, text) => entity(name, [text]),
        async append(name, line) {
          const found = JSON.parse(await read(name)).entities?.find((one) => one.name === name)
          await entity(name, [...(found?.observations ?? []), line].slice(-100))
        },
        find: (query) => at.call('search_nodes', { query }),
        remove: (name) => at.call('delete_entity', { name }),
      }
    },
  },
  {
    name: 'mcp-memory-keeper 0.14.1',
    favour:
      'a session of it keeps a row of its own for a key, so two agents never meet; the rows of both are read as one memory',
    async open(folder) {
      const at = await connect(installed, 'mcp-memory-keeper', folder, {})
      const started = await at.call('context_session_start', { name: 'bench' })
      const own = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(started)?.[0]
      const save = (key, value) => at.call('context_save', { key, value, category: 'note' })
      const read = (key) => at.call('context_get', { key })
      return {
        ...{ close: at.close, kill: at.kill, read, store: save },
        async append(name, line) {
          const found = await read(name).catch(() => '{}')
          const items = found.startsWith('{') ? (JSON.parse(found).items ?? []) : []
          const old = items.find(({ session_id: session }) => session === own)?.value
          await save(name, old === undefined ? line : `${old}\n${line}`)
        },
        find: (query) => at.call('context_search_all', { query }),
        remove: (name) => at.call('context_batch_delete', { keys: [name] }),
      }
    },
  },
]
