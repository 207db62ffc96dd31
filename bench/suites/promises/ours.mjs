// Commonplace as `npm start` runs it, with the interface of its peers.
import { createHash } from 'node:crypto'
import { createClient } from '../../support/mcp.mjs'
import { startServer } from '../../support/server.mjs'

const CONFLICT = /^update_context failed: .*is at version/

/**
 * One server for all sessions on a folder; the last `close` of a folder ends it.
 *
 * @param {import('../../support/workspace.mjs').Workspace} workspace
 * @param {string} target
 * @param {number} port the first of three ports
 * @returns {import('./peers.mjs').Peer}
 */
export function ours(workspace, target, port) {
  /** @type {Map<string, { server: Promise<any>, open: number }>} */
  const running = new Map()

  async function serverOf(folder) {
    const known = running.get(folder)
    if (known !== undefined) {
      known.open += 1
      return known.server
    }
    const server = startServer(target, { workspace, state: folder, port, vars: { LOG_LEVEL: 'ERROR' } })
    running.set(folder, { server, open: 1 })
    return server
  }

  async function open(folder) {
    const server = await serverOf(folder)
    const client = createClient(server.origin)
    const call = async (name, args) => (await client.call(name, args)).content
    const page = async (name) => (await call('search_context', { thread_id: name, limit: 100 })).results
    const whole = async (name) => {
      const ids = (await page(name)).map(({ id }) => id)
      return ids.length === 0 ? [] : (await call('get_context_by_ids', { context_ids: ids })).result
    }
    return {
      store(name, text) {
        const key = createHash('sha256').update(`${name}\n${text}`).digest('hex')
        return call('store_context', { thread_id: name, source: 'agent', text, idempotency_key: key })
      },
      async append(name, line) {
        for (;;) {
          const [entry] = await whole(name)
          const change = {
            context_id: entry.id,
            text: `${entry.text_content}\n${line}`,
            expected_version: entry.version,
          }
          try {
            return await call('update_context', change)
          } catch (error) {
            if (!CONFLICT.test(error.message)) throw error
          }
        }
      },
      find: async (query) => JSON.stringify((await call('fts_search_context', { query })).results),
      read: async (name) => JSON.stringify(await whole(name)),
      remove: (name) => call('delete_context', { thread_id: name }),
      erase: (name) => call('delete_context', { thread_id: name, erase: true }),
      async close() {
        client.close()
        const entry = running.get(folder)
        if (entry === undefined) return
        entry.open -= 1
        if (entry.open > 0) return
        running.delete(folder)
        await server.stop()
      },
      async kill() {
        client.close()
        running.delete(folder)
        await server.crash()
      },
    }
  }

  return {
    name: 'Commonplace',
    favour: 'an agent that meets `conflict` reads again, as its message says',
    erases: true,
    open,
  }
}
